//! The laws of derivatives: they are limits of differences, contractions are sums with them, for every kernel of the catalogue and
//! every node of a formula.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::differences::{agree, composites, difference, formula, largest, mixed, near, random};
use crate::support::{self, in_pool, samples, values, variants};
use mercer::data::{Dataset, Kind, Rows, Values};
use mercer::formula::{Formula, ard, linear, matern, noise, polynomial, rbf, subsequence};
use mercer::gram::{BlockMut, Dense, Gram, Pick, Similarity};
use mercer::job::Job;
use mercer::kernels::{self, Definite, Domain, KernelEntry, KernelError, Leaf, Prepared, Sides, derivative_gram};
use mercer::machines::regress::Ridge;
use mercer::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Task};
use mercer::params::{Parameter, Params, Rule, Visit};
use mercer::seed::Seed;
use mercer::sources::{HERBRICH, Source};
use mercer::watch::{Monitor, Silent};
use std::sync::{Arc, Mutex};

/// θ moved away from the ends of the rules, so that differences may be taken on both sides.
fn inside(parameters: &[Parameter]) -> Vec<f64> {
    let away = |p: &Parameter| {
        let fits = |x: f64| p.rule.allows(x - 0.01) && p.rule.allows(x + 0.01);
        [p.value, p.value + 0.03, p.value - 0.03].into_iter().find(|&x| fits(x)).unwrap()
    };
    parameters.iter().map(away).collect()
}

fn dense(values: Vec<f64>, n: usize, m: usize) -> Dense<f64> {
    Dense::new(values, n, m).unwrap()
}

/// The kernels that have real parameters, with a few of these and every kind of data.
fn everywhere(m: usize, n: usize, others: u64, mut law: impl FnMut(&Formula, &dyn Leaf, &Values, &Values, &str)) {
    let mut tried = 0;
    for entry in kernels::all() {
        for sample in samples(entry, m, n) {
            for leaf in variants(entry, &sample.training, others) {
                let formula = formula(leaf.as_ref());
                if formula.parameters().is_empty() {
                    continue;
                }
                let context = format!("{formula} on {}", sample.name);
                law(&formula, leaf.as_ref(), &sample.new, &sample.training, &context);
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "the catalogue has shrunk: {tried}");
}

/// The kernel of a formula that is nothing else.
fn leaf_of(entry: &KernelEntry, formula: &Formula) -> Box<dyn Leaf> {
    let mut leaf = (entry.make)();
    let text = formula.to_string();
    let again: Formula = text.parse().unwrap();
    assert_eq!(&again, formula);
    for (name, value) in settings_of(&text) {
        mercer::params::assign(entry.name, leaf.as_mut(), &name, &value).unwrap();
    }
    leaf
}

/// The settings that a print names.
fn settings_of(text: &str) -> Vec<(String, mercer::params::Setting)> {
    use mercer::params::Setting;
    let Some((_, inner)) = text.split_once('(') else { return Vec::new() };
    let inner = inner.strip_suffix(')').unwrap();
    let (mut found, mut rest) = (Vec::new(), inner);
    while let Some((name, tail)) = rest.split_once('=') {
        let end =
            if tail.starts_with('[') { tail.find(']').unwrap() + 1 } else { tail.find(',').unwrap_or(tail.len()) };
        let (value, more) = tail.split_at(end);
        let number = |v: &str| v.trim().parse::<f64>();
        let setting = if let Some(list) = value.strip_prefix('[') {
            Setting::Numbers(list.trim_end_matches(']').split(',').map(|v| number(v).unwrap()).collect())
        } else {
            match (number(value), value) {
                (Ok(x), _) => Setting::Number(x),
                (_, "true" | "false") => Setting::Switch(value == "true"),
                _ => Setting::Word(value.to_owned()),
            }
        };
        found.push((name.trim().to_owned(), setting));
        rest = more.trim_start_matches(',').trim_start();
    }
    found
}

#[test]
fn a_derivative_matrix_is_the_limit_of_differences_between_new_and_training_examples() {
    everywhere(6, 11, 3, |formula, leaf, new, training, context| {
        let theta = inside(&formula.parameters());
        let there = formula.at(&theta).unwrap();
        let moved = leaf_of(leaf.entry(), &there);
        let sides = Sides::new(new.clone(), training.clone(), false);
        let derivatives = moved.derivatives(&sides).unwrap().unwrap();
        let (rows, cols) = (Dataset::new(new.clone()), Dataset::new(training.clone()));
        let of = |theta: &[f64]| values(formula.at(theta).unwrap().cross(&rows, &cols).unwrap().as_ref());
        let k = of(&theta);
        assert_eq!(values(derivatives.gram().as_ref()), k, "{context}");
        for p in 0..theta.len() {
            let got = values(derivative_gram(Arc::clone(&derivatives), p).as_ref());
            near(&got, &difference(&theta, p, of), largest(&k), 1e-9, context);
        }
    });
}

#[test]
fn a_derivative_matrix_among_training_examples_is_exact_on_the_diagonal_too() {
    everywhere(1, 11, 1, |formula, leaf, _, training, context| {
        let theta = inside(&formula.parameters());
        let moved = leaf_of(leaf.entry(), &formula.at(&theta).unwrap());
        let derivatives = moved.derivatives(&Sides::new(training.clone(), training.clone(), true)).unwrap().unwrap();
        let data = Dataset::new(training.clone());
        let of = |theta: &[f64]| values(formula.at(theta).unwrap().training_gram(&data).unwrap().as_ref());
        for p in 0..theta.len() {
            let got = values(derivative_gram(Arc::clone(&derivatives), p).as_ref());
            near(&got, &difference(&theta, p, of), largest(&of(&theta)), 1e-9, context);
        }
    });
}

#[test]
fn a_contraction_is_the_sum_of_weights_times_derivatives_for_any_rectangle() {
    everywhere(9, 21, 2, |_, leaf, new, training, context| {
        let sides = Sides::new(new.clone(), training.clone(), false);
        let derivatives = leaf.derivatives(&sides).unwrap().unwrap();
        let count = formula(leaf).parameters().len();
        let (odd, list) = ([3, 8, 0], [20, 4, 4, 11, 7]);
        for (rows, cols) in [
            (Pick::Range(0..9), Pick::Range(0..21)),
            (Pick::List(&odd), Pick::List(&list)),
            (Pick::Range(2..3), Pick::List(&list)),
        ] {
            let size = rows.len() * cols.len();
            let weights = random(size, "weights");
            let (mut got, mut wanted, mut sizes) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
            derivatives.contract(&rows, &cols, &weights, &mut got);
            for p in 0..count {
                let mut partial = vec![0.0; size];
                derivatives.partial(p, &rows, &cols, BlockMut::new(&mut partial, rows.len(), cols.len()));
                wanted[p] = weights.iter().zip(&partial).map(|(w, d)| w * d).sum();
                sizes[p] = weights.iter().zip(&partial).map(|(w, d)| (w * d).abs()).sum();
            }
            // squares of centred coordinates are added and subtracted: at most a few hundred times a derivative's size
            agree(&got, &wanted, largest(&sizes).max(largest(&weights)), 1e-11, context);
        }
    });
}

/// A weight for every pair, not symmetric.
fn weights(n: usize) -> Vec<f64> {
    random(n * n, "pairs")
}

/// Contractions of a kernel that has met its examples are the differences of Σ W ∘ K.
fn check(kernel: &dyn Similarity, context: &str) {
    let n = kernel.gram().shape().0;
    let w = weights(n);
    let theta = inside(kernel.parameters());
    let there = kernel.at(&theta).unwrap();
    let got = there.contract(&dense(w.clone(), n, n)).unwrap();
    let total = |theta: &[f64]| {
        let k = values(kernel.at(theta).unwrap().gram().as_ref());
        vec![k.iter().zip(&w).map(|(k, w)| k * w).sum::<f64>()]
    };
    let size = values(there.gram().as_ref()).iter().zip(&w).map(|(k, w)| (k * w).abs()).sum::<f64>();
    assert_eq!(got.len(), theta.len(), "{context}");
    for (p, parameter) in kernel.parameters().iter().enumerate() {
        let wanted = difference(&theta, p, total);
        near(&got[p..=p], &wanted, size, 1e-9, &format!("{context}, {parameter}"));
    }
}

#[test]
fn every_kernel_that_met_its_examples_contracts_across_tiles() {
    let mut refused = Vec::new();
    for entry in kernels::all() {
        for sample in samples(entry, 1, 140).into_iter().filter(|s| !s.name.contains("17") && !s.name.contains("= 1")) {
            let leaf = variants(entry, &sample.training, 1).remove(1);
            let formula = formula(leaf.as_ref());
            let context = format!("{formula} on {}", sample.name);
            let kernel = match Formula::similarity(&formula, &Dataset::new(sample.training.clone())) {
                Ok(kernel) => kernel,
                Err(error) => panic!("{context}: {error}"),
            };
            let parameters = kernel.parameters();
            let n = kernel.gram().shape().0;
            match kernel.contract(&dense(weights(n), n, n)) {
                // a kernel that does not know a derivative names itself and the parameter
                Err(error) => {
                    let told = error.to_string();
                    assert!(told.contains(entry.name) && parameters.iter().any(|p| told.contains(&p.name)), "{told}");
                    refused.push(told);
                }
                Ok(sums) if sums.is_empty() => assert!(parameters.is_empty()),
                Ok(sums) => {
                    let sides = Sides::new(sample.training.clone(), sample.training.clone(), true);
                    let derivatives = leaf.derivatives(&sides).unwrap().unwrap();
                    for (p, sum) in sums.iter().enumerate() {
                        let matrix = values(derivative_gram(Arc::clone(&derivatives), p).as_ref());
                        let wanted: f64 = matrix.iter().zip(weights(n)).map(|(d, w)| d * w).sum();
                        let size: f64 = matrix.iter().zip(weights(n)).map(|(d, w)| (d * w).abs()).sum();
                        agree(&[*sum], &[wanted], size + n as f64, 1e-11, &context);
                    }
                }
            }
        }
    }
    // all kernels of the catalogue know their derivatives today
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn every_node_obeys_the_chain_rule() {
    let data = mixed(17);
    for formula in composites() {
        check(formula.similarity(&data).unwrap().as_ref(), &formula.to_string());
    }
}

#[test]
fn a_centre_of_some_examples_moves_with_the_parameters_too() {
    let data = mixed(14);
    let part = [1, 4, 5, 9, 13];
    for formula in [polynomial(2, 0.7).centre(), (rbf(0.4) + polynomial(2, 0.7).centre()).normalise()] {
        let resolved = formula.resolve_from(&part, &data, Seed(0)).unwrap();
        let gram = resolved.training_gram(&data).unwrap();
        let kernel = resolved.similarity_of(&data, gram).unwrap();
        check(kernel.as_ref(), &formula.to_string());
        let whole = formula.similarity(&data).unwrap();
        let (a, b) = (values(kernel.gram().as_ref()), values(whole.gram().as_ref()));
        assert!(a.iter().zip(&b).any(|(a, b)| (a - b).abs() > 1e-3), "the part has a centre of its own");
    }
}

#[test]
fn the_same_examples_at_another_theta_have_the_matrix_of_the_formula_there() {
    let data = mixed(40);
    for formula in composites() {
        let kernel = formula.similarity(&data).unwrap();
        let theta: Vec<f64> = kernel.parameters().iter().map(|p| p.value * 1.1).collect();
        let there = kernel.at(&theta).unwrap();
        let wanted = formula.at(&theta).unwrap().gram(&data).unwrap();
        assert_eq!(values(there.gram().as_ref()), values(wanted.as_ref()), "{formula}");
        let told: Vec<f64> = there.parameters().iter().map(|p| p.value).collect();
        assert_eq!(told, theta);
        // and back
        let home: Vec<f64> = kernel.parameters().iter().map(|p| p.value).collect();
        let back = there.at(&home).unwrap();
        assert_eq!(values(back.gram().as_ref()), values(kernel.gram().as_ref()), "{formula}");
    }
}

#[test]
fn some_examples_are_contracted_as_if_the_others_had_no_weight() {
    let data = mixed(24);
    let keep = [20, 3, 4, 17, 9, 11, 0];
    let again = [5, 1, 2];
    for formula in composites() {
        let whole = formula.similarity(&data).unwrap();
        let part = whole.restrict(&keep).restrict(&again);
        let places = again.map(|k| keep[k]);
        let k = values(whole.gram().as_ref());
        let wanted: Vec<f64> = (0..9).map(|p| k[places[p / 3] * 24 + places[p % 3]]).collect();
        agree(&values(part.gram().as_ref()), &wanted, 1.0, 1e-12, &formula.to_string());
        let few = random(9, "few");
        let mut all = vec![0.0; 24 * 24];
        (0..9).for_each(|p| all[places[p / 3] * 24 + places[p % 3]] = few[p]);
        let got = part.contract(&dense(few, 3, 3)).unwrap();
        let wanted = whole.contract(&dense(all, 24, 24)).unwrap();
        agree(&got, &wanted, 1.0, 1e-11, &formula.to_string());
        check(part.as_ref(), &format!("{formula} on some examples"));
    }
}

#[test]
fn contractions_have_the_same_bits_for_any_number_of_threads() {
    let data = Dataset::new(support::dense(Domain::Any, 300, 4, 0.0));
    for formula in [
        1.4 * ard(&[0.9, 1.4, 2.0, 0.7]) * matern(1.5, 0.8) + noise(0.1),
        (ard(&[0.9, 1.4, 2.0, 0.7]) + polynomial(2, 0.7).centre()).normalise().rbf(0.4),
    ] {
        let of = |threads: usize| {
            in_pool(threads, || {
                let kernel = formula.similarity(&data).unwrap();
                kernel.contract(&dense(weights(300), 300, 300)).unwrap()
            })
        };
        let alone: Vec<u64> = of(1).iter().map(|v| v.to_bits()).collect();
        for threads in [2, 5] {
            assert_eq!(of(threads).iter().map(|v| v.to_bits()).collect::<Vec<_>>(), alone, "{formula}");
        }
    }
}

#[test]
fn the_terms_of_a_sum_are_parts_that_add_up() {
    let data = mixed(12);
    let formula = 2.0 * (rbf(0.4) + subsequence(2, 0.6).on("words") + 0.5);
    let kernel = formula.similarity(&data).unwrap().restrict(&[0, 3, 4, 9]);
    let parts = kernel.parts().unwrap();
    assert_eq!(parts.len(), 3);
    let mut sum = vec![0.0; 16];
    for part in &parts {
        values(part.gram().as_ref()).iter().zip(&mut sum).for_each(|(k, s)| *s += k);
        check(part.as_ref(), "a part");
    }
    agree(&sum, &values(kernel.gram().as_ref()), 1.0, 1e-14, "the sum of the parts");
    assert_eq!(parts[0].parts().unwrap().len(), 1);
    let features = (2.0 * linear()).similarity(&data).unwrap().restrict(&[2, 5]);
    let (rows, scale) = features.features().unwrap();
    assert_eq!((rows.len(), scale), (2, 2.0));
    assert!(kernel.features().is_none());
}

#[test]
fn missing_entries_have_derivatives_by_what_stands_for_them() {
    let mut random = Seed(9).stream("gaps");
    let x = (0..30 * 3).map(|_| if random.uniform() < 0.3 { f64::NAN } else { random.normal() }).collect();
    let data = Dataset::new(Rows::new(x, 30, 3).unwrap());
    let formula: Formula = "missing_gaussian(gamma=0.6)".parse().unwrap();
    let kernel = formula.similarity(&data).unwrap();
    let names: Vec<String> = kernel.parameters().iter().map(|p| p.name.clone()).collect();
    assert_eq!(names, ["gamma", "means[1]", "means[2]", "means[3]", "variances[1]", "variances[2]", "variances[3]"]);
    check(kernel.as_ref(), "gaps");
}

/// A kernel of someone's own that has a parameter and says nothing of its derivative.
#[derive(Clone)]
struct Own {
    width: f64,
}

impl Params for Own {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("width", &mut self.width, Rule::Above(0.0), "width");
    }
}

static OWN: KernelEntry = KernelEntry {
    name: "own",
    aliases: &[],
    formula: "w",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "nowhere"),
    use_when: "never",
    cost: "one product for each pair",
    make: || Box::new(Own { width: 1.0 }),
};

impl Leaf for Own {
    fn entry(&self) -> &'static KernelEntry {
        &OWN
    }
    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }
    fn eval(&self, _: &Values, _: usize, _: &Values, _: usize) -> f64 {
        self.width
    }
    fn prepare(&self, values: &Values, _: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        Ok(Arc::new(Many(values.len())))
    }
    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(dense(vec![self.width; rows.len() * cols.len()], rows.len(), cols.len())))
    }
}

/// So many examples.
struct Many(usize);

impl Prepared for Many {
    fn len(&self) -> usize {
        self.0
    }
    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        Arc::new(Self(keep.len()))
    }
}

#[test]
fn a_kernel_without_a_derivative_is_named_with_its_parameter_and_still_takes_other_numbers() {
    let data = mixed(6);
    let kernel = (rbf(0.4) + Formula::leaf(Own { width: 2.0 })).similarity(&data).unwrap();
    let told = kernel.contract(&dense(weights(6), 6, 6)).unwrap_err().to_string();
    assert_eq!(told, "own has no derivative by width; choose width by search, or use another kernel");
    let there = kernel.at(&[0.4, 5.0]).unwrap();
    assert_eq!(values(there.gram().as_ref())[0], 6.0);
    let none = Formula::leaf(Own { width: 2.0 }).input_gradient(&[1.0; 6], &data, &[0.0; 4]).unwrap_err().to_string();
    assert!(none.starts_with("own has no derivative by its examples"), "{none}");
}

/// Ridge regression that looks at the kernel of its task before it learns.
#[derive(Clone, Default)]
struct Looking {
    ridge: Ridge,
}

/// The numbers of examples that it has learned from. A job makes its machine itself, so that all of them tell it here.
static SEEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

static LOOKING: MachineEntry = MachineEntry {
    name: "looking",
    aliases: &[],
    summary: "ridge regression that looks at its kernel",
    formula: "that of ridge",
    learns: Learns::Numbers,
    source: Source::new(&HERBRICH, "§2.2"),
    use_when: "kernels are tested",
    cost: "That of ridge.",
    make: || Box::new(Looking::default()),
};

impl Params for Looking {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.ridge.visit(v);
    }
}

impl Machine for Looking {
    fn entry(&self) -> &'static MachineEntry {
        &LOOKING
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let kernel = task.kernel.as_ref().unwrap();
        assert_eq!(kernel.gram().shape(), task.gram.shape());
        assert_eq!(values(kernel.gram().as_ref()), values(task.gram.as_ref()));
        check(kernel.as_ref(), "inside a machine");
        SEEN.lock().unwrap().push(task.len());
        self.ridge.run(task, watch)
    }
}

#[test]
fn a_machine_meets_its_kernel_at_any_theta_also_where_examples_are_held_out() {
    let data = mixed(15).with_target(random(15, "target")).unwrap();
    let machine = Looking::default();
    let formula = 1.5 * rbf(0.4) + polynomial(2, 0.7).centre() + noise(0.2);
    Job::new(&machine, &formula).run(&data, &Silent).unwrap();
    let kernel = formula.similarity(&data).unwrap();
    let task =
        Task { kernel: Some(Arc::clone(&kernel)), target: data.target(), ..Task::new(Arc::clone(kernel.gram())) };
    let whole = machine.run(&task, &Silent).unwrap();
    mercer::resample::held_out_scores(&machine, &task, &whole, &[vec![0, 4, 9], vec![3, 14]], &Silent).unwrap();
    let mut seen = SEEN.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [12, 13, 15, 15]);
}

#[test]
fn wrong_numbers_get_a_sentence() {
    let data = mixed(6);
    let kernel = (2.0 * rbf(0.4) + noise(0.1)).similarity(&data).unwrap();
    let few = kernel.at(&[1.0]).err().unwrap().to_string();
    assert!(few.contains("3 real parameters") && few.contains("1 numbers"), "{few}");
    let wrong = kernel.at(&[1.0, -0.5, 0.1]).err().unwrap().to_string();
    assert_eq!(wrong, "rbf: gamma = -0.5 must be > 0");
    let shape = kernel.contract(&dense(vec![0.0; 4], 2, 2)).unwrap_err().to_string();
    assert!(shape.contains("2 × 2") && shape.contains("6 examples"), "{shape}");
}

#[test]
fn parameters_are_named_by_their_kernel_and_counted_where_it_occurs_again() {
    let formula = 2.0 * (rbf(0.5) * ard(&[1.0, 2.0]) + rbf(0.25).rbf(3.0)) + 0.5;
    let names: Vec<String> = formula.parameters().iter().map(ToString::to_string).collect();
    let wanted = [
        "scale.factor",
        "rbf[1].gamma",
        "ard.lengths[1]",
        "ard.lengths[2]",
        "rbf[2].gamma",
        "rbf[3].gamma",
        "constant.value",
    ];
    assert_eq!(names, wanted);
    let log: Vec<bool> =
        (rbf(0.5) + polynomial(2, 0.0) + noise(0.0)).parameters().iter().map(Parameter::log_scale).collect();
    // gamma of both, an offset that is zero, a variance that is zero
    assert_eq!(log, [true, true, false, false]);
    // whole numbers are settings
    let text =
        "wendland(smoothness=1, dimension=4, support=2)+diffusion(beta=0.5, categories=3)+matern(nu=1.5, length=2)";
    let formula: Formula = text.parse().unwrap();
    let names: Vec<String> = formula.parameters().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["wendland.support", "diffusion.beta", "matern.length"]);
    let waiting: Formula = "rbf(gamma=scale)".parse().unwrap();
    assert!(waiting.parameters()[0].value.is_nan());
}
