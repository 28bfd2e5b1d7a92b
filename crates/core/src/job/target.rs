//! Targets that a machine is hardly meant to learn: numbers that are measured, names of rows and running text are no classes.

use crate::data::{DataError, Dataset, FieldData, SchemaOptions, Table, Target};
use crate::error::Error;
use crate::machines::{self, Learns, MachineEntry, predicts_target};
use std::collections::HashSet;

/// Classes that are never too many.
const MAX_CLASSES_OF_ANY: usize = 20;
/// Rows for each class, on average, below which classes beyond that number are too many.
const MIN_ROWS_PER_CLASS: usize = 5;
/// Different numbers with a fraction that may still be labels.
const MAX_FRACTIONS: usize = 10;
/// Different whole numbers that may still be labels.
const MAX_WHOLE: usize = 50;

/// True if so many classes cannot be learned from so many rows.
fn too_many(classes: usize, rows: usize) -> bool {
    classes > MAX_CLASSES_OF_ANY && MIN_ROWS_PER_CLASS * classes > rows
}

/// Refuses a target of more classes than a classifier can learn from so few rows, before anything is allocated for them. A target that is
/// declared to be categorical ([`SchemaOptions::categorical`]) is taken at its word.
///
/// # Errors
/// If there are more than twenty classes with fewer than five rows each on average; a column that is likelier meant is named.
pub fn check_target(machine: &MachineEntry, table: &Table, options: &SchemaOptions) -> Result<(), Error> {
    if machine.learns != Learns::Classes || !predicts_target(machine) {
        return Ok(());
    }
    let field = match options.target.as_deref() {
        None => table.target,
        Some([name]) => Some(table.find(name)?),
        Some(_) => None,
    };
    let declared = |field: usize| options.categorical.iter().any(|c| table.find(c).is_ok_and(|f| f == field));
    let Some(field) = field.filter(|f| !declared(*f)) else { return Ok(()) };
    let Some(distinct) = distinct(&table.fields[field].data) else { return Ok(()) };
    if !too_many(distinct, table.len) {
        return Ok(());
    }
    let name = &table.fields[field].name;
    let numbers = matches!(table.fields[field].data, FieldData::Numbers { .. });
    let usual = options.target.is_none().then(|| likelier(table, field)).flatten();
    let remedy = match usual {
        Some((other, values)) => {
            format!("column \"{other}\" with {values} is likelier meant: --target {other}")
        }
        None if numbers => format!("it looks like numbers, which {} learn", regressors()),
        None => "name another target with --target".to_owned(),
    };
    let finding = format!(
        "{} has {distinct} different values in column \"{name}\" for {} rows, too many for classes; {remedy}; if they are classes all \
         the same, declare them with --categorical {name}",
        table.file, table.len
    );
    Err(DataError::Unfit { finding }.into())
}

/// Machines that learn numbers, the first of the catalogue.
fn regressors() -> String {
    let names: Vec<&str> = machines::all().filter(|m| m.learns == Learns::Numbers).map(|m| m.name).take(2).collect();
    names.join(" and ")
}

/// The number of different values of a column; `None` for blocks.
fn distinct(data: &FieldData) -> Option<usize> {
    match data {
        FieldData::Numbers { values, .. } => {
            Some(values.iter().filter(|v| !v.is_nan()).map(|v| (v + 0.0).to_bits()).collect::<HashSet<u64>>().len())
        }
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            Some(cells.iter().filter(|c| !c.is_empty()).collect::<HashSet<&str>>().len())
        }
        FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_) => None,
    }
}

/// The column that is likelier the target, if there is one: that of fewest different words, else whole numbers, at least two and few.
fn likelier(table: &Table, target: usize) -> Option<(&str, String)> {
    let few = |field: &FieldData| {
        distinct(field).filter(|d| (2..=MAX_CLASSES_OF_ANY).contains(d) && !too_many(*d, table.len))
    };
    let rank = |data: &FieldData| match data {
        FieldData::Words(_) => Some(0),
        FieldData::Numbers { values, .. } if values.iter().all(|v| v.fract() == 0.0) => Some(1),
        _ => None,
    };
    let found = (0..table.fields.len()).filter(|f| *f != target).filter_map(|f| {
        let data = &table.fields[f].data;
        Some((rank(data)?, few(data)?, f))
    });
    found.min().map(|(_, distinct, f)| (table.fields[f].name.as_str(), format!("{distinct} different values")))
}

/// Advice for a classifier whose target looks like numbers, or has few examples of each class.
pub(super) fn advice(machine: &MachineEntry, data: &Dataset) -> Option<String> {
    let target: &Target = data.target().filter(|_| machine.learns == Learns::Classes && predicts_target(machine))?;
    let labels = target.classes().ok()?.labels;
    let named = target.names().into_iter().next().unwrap_or_default();
    if target.is_numeric() {
        let numbers: Vec<f64> = labels.iter().filter_map(|l| l.parse().ok()).collect();
        let fraction = numbers.iter().any(|v| v.fract() != 0.0);
        if (fraction && labels.len() > MAX_FRACTIONS) || labels.len() > MAX_WHOLE {
            let n = labels.len();
            let each = "each of them a class of its own here";
            return Some(format!(
                "the target {named} looks like numbers: {n} different ones, {each}; {} learn numbers",
                regressors()
            ));
        }
    }
    too_many(labels.len(), data.len()).then(|| {
        format!(
            "the target {named} has {} classes in {} examples: few have enough to be learned",
            labels.len(),
            data.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Job, Svc, rbf};

    fn table(target: &[String]) -> Table {
        let text: String = std::iter::once("a,spam,t\n".to_owned())
            .chain(
                target
                    .iter()
                    .enumerate()
                    .map(|(i, t)| format!("{},{},{t}\n", i % 7, if i % 3 == 0 { "yes" } else { "no" })),
            )
            .collect();
        let file = tempfile(&text);
        crate::data::read::read(&file, &crate::data::read::ReadOptions::default()).unwrap()
    }

    fn tempfile(text: &str) -> std::path::PathBuf {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let k = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mercer-target-{}-{k}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    fn refused(target: &[String], options: SchemaOptions) -> Option<String> {
        let job = Job { columns: options, ..Job::new(&Svc::default(), &rbf(1.0)) };
        job.prepare(table(target)).err().map(|e| e.to_string())
    }

    #[test]
    fn more_classes_than_a_fifth_of_the_rows_are_refused_and_the_likelier_column_is_named() {
        let words: Vec<String> = (0..100).map(|i| format!("message {i}")).collect();
        let said = refused(&words, SchemaOptions::default()).unwrap();
        assert!(said.contains("100 different values") && said.contains("--target spam"), "{said}");
        let numbers: Vec<String> = (0..100).map(|i| (0.37 * f64::from(i)).to_string()).collect();
        let chosen = SchemaOptions { target: Some(vec!["t".to_owned()]), ..SchemaOptions::default() };
        let said = refused(&numbers, chosen.clone()).unwrap();
        assert!(said.contains("looks like numbers"), "{said}");
        let declared = SchemaOptions { categorical: vec!["t".to_owned()], ..chosen };
        assert_eq!(refused(&words, declared), None, "who says so is taken at his word");
        // as many classes as are allowed
        let some: Vec<String> = (0..105).map(|i| format!("w{}", i % 21)).collect();
        assert_eq!(refused(&some, SchemaOptions::default()), None);
        assert!(refused(&some[..104], SchemaOptions::default()).is_some());
        let twenty: Vec<String> = (0..40).map(|i| format!("w{}", i % 20)).collect();
        assert_eq!(refused(&twenty, SchemaOptions::default()), None);
    }
}
