//! Targets that a machine is hardly meant to learn: numbers that are measured, names of rows and running text are no classes.

use crate::data::{DataError, Dataset, FieldData, MAX_FRACTIONS, SchemaOptions, Table, Target};
use crate::error::Error;
use crate::machines::{self, Learns, MachineEntry, predicts_target};
use std::collections::HashSet;

/// Classes that are never too many.
const MAX_CLASSES_OF_ANY: usize = 20;
/// Rows for each class, on average, below which classes beyond that number are too many.
const MIN_ROWS_PER_CLASS: usize = 5;
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

/// The kind of target that a table has: classes where it has words, few whole numbers or hardly any others, or is declared to be
/// categorical ([`SchemaOptions::categorical`]); else numbers. The second part tells why.
///
/// # Errors
/// If the target names no column, or there is none.
pub fn kind_of_target(table: &Table, options: &SchemaOptions) -> Result<(Learns, String), Error> {
    let field = match options.target.as_deref() {
        None => table.target,
        Some([name]) => Some(table.find(name)?),
        Some(several) if !several.is_empty() => {
            return Ok((Learns::Numbers, format!("the target is {} columns of numbers", several.len())));
        }
        Some(_) => None,
    };
    let Some(field) = field else { return Err(DataError::NoTarget.into()) };
    let (name, data) = (&table.fields[field].name, &table.fields[field].data);
    let Some(distinct) = distinct(data) else { return Err(DataError::NoTarget.into()) };
    let classes = (
        Learns::Classes,
        format!("the target {name} has {distinct} {}", if distinct == 1 { "class" } else { "classes" }),
    );
    let declared = options.categorical.iter().any(|c| table.find(c).is_ok_and(|f| f == field));
    let FieldData::Numbers { values, .. } = data else { return Ok(classes) };
    let fraction = values.iter().any(|v| v.is_finite() && v.fract() != 0.0);
    if !declared && (are_numbers(distinct, fraction) || too_many(distinct, table.len)) {
        return Ok((Learns::Numbers, format!("the target {name} has {distinct} different numbers")));
    }
    Ok(classes)
}

/// True if so many different numbers are hardly labels.
fn are_numbers(distinct: usize, fraction: bool) -> bool {
    (fraction && distinct > MAX_FRACTIONS) || distinct > MAX_WHOLE
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
        if are_numbers(labels.len(), fraction) {
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
    fn words_and_few_whole_numbers_are_classes_and_measurements_are_numbers() {
        let kind = |values: &[String], options: SchemaOptions| kind_of_target(&table(values), &options).unwrap();
        let of = |f: &dyn Fn(usize) -> String| (0..120).map(f).collect::<Vec<String>>();
        let named = || SchemaOptions { target: Some(vec!["t".to_owned()]), ..SchemaOptions::default() };
        let (learns, why) = kind(&of(&|i| format!("w{}", i % 3)), SchemaOptions::default());
        assert_eq!((learns, why.as_str()), (Learns::Classes, "the target t has 3 classes"));
        let (learns, why) = kind(&of(&|i| (0.37 * i as f64).to_string()), named());
        assert_eq!((learns, why.as_str()), (Learns::Numbers, "the target t has 120 different numbers"));
        assert_eq!(kind(&of(&|i| (i % 2).to_string()), named()).0, Learns::Classes);
        assert_eq!(kind(&of(&|i| (0.5 * (i % 10) as f64).to_string()), named()).0, Learns::Classes);
        assert_eq!(kind(&of(&|i| (0.5 * (i % 11) as f64).to_string()), named()).0, Learns::Numbers);
        // five rows of each, on average, are too few for classes
        assert_eq!(kind(&of(&|i| (i % 24).to_string()), named()).0, Learns::Classes);
        assert_eq!(kind(&of(&|i| (i % 25).to_string()), named()).0, Learns::Numbers);
        let declared = SchemaOptions { categorical: vec!["t".to_owned()], ..named() };
        assert_eq!(kind(&of(&|i| (i % 25).to_string()), declared).0, Learns::Classes);
        let none = SchemaOptions { target: Some(Vec::new()), ..SchemaOptions::default() };
        assert!(kind_of_target(&table(&of(&|i| i.to_string())), &none).is_err());
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
