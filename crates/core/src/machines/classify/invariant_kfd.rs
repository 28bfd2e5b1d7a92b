//! The kernel Fisher discriminant with invariances.

use crate::geometry::{Wanted, between_columns, rayleigh, total_scatter};
use crate::gram::show_bytes;
use crate::linalg::dot;
use crate::machines::class_weight::ClassWeight;
use crate::machines::multiclass::{OneVsRest, Reduction, in_turn};
use crate::machines::rayleigh::{
    Allowed, Frame, Matrix, Over, Term, Terms, check_unwanted_of_classes, singular, weights_of_classes,
};
use crate::machines::threshold::Placed;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, SolverReport, Task, Theory, Threshold,
    Traits,
};
use crate::params::{Params, Visit};
use crate::sources::{MIKA, Source};
use crate::watch::{Monitor, Phase, Progress};

const NAME: &str = "invariant_kfd";

/// B a = δ, f(x) = Σ_j a_j κ(z_j, x) − t, ‖w‖ = 1: the direction that tells two classes apart and leaves out what shall not matter
///
/// δ is the difference of the class means of kernel values and B a sum of matrices in words: `within` (the scatter inside the
/// two classes), `coefficients` (‖a‖²), `norm` (‖w‖²), `tangent` (how far copies of the examples, after small transformations that
/// are given beside the data, move from them along w; the mean over all transformations, or `tangent(NAME)` of one), `noise`
/// and `covariance`. t is placed by the rule `threshold`: where fewest training examples are on the wrong side and, of those places, in the middle
/// of the widest gap, unless another is asked for. Several classes are taken one against the rest; the largest score decides. `expansion` says which points z may
/// be used: `examples`, `all` (copies and noise, too, which makes their matrices exact), `points` (those handed in, such as
/// centres of the examples and copies together) or a number of examples drawn by the seed. The weight of an example is how often
/// it counts in all sums, those of its copies and the threshold as well; one of weight zero is no point either. The report's
/// note `quotient` is δᵀB⁻¹δ, summed over the problems.
///
/// # Source
/// Mika 2002, 3.4.4–3.4.5 and 5.3.1.
///
/// # Use when
/// It is known what does not change the class: a shift, a turn, thicker lines.
///
/// # Cost
/// For m points nm kernel values and nm² operations, as much for all copies of each transformation; m³/3 for each class.
#[derive(Clone, Debug, PartialEq)]
pub struct InvariantKfd {
    /// The variance to be small, a weighted sum of matrices.
    pub unwanted: String,
    /// The points that the direction is made of.
    pub expansion: String,
    /// The place on the line where the classes part; `programme` is the middle of the class means.
    pub threshold: Threshold,
    /// Weights of the classes: `none`, `balanced`, or `label:weight,label:weight`.
    pub class_weight: String,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kfd_with_invariances"],
    summary: "the direction between two classes that ignores transformations, noise, or what else is unwanted",
    formula: "B a = δ, f(x) = Σⱼ aⱼ κ(zⱼ, x) − t",
    learns: Learns::Classes,
    source: Source::new(&MIKA, "3.4.4–3.4.5 and 5.3.1"),
    use_when: "it is known what does not change the class: a shift, a turn, thicker lines",
    cost: "For m points nm kernel values and nm² operations, as much for all copies of each transformation; m³/3 for each class.",
    make: || Box::new(InvariantKfd::default()),
};

impl Default for InvariantKfd {
    fn default() -> Self {
        Self {
            unwanted: "within + 0.001*coefficients".to_owned(),
            expansion: "examples".to_owned(),
            threshold: Threshold::Errors,
            class_weight: "none".to_owned(),
        }
    }
}

impl Params for InvariantKfd {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.text(
            "unwanted",
            &mut self.unwanted,
            check_unwanted_of_classes,
            "sum that is to be small, e.g. within + 0.001*coefficients + 0.001*tangent",
        );
        v.text("expansion", &mut self.expansion, Over::check, "examples, all, points or a number of examples");
        v.choice("threshold", &mut self.threshold, "rule for the threshold on the line of projections");
        v.text("class_weight", &mut self.class_weight, ClassWeight::check, "none, balanced or label:weight,…");
    }
}

impl Machine for InvariantKfd {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            weights: true,
            weighs_classes: ClassWeight::weighs(&self.class_weight),
            auxiliary: true,
            order: Over::order(&self.expansion),
            theory: Theory { balances_classes: self.class_weight == ClassWeight::BALANCED, ..Theory::default() },
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let weights = weights_of_classes(NAME, &self.class_weight, &classes, task)?;
        let wrong = |wanted: String| FitError::Param { machine: NAME, finding: format!("it takes {wanted}") };
        let terms = Terms::parse(&self.unwanted, Allowed::UnwantedOfClasses).map_err(wrong)?;
        let over = Over::parse(&self.expansion).map_err(wrong)?;
        let coefficients = terms.has(&Matrix::Coefficients);
        let frame = Frame::new(NAME, task, task.auxiliary, over, weights, (coefficients, 1e-10), watch)?;
        let problems = Problems::new(&frame, &terms, &self.unwanted)?;
        let rest = OneVsRest::new(&classes);
        let found = in_turn(&rest, |problem| {
            let progress = Progress::new(Phase::new("directions"), problem.first).of(rest.problems());
            watch.alive(progress).map_err(|reason| FitError::stopped(NAME, reason))?;
            problems.solve(&problem.signs, &classes.labels[problem.first], self.threshold)
        })?;
        let (n, m) = (task.len(), frame.points.len());
        let alpha = (0..m).flat_map(|j| found.iter().map(move |f| f.alpha[j])).collect();
        let scores = (0..n).flat_map(|i| found.iter().map(move |f| f.along[i] - f.threshold)).collect();
        let quotient = found.iter().map(|f| f.quotient).sum();
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Dual { points: frame.points, alpha },
                offsets: found.iter().map(|f| -f.threshold).collect(),
            },
            rest.readout(),
            SolverReport {
                support: Some(m),
                storage: format!(
                    "kernel values of all examples with {m} points stored in f64, {}",
                    show_bytes(8 * m * n)
                ),
                notes: vec![("quotient".to_owned(), quotient)],
                ..SolverReport::direct()
            },
        )
        .with_training_scores(Some(scores)))
    }
}

/// Matrices that all problems of one class against the rest share.
struct Problems<'a> {
    frame: &'a Frame<'a>,
    words: &'a str,
    /// B without what depends on the classes, and with the weight of `within` on the scatter about the mean of all.
    base: Vec<f64>,
    /// The factor of `between` in B: the difference of `within` from the scatter about the mean of all.
    between: f64,
}

/// A direction and its threshold.
struct Found {
    alpha: Vec<f64>,
    /// The training examples along the direction.
    along: Vec<f64>,
    threshold: f64,
    quotient: f64,
}

impl<'a> Problems<'a> {
    fn new(frame: &'a Frame<'a>, terms: &Terms, words: &'a str) -> Result<Self, FitError> {
        let of_classes = |t: &&Term| matches!(t.matrix, Matrix::Within | Matrix::Between);
        let plain: Vec<Term> = terms.0.iter().filter(|t| !of_classes(t)).cloned().collect();
        let weight = |matrix: &Matrix| terms.0.iter().find(|t| t.matrix == *matrix).map_or(0.0, |t| t.weight);
        let (within, between) = (weight(&Matrix::Within), weight(&Matrix::Between));
        let mut base = frame.sum(&Terms(plain), None)?;
        if within > 0.0 {
            // total = within + between, whatever the classes
            let total = total_scatter(&frame.rows, frame.width, &frame.weights);
            base.iter_mut().zip(&total).for_each(|(b, t)| *b += within * t);
        }
        Ok(Self { frame, words, base, between: between - within })
    }

    /// The direction of a class, whose examples have the sign +1.
    fn solve(&self, signs: &[f64], label: &str, rule: Threshold) -> Result<Found, FitError> {
        let (frame, width) = (self.frame, self.frame.width);
        let sides: Vec<u32> = signs.iter().map(|&y| u32::from(y < 0.0)).collect();
        let mass =
            |side: u32| sides.iter().zip(&frame.weights).filter(|(s, _)| **s == side).map(|(_, v)| v).sum::<f64>();
        let (own, rest) = (mass(0), mass(1));
        // √n₊ (m₊ − m) = √n₊ (n₋/n) δ
        let columns = between_columns(&frame.rows, width, &sides, 2, &frame.weights);
        let scale = (own + rest) / (rest * own.sqrt());
        let delta: Vec<f64> = columns.iter().step_by(2).map(|g| scale * g).collect();
        let part = self.between * own * rest / (own + rest);
        let mut matrix = self.base.clone();
        for (row, d) in matrix.chunks_exact_mut(width).zip(&delta) {
            row.iter_mut().zip(&delta).for_each(|(m, e)| *m += part * d * e);
        }
        let wanted = Wanted::Columns { values: delta.clone(), count: 1 };
        let found = rayleigh(wanted, matrix, width, 1, 0.0).map_err(|error| singular(NAME, self.words, error))?;
        let Some(&quotient) = found.quotients.first() else {
            let finding = format!("the class {label} has the same mean as the rest; use another kernel");
            return Err(FitError::Param { machine: NAME, finding });
        };
        let mut vector = frame.units(found.vectors, 1)?;
        // the class itself lies above
        if dot(&vector, &delta) < 0.0 {
            vector.iter_mut().for_each(|v| *v = -*v);
        }
        let mut along = frame.coordinates(&vector, 1);
        let middle = -0.5 * [1.0, -1.0].map(|sign| mean_of(&along, signs, &frame.weights, sign)).iter().sum::<f64>();
        let Placed { scale, offset } = rule.place(&along, signs, &frame.weights, middle);
        vector.iter_mut().chain(&mut along).for_each(|x| *x *= scale);
        Ok(Found { alpha: frame.coefficients(vector, 1), along, threshold: -offset, quotient })
    }
}

/// The mean along the direction of the examples of a sign.
fn mean_of(along: &[f64], signs: &[f64], weights: &[f64], sign: f64) -> f64 {
    let of = || along.iter().zip(signs).zip(weights).filter(|((_, s), _)| **s == sign).map(|((q, _), v)| (q, v));
    of().map(|(q, v)| v * q).sum::<f64>() / of().map(|(_, v)| v).sum::<f64>()
}

#[cfg(test)]
#[path = "invariant_kfd_tests.rs"]
mod tests;
