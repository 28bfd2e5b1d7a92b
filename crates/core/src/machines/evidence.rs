//! Evidence of solutions, and the report of several problems that were solved for one model.

use super::SolverReport;
use crate::watch::Status;

/// The report of a solver about one problem; `None` where a number has no meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    /// The status at the end.
    pub(super) status: Status,
    /// Steps taken; 0 for direct solvers.
    pub(super) iterations: usize,
    /// The value of the problem that was minimised.
    pub(super) objective: Option<f64>,
    /// Primal minus dual objective.
    pub(super) gap: Option<f64>,
    /// The largest violation of the optimality conditions.
    pub(super) violation: Option<f64>,
}

impl Evidence {
    /// The evidence of a solution that had to end somewhere: its status and its steps.
    pub(super) const fn new(status: Status, iterations: usize) -> Self {
        Self { status, iterations, objective: None, gap: None, violation: None }
    }

    /// The evidence of a direct solver that has nothing more to say.
    pub(super) const fn direct() -> Self {
        Self::new(Status::Converged, 0)
    }
}

/// The report of several problems: the worst status, the sums of steps, objectives and gaps, the largest violation. A number is
/// told where every problem has it.
pub(super) fn join(problems: &[Evidence]) -> SolverReport {
    SolverReport {
        status: problems.iter().map(|p| p.status).max().unwrap_or(Status::Converged),
        iterations: problems.iter().map(|p| p.iterations).sum(),
        objective: problems.iter().map(|p| p.objective).sum(),
        duality_gap: problems.iter().map(|p| p.gap).sum(),
        violation: problems.iter().try_fold(0.0, |largest: f64, p| p.violation.map(|v| largest.max(v))),
        ..SolverReport::direct()
    }
}

/// A number that a problem tells beside its evidence, and how those of several problems become one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProblemNote {
    name: String,
    value: f64,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Sum,
    Largest,
    Smallest,
}

impl ProblemNote {
    /// A number that is summed over problems.
    pub(super) fn summed((name, value): (String, f64)) -> Self {
        Self { name, value, rule: Rule::Sum }
    }

    /// A number, not below zero, of which the largest is told.
    pub(super) fn largest((name, value): (String, f64)) -> Self {
        Self { name, value, rule: Rule::Largest }
    }

    /// A number of which the smallest is told.
    pub(super) fn smallest((name, value): (String, f64)) -> Self {
        Self { name, value, rule: Rule::Smallest }
    }
}

/// The notes of several problems as those of one report, in the order of the first problem. A note is told where every problem
/// has it.
pub(super) fn join_notes(problems: &[&[ProblemNote]]) -> Vec<(String, f64)> {
    let Some(first) = problems.first() else { return Vec::new() };
    let joined = |note: &ProblemNote| {
        let of = |notes: &&[ProblemNote]| notes.iter().find(|n| n.name == note.name).map(|n| n.value);
        let values: Vec<f64> = problems.iter().map(of).collect::<Option<_>>()?;
        let values = values.into_iter();
        let value = match note.rule {
            Rule::Sum => values.sum(),
            Rule::Largest => values.fold(0.0, f64::max),
            Rule::Smallest => values.fold(f64::INFINITY, f64::min),
        };
        Some((note.name.clone(), value))
    };
    first.iter().filter_map(joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_problems_are_summed_and_the_worst_is_told() {
        let one = Evidence { objective: Some(1.5), gap: Some(0.25), violation: Some(1e-4), ..Evidence::direct() };
        let other = Evidence { violation: Some(1e-3), ..Evidence::new(Status::TimeLimit, 7) };
        let last = Evidence { objective: Some(-4.0), gap: Some(0.5), ..Evidence::new(Status::IterationLimit, 5) };
        let all = join(&[one, other, last]);
        assert_eq!((all.status, all.iterations), (Status::TimeLimit, 12));
        // each of these is missing in one of them
        assert_eq!((all.objective, all.duality_gap, all.violation), (None, None, None));
        let two = join(&[one, last]);
        assert_eq!((two.status, two.objective, two.duality_gap), (Status::IterationLimit, Some(-2.5), Some(0.75)));
        let sharp = join(&[one, other]);
        assert_eq!((sharp.violation, sharp.objective), (Some(1e-3), None));
    }

    #[test]
    fn notes_are_joined_by_their_rules_and_told_where_all_have_them() {
        let note = |name: &str, value: f64| (name.to_owned(), value);
        let one = [
            ProblemNote::summed(note("mistakes", 2.0)),
            ProblemNote::largest(note("residual", 0.5)),
            ProblemNote::smallest(note("margin", 0.5)),
            ProblemNote::smallest(note("only here", 1.0)),
        ];
        let other = [
            ProblemNote::smallest(note("margin", -0.25)),
            ProblemNote::summed(note("mistakes", 3.0)),
            ProblemNote::largest(note("residual", 0.125)),
        ];
        let wanted = [note("mistakes", 5.0), note("residual", 0.5), note("margin", -0.25)];
        assert_eq!(join_notes(&[&one, &other]), wanted);
        assert_eq!(join_notes(&[&other]).len(), 3);
        assert!(join_notes(&[]).is_empty());
    }
}
