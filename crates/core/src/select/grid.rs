//! Grids: `c=1e-2..1e4:log7, gamma=0.1|1|scale`.

use crate::formula::Formula;
use crate::params::{Setting, brief};
use std::fmt;
use std::str::FromStr;

/// Values of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The parameter, of the machine or of the kernel; `machine.gamma` and `kernel.gamma` tell two of one name apart.
    pub name: String,
    /// Its values, in order.
    pub values: Vec<Setting>,
}

/// All combinations of the values of some parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// The parameters, in the order they were given.
    pub axes: Vec<Axis>,
}

/// A grid that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "grid \"{}\": {finding}; write c=0.1|1|10, or c=1e-2..1e4:log7, or n=1..5:lin5, separated by commas",
    brief(part)
)]
pub struct GridError {
    /// The part that cannot be read.
    pub part: String,
    /// The finding.
    pub finding: String,
}

/// Largest number of points of a grid.
const MAX_POINTS: usize = 1_000_000;

impl FromStr for Grid {
    type Err = GridError;

    fn from_str(text: &str) -> Result<Self, GridError> {
        let mut axes: Vec<Axis> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let fail = |finding: &str| Err(GridError { part: part.to_owned(), finding: finding.to_owned() });
            let Some((name, values)) = part.split_once('=') else { return fail("an = is missing") };
            let name = name.trim().replace('-', "_");
            if axes.iter().any(|a| a.name == name) {
                return fail("the parameter occurs twice");
            }
            let values = axis_values(values.trim()).map_err(|finding| GridError { part: part.to_owned(), finding })?;
            axes.push(Axis { name, values });
        }
        let points = axes.iter().try_fold(1_usize, |p, a| p.checked_mul(a.values.len()));
        match points {
            _ if axes.is_empty() => Err(GridError { part: text.to_owned(), finding: "it has no parameter".to_owned() }),
            Some(p) if p <= MAX_POINTS => Ok(Self { axes }),
            _ => Err(GridError { part: text.to_owned(), finding: format!("it has more than {MAX_POINTS} points") }),
        }
    }
}

/// Whose parameter an axis names, where it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// `kernel.gamma`.
    Kernel,
    /// `machine.gamma`.
    Machine,
}

/// The owner that a name begins with, and the name of the parameter itself.
pub(super) fn owner(name: &str) -> (Option<Owner>, &str) {
    match name.split_once('.') {
        Some(("kernel", parameter)) => (Some(Owner::Kernel), parameter),
        Some(("machine", parameter)) => (Some(Owner::Machine), parameter),
        _ => (None, name),
    }
}

/// `1|2|3`, or `a..b:logN`, or `a..b:linN`.
fn axis_values(text: &str) -> Result<Vec<Setting>, String> {
    let Some((from, rest)) = text.split_once("..") else {
        let values: Vec<Setting> =
            text.split('|').map(str::trim).filter(|v| !v.is_empty()).map(word_or_number).collect();
        return if values.is_empty() { Err("it has no values".to_owned()) } else { Ok(values) };
    };
    let Some((to, steps)) = rest.split_once(':') else { return Err("after .. comes :logN or :linN".to_owned()) };
    let number = |t: &str| {
        t.trim()
            .parse::<f64>()
            .ok()
            .filter(|x| x.is_finite())
            .ok_or_else(|| format!("\"{}\" is not a number", brief(t)))
    };
    let (from, to) = (number(from)?, number(to)?);
    let (log, count) = match (steps.trim().strip_prefix("log"), steps.trim().strip_prefix("lin")) {
        (Some(count), _) => (true, count),
        (_, Some(count)) => (false, count),
        _ => return Err("after .. comes :logN or :linN".to_owned()),
    };
    let count: usize =
        count.parse().ok().filter(|c| (1..=10_000).contains(c)).ok_or("N is a whole number from 1 to 10000")?;
    if log && (from <= 0.0 || to <= 0.0) {
        return Err("a logarithmic axis needs numbers above 0".to_owned());
    }
    let at = |i: usize| {
        if i == 0 {
            return from;
        }
        if i + 1 == count {
            return to;
        }
        let t = i as f64 / (count - 1) as f64;
        if log { (from.ln() + t * (to.ln() - from.ln())).exp() } else { from + t * (to - from) }
    };
    // ten-powers and the like come out as they are written
    Ok((0..count).map(|i| Setting::Number(rounded(at(i)))).collect())
}

/// Rounds to twelve digits: exp(ln 10) is 10.
fn rounded(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

fn word_or_number(text: &str) -> Setting {
    text.parse().map_or_else(|_| Setting::Word(text.to_owned()), Setting::Number)
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(ToString::to_string).collect();
        write!(f, "{}={}", self.name, values.join("|"))
    }
}

impl fmt::Display for Grid {
    /// The grid as text that reads back as the same one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.axes.iter().map(ToString::to_string).collect();
        f.write_str(&axes.join(", "))
    }
}

impl Grid {
    /// All points, the first axis outermost.
    pub fn points(&self) -> Vec<Vec<(String, Setting)>> {
        let mut points = vec![Vec::new()];
        for axis in &self.axes {
            points = points
                .into_iter()
                .flat_map(|point: Vec<(String, Setting)>| {
                    axis.values.iter().map(move |value| {
                        let mut longer = point.clone();
                        longer.push((axis.name.clone(), value.clone()));
                        longer
                    })
                })
                .collect();
        }
        points
    }

    /// The same grid with the kernel's parameters outermost, so that a matrix is used up before the next is computed.
    #[must_use]
    pub fn kernel_first(&self, kernel: &Formula) -> Self {
        let (mut first, rest): (Vec<Axis>, Vec<Axis>) =
            self.axes.iter().cloned().partition(|axis| match owner(&axis.name) {
                (Some(Owner::Machine), _) => false,
                (_, name) => kernel.has_parameter(name),
            });
        first.extend(rest);
        Self { axes: first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_read_as_written() {
        let grid: Grid = "c=1e-2..1e4:log7, gamma=0.1|scale, n=1..3:lin3".parse().unwrap();
        let numbers = |a: &Axis| a.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(numbers(&grid.axes[0]), "0.01 0.1 1 10 100 1000 10000");
        assert_eq!(numbers(&grid.axes[1]), "0.1 scale");
        assert_eq!(numbers(&grid.axes[2]), "1 2 3");
        let points = grid.points();
        assert_eq!(points.len(), 42);
        assert_eq!(points[1][1].1, Setting::Number(0.1));
        assert_eq!(points[1][2].1, Setting::Number(2.0));
    }

    #[test]
    fn nonsense_is_refused_with_the_part() {
        for text in
            ["", "c", "c=", "c=1..2", "c=1..2:log0", "c=-1..2:log3", "c=1..x:lin3", "c=1,c=2", "c=1..2:log999999"]
        {
            let error = text.parse::<Grid>().unwrap_err().to_string();
            assert!(error.starts_with("grid \""), "{text}: {error}");
        }
    }
}
