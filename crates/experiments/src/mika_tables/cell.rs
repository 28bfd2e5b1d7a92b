//! A cell of the tables: ours, what is printed, and which of them is smaller.

use super::printed;
use crate::protocol::Tested;
use serde_json::{Value, json};

/// A machine on a set.
pub(super) struct Cell {
    pub(super) set: &'static str,
    pub(super) machine: &'static str,
    /// Mean test error and its standard error over the splits, in per cent.
    pub(super) ours: (f64, f64),
    /// The same as printed.
    pub(super) printed: (f64, f64),
    /// The mean share of zero coefficients in per cent.
    pub(super) zeros: Option<f64>,
    /// The same as printed.
    pub(super) printed_zeros: Option<f64>,
    /// The parameters of all splits, by name.
    pub(super) parameters: Value,
    pub(super) splits: usize,
    pub(super) remark: Option<&'static str>,
}

impl Cell {
    /// The cell of what was measured.
    pub(super) fn new(set: &'static str, machine: &'static str, tested: &[Tested], parameters: Value) -> Self {
        let errors: Vec<f64> = tested.iter().map(|t| 100.0 * t.error).collect();
        let zeros: Option<Vec<f64>> = tested.iter().map(|t| t.zeros.map(|z| 100.0 * z)).collect();
        let row = printed::row(set);
        Self {
            set,
            machine,
            ours: mean_and_error(&errors),
            printed: row.and_then(|r| r.error(machine)).unwrap_or((f64::NAN, f64::NAN)),
            zeros: zeros.map(|z| mean_and_error(&z).0),
            printed_zeros: row.and_then(|r| r.zeros(machine)),
            parameters,
            splits: tested.len(),
            remark: row.and_then(|r| r.remark(machine)),
        }
    }

    /// Two standard errors of the difference, √(s² + s²).
    fn allowance(&self) -> f64 {
        2.0 * self.ours.1.hypot(self.printed.1)
    }

    /// True if the error is at most what is printed and two standard errors of the difference.
    pub(super) fn within(&self) -> bool {
        self.ours.0 <= self.printed.0 + self.allowance()
    }

    /// True if it is at most what is printed less two standard errors of the difference.
    pub(super) fn better(&self) -> bool {
        self.ours.0 <= self.printed.0 - self.allowance()
    }

    /// The verdict in a word.
    pub(super) fn verdict(&self) -> &'static str {
        match (self.better(), self.within()) {
            (true, _) => "better",
            (false, true) => "within",
            (false, false) => "worse",
        }
    }

    /// The cell for programs.
    pub(super) fn document(&self) -> Value {
        json!({
            "set": self.set, "machine": self.machine,
            "error": self.ours.0, "stderr": self.ours.1,
            "printed": self.printed.0, "printed_stderr": self.printed.1,
            "within": self.within(), "better": self.better(),
            "sparsity": self.zeros, "printed_sparsity": self.printed_zeros,
            "parameters": self.parameters, "splits": self.splits, "remark": self.remark,
        })
    }
}

/// The mean, and the standard error of the mean: the deviation of the sample over √n.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(error: f64, stderr: f64) -> Cell {
        let mut cell = Cell::new("ringnorm", "svm", &[], Value::Null);
        cell.ours = (error, stderr);
        cell
    }

    #[test]
    fn a_verdict_allows_two_standard_errors_of_the_difference() {
        // printed is 1.7 ± 0.01; with ± 0.0075 the difference has ± 0.0125
        let verdicts = [(1.676, "within"), (1.674, "better"), (1.724, "within"), (1.726, "worse"), (1.7, "within")];
        for (error, verdict) in verdicts {
            assert_eq!(cell(error, 0.0075).verdict(), verdict, "{error}");
        }
        let better = cell(1.0, 0.0075).document();
        assert_eq!((&better["within"], &better["better"]), (&json!(true), &json!(true)));
    }

    #[test]
    fn means_have_the_standard_error_of_the_sample() {
        // 1, 2, 3, 4: the squares add up to 5, so the variance is 5/3 and that of the mean 5/12
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert!((mean - 2.5).abs() < 1e-15 && (error * error - 5.0 / 12.0).abs() < 1e-15);
        let tested = [Tested { error: 0.1, zeros: Some(0.5) }, Tested { error: 0.3, zeros: None }];
        let cell = Cell::new("banana", "skfd", &tested, Value::Null);
        assert!((cell.ours.0 - 20.0).abs() < 1e-12 && (cell.ours.1 - 10.0).abs() < 1e-12);
        assert_eq!((cell.zeros, cell.printed_zeros, cell.printed), (None, Some(86.0), (11.2, 0.48)));
        assert!(cell.remark.is_some());
    }
}
