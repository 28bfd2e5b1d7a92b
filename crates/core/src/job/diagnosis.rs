//! Why a solver took long, in words, from what can be seen in the data and the kernel.

use crate::data::{Classes, Dataset, Rows, Scalar, Values};
use crate::formula::Formula;
use crate::gram::views::FarOrigin;
use crate::gram::{BlockMut, Gram, Pick};
use crate::machines::Fact;
use crate::machines::{Reads, SolverReport};
use crate::watch::Status;
use std::cmp::Ordering;
use std::sync::Arc;

/// Number of steps for each example beyond which a fit counts as slow.
const SLOW_STEPS_PER_EXAMPLE: usize = 50;
/// Number of steps up to which no fit counts as slow.
const MIN_SLOW_STEPS: usize = 50_000;
/// Examples that are looked at.
const SAMPLE: usize = 64;

/// Sizes of numbers beyond which kernels of them are lost: their squares, or those of their differences, are zero or infinite.
const SIZES: std::ops::Range<f64> = 1e-150..1e150;

/// Advice for a fit that stopped early, took very many steps or saw numbers that no kernel or solver can compare; none for any other.
pub(super) fn advice(
    data: &Dataset,
    (gram, reads): (&Arc<dyn Gram>, Reads),
    kernel: &Formula,
    report: &SolverReport,
) -> Vec<String> {
    let mut told: Vec<String> = sizes(data).into_iter().collect();
    told.extend(slowness(data, gram.as_ref(), kernel, report));
    if told.is_empty() {
        told.extend(lost_distances(gram, reads, kernel).or_else(|| residual(report)));
    }
    told.extend(gap(report).filter(|_| told.is_empty() && report.advice.is_empty()));
    told
}

/// The part of the objective from which on a duality gap is told to be large.
const LARGE_GAP: f64 = 0.1;

/// A solution whose stopping rule holds, and whose objective may be far from the optimum all the same.
fn gap(report: &SolverReport) -> Option<String> {
    let (gap, objective) = (report.duality_gap?, report.objective?);
    let remedy = match report.violation {
        Some(_) => {
            "all conditions hold within the tolerance, but the objective may be that far from the optimum; give a smaller tolerance"
        }
        None => {
            "the objective may be that far from the optimum, since the kernel's values span more digits than numbers have; scale the \
             columns (--scale standard), or increase lambda"
        }
    };
    (report.status == Status::Converged && gap > LARGE_GAP * objective.abs())
        .then(|| format!("the duality gap {gap:.3e} is large against the objective {objective:.3e}: {remedy}"))
}

/// Relative residual of equations that were solved directly from which on it is told.
const LARGE_RESIDUAL: f64 = 1e-6;

/// Equations whose solution is not one.
fn residual(report: &SolverReport) -> Option<String> {
    // where steps are taken, they end at a tolerance of their own
    let residual = report.fact(Fact::RelativeResidual).filter(|_| report.iterations == 0)?;
    (residual > LARGE_RESIDUAL).then(|| {
        format!(
            "the equations hold up to a relative residual of {residual:.1e} only: beside the largest values of the kernel, lambda is less than \
             rounding; scale the columns (--scale standard), or increase lambda"
        )
    })
}

/// A target farther from zero than this many of its deviations is one that needs an offset.
const FAR: f64 = 3.0;
/// A kernel whose smallest value between examples is above this share of κ(x, x) has a constant part, which serves as an offset.
const CONSTANT_PART: f64 = 0.5;

/// A target far from zero, where a function without an offset falls to zero between the examples and beyond them.
pub(super) fn offset(data: &Dataset, gram: &dyn Gram) -> Option<String> {
    let target = data.target().and_then(|target| target.numbers().ok())?;
    let (n, outputs) = (data.len() as f64, target.names.len());
    let (name, mean, deviation) = (0..outputs).find_map(|k| {
        let column = || target.values.iter().skip(k).step_by(outputs);
        let mean = column().sum::<f64>() / n;
        let deviation = (column().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt();
        (mean.abs() > FAR * deviation).then(|| (&target.names[k], mean, deviation))
    })?;
    let sampled = sample(gram);
    let m = sampled.places;
    let own = (0..m).map(|i| sampled.values[i * m + i].abs()).fold(0.0, f64::max);
    let least = sampled.values.iter().copied().fold(f64::INFINITY, f64::min);
    if least > CONSTANT_PART * own {
        return None;
    }
    let kernel_part = mean.abs().max(deviation * deviation);
    Some(format!(
        "the target {name} lies around {mean:.4} with a deviation of {deviation:.4}, and this function has no offset: far from the examples it \
         predicts 0; add a constant to the kernel (κ + {kernel_part:.0}), or use a machine with an offset, such as svr"
    ))
}

/// The kernel between some examples.
struct Sampled {
    places: usize,
    values: Vec<f64>,
}

impl Sampled {
    /// True if κ(x, x) is the same for all examples, as it is where kernels depend on distances.
    fn is_flat(&self) -> bool {
        let own = |i: usize| self.values[i * self.places + i];
        (1..self.places).all(|i| (own(i) - own(0)).abs() <= 64.0 * f64::EPSILON * own(0).abs())
    }
}

/// The places of some examples.
fn places(gram: &dyn Gram) -> Vec<usize> {
    let n = gram.shape().0;
    (0..n).step_by(n.div_ceil(SAMPLE).max(1)).collect()
}

fn sample(gram: &dyn Gram) -> Sampled {
    let sample = places(gram);
    let m = sample.len();
    let mut values = vec![0.0; m * m];
    gram.block(Pick::List(&sample), Pick::List(&sample), BlockMut::new(&mut values, m, m));
    Sampled { places: m, values }
}

/// Numbers whose squares no number can hold.
fn sizes(data: &Dataset) -> Option<String> {
    fn largest<S: Scalar>(values: impl Iterator<Item = S>) -> f64 {
        values.fold(0.0, |top: f64, x| top.max(x.wide().abs()))
    }
    data.views().iter().find_map(|view| {
        let largest = match &view.values {
            Values::Dense(rows) => largest(rows.values().iter().copied()),
            Values::Dense32(rows) => largest(rows.values().iter().copied()),
            Values::Sparse(rows) => largest(rows.coordinates().iter().map(|c| c.value)),
            Values::Sparse32(rows) => largest(rows.coordinates().iter().map(|c| c.value)),
            _ => return None,
        };
        let what = if largest >= SIZES.end { "overflow" } else { "vanish" };
        (largest > 0.0 && !SIZES.contains(&largest)).then(|| {
            format!(
                "the largest number of {} is {largest:e}, and squares of such numbers {what}, so that kernels cannot tell examples apart; \
                 scale the data (--scale standard)",
                view.name
            )
        })
    })
}

/// Advice for a fit that stopped early or took very many steps; none for any other.
fn slowness(data: &Dataset, gram: &dyn Gram, kernel: &Formula, report: &SolverReport) -> Vec<String> {
    let n = gram.shape().0;
    let many = report.iterations > MIN_SLOW_STEPS && report.iterations / n.max(1) > SLOW_STEPS_PER_EXAMPLE;
    let early = matches!(report.status, Status::IterationLimit | Status::TimeLimit) && report.iterations > 0;
    if !many && !early {
        return Vec::new();
    }
    let alike = far_origin(gram, kernel).or_else(|| similarities(gram, kernel));
    [columns(data), alike, bounds(report)].into_iter().flatten().collect()
}

/// The ground on which probabilities of classes with a single example rest.
pub(super) fn alone(classes: &Classes) -> Vec<String> {
    let mut sizes = vec![0_usize; classes.labels.len()];
    classes.codes.iter().for_each(|&c| sizes[c as usize] += 1);
    let told = |label: &String| {
        format!(
            "class \"{label}\" has a single example, which cannot be held out: its probability says how rare it is, not where it \
             lies; give it more examples"
        )
    };
    classes.labels.iter().zip(&sizes).filter(|&(_, &size)| size == 1).map(|(label, _)| told(label)).collect()
}

/// A column that spreads a thousand times more than the others decides alone.
fn columns(data: &Dataset) -> Option<String> {
    fn largest<S: Scalar>(rows: &Rows<S>) -> Option<(usize, f64)> {
        let (n, d) = (rows.len() as f64, rows.width());
        let mut sums = vec![(0.0, 0.0); d];
        for i in 0..rows.len() {
            for (sum, x) in sums.iter_mut().zip(rows.row(i)) {
                *sum = (sum.0 + x.wide(), sum.1 + x.wide() * x.wide());
            }
        }
        let spreads: Vec<f64> = sums.iter().map(|(a, b)| (b / n - (a / n) * (a / n)).max(0.0).sqrt()).collect();
        let mut sorted: Vec<f64> = spreads.iter().copied().filter(|&s| s > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let median = *sorted.get(sorted.len() / 2)?;
        let (at, &most) = spreads.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        // of two columns the median is the larger one itself
        let typical = if sorted.len() == 2 { sorted[0] } else { median };
        (most >= 1000.0 * typical).then_some((at, most / typical))
    }
    data.views().iter().find_map(|view| {
        let (column, ratio) = match &view.values {
            Values::Dense(rows) => largest(rows)?,
            Values::Dense32(rows) => largest(rows)?,
            _ => return None,
        };
        Some(format!(
            "coordinate {} of {} spreads {ratio:.0} times more than the others and decides alone; scale the data \
             (--scale standard)",
            column + 1,
            view.name
        ))
    })
}

/// Ratio of κ(x, x) to the squared distances between examples from which on solvers feel it.
const FAR_ORIGIN: f64 = 100.0;
/// Ratio from which on half the digits of the distances are lost, whoever asks for them.
const LOST_DISTANCES: f64 = 1e8;

/// An origin so far from all examples that kernel values tell little of their distances.
fn far_origin(gram: &dyn Gram, kernel: &Formula) -> Option<String> {
    FarOrigin::seen(gram).filter(|far| far.ratio >= FAR_ORIGIN).and_then(|far| far_from(&far, gram, kernel))
}

/// An origin so far that predictions of any machine are made of what is left of the distances.
fn lost_distances(gram: &Arc<dyn Gram>, reads: Reads, kernel: &Formula) -> Option<String> {
    let told = |gram: &dyn Gram, seen: Option<FarOrigin>| {
        seen.filter(|far| far.ratio >= LOST_DISTANCES).and_then(|far| far_from(&far, gram, kernel))
    };
    match reads {
        // rows have been prepared
        Reads::Rows => told(gram.as_ref(), FarOrigin::of(gram.as_ref())),
        // a machine that has explicit features may have asked for no value at all, and a few examples are prepared at once
        Reads::Blocks => {
            let places = places(gram.as_ref());
            let few = Arc::clone(gram).restrict(&places, &places);
            told(few.as_ref(), FarOrigin::seen(few.as_ref()))
        }
        Reads::Features => None,
    }
}

fn far_from(far: &FarOrigin, gram: &dyn Gram, kernel: &Formula) -> Option<String> {
    // where κ(x, x) is the same for all, it is the width that is too large
    (!sample(gram).is_flat()).then(|| {
        format!(
            "the examples lie far from the origin of {kernel}: κ(x, x) is {:.0e} times as large as the squared distances between them, \
             which leaves few digits for these; scale the columns (--scale standard) or write centre({kernel})",
            far.ratio
        )
    })
}

/// How a kernel is made narrower or wider, in the words of its own parameters; a kernel whose κ(x, x) differ has no width.
fn remedy(kernel: &Formula, narrower: bool, flat: bool) -> String {
    let way = if narrower { "narrower" } else { "wider" };
    match kernel.smoothed_by().first().filter(|_| flat) {
        // the direction in which the parameter makes functions smoother, as a wider kernel does
        Some(&(name, smoother)) => {
            let size = if (smoother == Ordering::Greater) == narrower { "smaller" } else { "larger" };
            format!("make the kernel {way} (a {size} {name})")
        }
        None if narrower => format!("scale the columns (--scale standard) or write centre({kernel})"),
        None => "scale the columns (--scale standard), or take another kernel".to_owned(),
    }
}

/// A kernel that finds all examples alike, or none.
fn similarities(gram: &dyn Gram, kernel: &Formula) -> Option<String> {
    let sampled = sample(gram);
    let flat = sampled.is_flat();
    let Sampled { places: m, values: block } = sampled;
    if m < 3 {
        return None;
    }
    let own = (0..m).map(|i| block[i * m + i].abs()).sum::<f64>() / m as f64;
    let others = || (0..m * m).filter(|e| e / m != e % m).map(|e| block[e]);
    let (low, high) = others().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), k| (l.min(k), h.max(k)));
    if high - low <= 1e-3 * own && (high - own).abs() <= 1e-2 * own {
        return Some(format!(
            "the kernel matrix is nearly constant: all examples look alike; {}",
            remedy(kernel, true, flat)
        ));
    }
    (low.abs().max(high.abs()) <= 1e-3 * own).then(|| {
        format!("the kernel matrix is nearly diagonal: no two examples look alike; {}", remedy(kernel, false, flat))
    })
}

/// Multipliers that nearly all stand at their bound.
fn bounds(report: &SolverReport) -> Option<String> {
    let (bounded, support) = (report.fact(Fact::BoundedMultipliers)?, report.support? as f64);
    (support > 0.0 && bounded >= 0.9 * support).then(|| {
        "c is the bound of most support vectors: the classes overlap at this kernel; a larger c or another kernel would \
         use them better"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Fit;
    use crate::prelude::{Effort, Schema, SchemaOptions, Seed, Svc, rbf};

    fn moons(stretch: f64) -> Dataset {
        let table = crate::datasets::load("two_moons", Some(300), Seed(1)).unwrap();
        let options = SchemaOptions { scale: Some(crate::data::Scale::None), ..SchemaOptions::default() };
        let (_, data) = Schema::learn_and_apply(&table, &options).unwrap();
        let Values::Dense(rows) = &data.views()[0].values else { panic!() };
        let mut values = rows.values().to_vec();
        values.iter_mut().step_by(2).for_each(|x| *x *= stretch);
        let rows = Rows::new(values, rows.len(), 2).unwrap();
        Dataset::new(rows).with_target(data.target().unwrap().clone()).unwrap()
    }

    fn said(stretch: f64, gamma: f64, c: f64, limit: usize) -> String {
        let machine = Svc { c, effort: Effort { max_iterations: limit, ..Effort::default() }, ..Svc::default() };
        machine.fit(&rbf(gamma), &moons(stretch)).unwrap().fitted.report.advice.join("; ")
    }

    #[test]
    fn a_target_far_from_zero_needs_an_offset() {
        use crate::prelude::{Ridge, Svr, Target};
        let x: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.1).collect();
        let around = |mean: f64| {
            let y: Vec<f64> = x.iter().map(|x| mean + x.sin()).collect();
            Dataset::new(Rows::new(x.clone(), 60, 1).unwrap()).with_target(Target::from(y)).unwrap()
        };
        let told = |machine: &dyn crate::machines::Machine, mean: f64, kernel: &str| {
            let job = crate::job::Job::new(machine, &kernel.parse().unwrap());
            job.run(&around(mean), &crate::watch::Silent).unwrap().fitted.report.advice.join("; ")
        };
        let advice = told(&Ridge::default(), 1000.0, "rbf(gamma=1)");
        assert!(advice.contains("has no offset") && advice.contains("κ + 1000"), "{advice}");
        assert!(told(&Svr { bias: false, ..Svr::default() }, 1000.0, "rbf(gamma=1)").contains("has no offset"));
        // the advice is good: far away the prediction is the mean and not zero
        let far = Dataset::new(Rows::new(vec![100.0], 1, 1).unwrap());
        let at = |kernel: &str| {
            Ridge::default().fit(&kernel.parse().unwrap(), &around(1000.0)).unwrap().scores(&far).unwrap()[0]
        };
        assert!(at("rbf(gamma=1)").abs() < 1e-6 && (at("rbf(gamma=1) + 1000") - 1000.0).abs() < 10.0);
        // nothing where there is none to miss
        assert_eq!(told(&Ridge::default(), 0.1, "rbf(gamma=1)"), "");
        assert_eq!(told(&Ridge::default(), 1000.0, "rbf(gamma=1) + 1000"), "");
        assert_eq!(told(&Svr::default(), 1000.0, "rbf(gamma=1)"), "");
    }

    fn clouds(shift: f64, apart: f64) -> Dataset {
        let mut random = Seed(2).stream("clouds");
        let values: Vec<f64> =
            (0..120).map(|p| shift + random.normal() + if p / 2 % 2 == 0 { apart } else { 0.0 }).collect();
        let target: Vec<String> = (0..60).map(|i| (i % 2).to_string()).collect();
        let target = crate::prelude::Target::from(target);
        Dataset::new(Rows::new(values, 60, 2).unwrap()).with_target(target).unwrap()
    }

    #[test]
    fn remedies_are_those_of_the_kernel_that_is_there() {
        let told = |machine: &Svc, kernel: &str, data: &Dataset| {
            machine.fit(&kernel.parse().unwrap(), data).unwrap().fitted.report.advice.join("; ")
        };
        let short = Svc { effort: Effort { max_iterations: 3, ..Effort::default() }, ..Svc::default() };
        for kernel in ["linear", "polynomial(degree=2)"] {
            let advice = told(&short, kernel, &clouds(1e4, 0.5));
            assert!(!advice.contains("larger gamma") && !advice.contains("narrower"), "{advice}");
            assert!(advice.contains("--scale standard") && advice.contains("centre("), "{advice}");
        }
        let advice = told(&short, "rational_quadratic(alpha=1, length=1e5)", &clouds(0.0, 0.5));
        assert!(advice.contains("narrower (a smaller length)"), "{advice}");
        let advice = told(&short, "rbf(gamma=1e6)", &clouds(0.0, 0.5));
        assert!(advice.contains("wider (a smaller gamma)"), "{advice}");
    }

    #[test]
    fn a_gap_that_is_large_against_the_objective_is_told() {
        let rough = |tolerance: f64| {
            let machine = Svc { c: 1000.0, effort: Effort { tolerance, ..Effort::default() }, ..Svc::default() };
            machine.fit(&rbf(1.0), &moons(1.0)).unwrap().fitted.report
        };
        let (report, sharp) = (rough(1.0), rough(1e-4));
        assert_eq!((report.status, sharp.status), (Status::Converged, Status::Converged));
        let share = report.duality_gap.unwrap() / report.objective.unwrap().abs();
        assert!(share > 0.1, "{share}");
        let advice = report.advice.join("; ");
        assert!(advice.contains("duality gap") && advice.contains("smaller tolerance"), "{advice}");
        assert!(!sharp.advice.join("; ").contains("duality gap"));
    }

    #[test]
    fn an_origin_that_is_too_far_is_told_whatever_the_machine_and_its_status() {
        use crate::prelude::{Knn, LossName, NearestMean, OneClass, Penalty, Target, programme_regression};
        let told = |machine: &dyn crate::machines::Machine, kernel: &str, shift: f64| {
            let data = clouds(shift, 3.0);
            let data = if machine.entry().learns == crate::machines::Learns::Numbers {
                data.with_target(Target::from((0..60).map(f64::from).collect::<Vec<f64>>())).unwrap()
            } else {
                data
            };
            let job = crate::job::Job::new(machine, &kernel.parse().unwrap());
            job.run(&data, &crate::watch::Silent).unwrap().fitted.report.advice.join("; ")
        };
        let squared = programme_regression(LossName::Squared, Penalty::Norm, 1.0);
        let machines: [&dyn crate::machines::Machine; 4] =
            [&NearestMean::default(), &Knn::default(), &OneClass::default(), &squared];
        for machine in machines {
            for shift in [1e6, 1e8, 1e11] {
                let advice = told(machine, "linear", shift);
                let name = machine.entry().name;
                assert!(
                    advice.contains("far from the origin") && advice.contains("centre("),
                    "{name} {shift}: {advice}"
                );
                assert!(!told(machine, "rbf(gamma=0.1)", shift.min(1e6)).contains("origin"), "{name} {shift}");
            }
            assert!(!told(machine, "linear", 10.0).contains("origin"), "{}", machine.entry().name);
        }
    }

    #[test]
    fn equations_and_gaps_that_rounding_has_spoilt_are_told() {
        use crate::prelude::{Kfd, Penalty};
        let stretched = |stretch: f64| {
            let data = clouds(0.0, 1.0);
            let Values::Dense(rows) = &data.views()[0].values else { panic!() };
            let rows = Rows::new(rows.values().iter().map(|x| x * stretch).collect(), 60, 2).unwrap();
            Dataset::new(rows).with_target(data.target().unwrap().clone()).unwrap()
        };
        let fit = |lambda: f64, stretch: f64| {
            let machine = Kfd { penalty: Penalty::Norm, lambda: lambda.into(), ..Kfd::default() };
            machine.fit(&crate::prelude::linear(), &stretched(stretch)).unwrap().fitted.report
        };
        let (lost, sharp) = (fit(1e-9, 1e4), fit(1.0, 1.0));
        assert_eq!((lost.status, sharp.status), (Status::IterationLimit, Status::Converged));
        let advice = lost.advice.join("; ");
        assert!(advice.contains("relative residual") && advice.contains("increase lambda"), "{advice}");
        assert!(sharp.advice.is_empty(), "{:?}", sharp.advice);
        // a gap is large beside an objective whether or not the solver has violations to tell
        let told = SolverReport { objective: Some(10.36), duality_gap: Some(4.6), ..SolverReport::direct() };
        assert!(gap(&told).unwrap().contains("4.600e0"));
        assert!(gap(&SolverReport { duality_gap: Some(0.01), ..told }).is_none());
    }

    #[test]
    fn each_cause_is_named_where_it_is_one() {
        assert!(said(1e5, 1.0, 1.0, 3).contains("coordinate 1"));
        assert!(said(1.0, 1e-7, 1.0, 3).contains("nearly constant"));
        assert!(said(1.0, 1e6, 1.0, 3).contains("nearly diagonal"));
        assert!(said(1.0, 0.01, 1e-3, 100).contains("c is the bound"));
        let tiny = Rows::new((0..40).map(|i| f64::from(i) * 1e-160).collect(), 40, 1).unwrap();
        let target: Vec<String> = (0..40).map(|i| (i / 20).to_string()).collect();
        let tiny = Dataset::new(tiny).with_target(crate::prelude::Target::from(target)).unwrap();
        let advice = Svc::default().fit(&rbf(1.0), &tiny).unwrap().fitted.report.advice.join("; ");
        assert!(advice.contains("vanish") && advice.contains("--scale standard"), "{advice}");
        assert_eq!(said(1.0, 1.0, 1.0, 0), "", "a fit that went well needs no advice");
    }
}
