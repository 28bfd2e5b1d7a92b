//! Reading a LIBSVM model: the header, then the support vectors line by line. Memory grows with what is in the file only.

use super::header::{Header, Wrong, number, shown};
use crate::data::read::ends_in_returns;
use crate::data::{Coordinate, Dataset, Schema, SparseRows};
use crate::machines::{Coefficients, Expansion, Fitted, SolverReport};
use crate::model::Model;

/// Largest index; larger ones are taken for mistakes, as in data files.
const MAX_INDEX: u64 = 1 << 31;

/// The lines that are not blank, with their numbers.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes.split(|&b| b == b'\n').enumerate().map(|(k, l)| (k + 1, l.trim_ascii())).filter(|(_, l)| !l.is_empty())
}

pub(super) fn read(bytes: &[u8]) -> Result<Model, Wrong> {
    if ends_in_returns(bytes) {
        let finding = "its lines end in carriage returns alone, as on old Macintosh computers; convert the file with tr '\\r' '\\n'";
        return Err((1, finding.to_owned()));
    }
    let mut lines = lines(bytes);
    let header = Header::read(&mut lines)?;
    let columns = header.of_classes.as_ref().map_or(1, |counts| counts.len() - 1);
    let (mut rows, mut alpha, mut vector, mut last) = (SparseRows::new(0), Vec::new(), Vec::new(), 1);
    for (line, text) in lines {
        last = line;
        if rows.len() == header.total {
            return Err((line, format!("more support vectors than total_sv, which is {}", header.total)));
        }
        support_vector(text, columns, &mut alpha, &mut vector, &mut rows).map_err(|finding| (line, finding))?;
    }
    let (total, got) = (header.total, rows.len());
    if got < total {
        return Err((last, format!("the file ends after {got} of {total} support vectors; copy it again")));
    }
    if bytes.last() != Some(&b'\n') {
        return Err((last, "the last line does not end, so the file may be cut off; copy it again".to_owned()));
    }
    Ok(assemble(header, rows, alpha))
}

/// Takes one line: coefficients, then `index:value`.
fn support_vector(
    text: &[u8],
    columns: usize,
    alpha: &mut Vec<f64>,
    vector: &mut Vec<Coordinate<f64>>,
    rows: &mut SparseRows<f64>,
) -> Result<(), String> {
    let text = std::str::from_utf8(text).map_err(|_| "the line is not text".to_owned())?;
    let mut words = text.split_ascii_whitespace();
    for k in 0..columns {
        let word = words.next().filter(|w| !w.contains(':'));
        let Some(word) = word else { return Err(format!("{k} coefficients instead of {columns}")) };
        alpha.push(number(word).ok_or_else(|| format!("the coefficient {} is not a finite number", shown(word)))?);
    }
    vector.clear();
    let mut last = 0;
    for word in words {
        let pair = word.split_once(':').and_then(|(index, value)| Some((index.parse::<u64>().ok()?, value)));
        let Some((index, value)) = pair else { return Err(format!("\"{}\" is not index:value", shown(word))) };
        let value = number(value).ok_or_else(|| format!("\"{}\" has no finite value", shown(word)))?;
        match index {
            0 => return Err("index 0; indices start at 1".to_owned()),
            i if i > MAX_INDEX => return Err(format!("index {i} is too large; at most {MAX_INDEX} is read")),
            i if i <= last => return Err(format!("index {i} comes after index {last}; indices must rise")),
            _ => {}
        }
        last = index;
        if value != 0.0 {
            vector.push(Coordinate { index: (index - 1) as u32, value });
        }
    }
    rows.widen(last as usize);
    rows.push(vector);
    Ok(())
}

fn assemble(header: Header, rows: SparseRows<f64>, alpha: Vec<f64>) -> Model {
    let points: Vec<usize> = (0..rows.len()).collect();
    let coefficients = match &header.of_classes {
        Some(counts) => Coefficients::Pairwise {
            points,
            classes: counts.iter().enumerate().flat_map(|(c, &n)| std::iter::repeat_n(c as u32, n)).collect(),
            alpha,
            count: counts.len(),
        },
        None => Coefficients::Dual { points, alpha },
    };
    let report = SolverReport {
        support: Some(rows.len()),
        storage: "read from a LIBSVM file".to_owned(),
        notes: header.notes,
        ..SolverReport::direct()
    };
    Model {
        machine: header.machine.to_owned(),
        settings: Vec::new(),
        kernel: header.kernel,
        fitted: Fitted::new(Expansion { coefficients, offsets: header.offsets }, header.readout, report)
            .with_calibration(header.calibration),
        schema: Some(Schema::of_sparse(rows.width())),
        examples: Dataset::new(rows),
        trained_on: 0,
        places: Vec::new(),
        candidates: 0,
        candidate_nats: None,
        provenance: None,
        job: None,
        conformal: None,
        columns: Vec::new(),
    }
}
