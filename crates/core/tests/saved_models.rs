//! Models that were saved and read again predict bit for bit the same; what cannot be learned is refused in words.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::data::{DataError, Values};
use mercer::gram::{Budget, fill};
use mercer::linalg::SolveError;
use mercer::machines::reduce::PcaSolver;
use mercer::machines::regress::RidgeSolver;
use mercer::machines::{FitError, Learns, Machine};
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::watch::Silent;
use mercer::{Error, machines};

/// Examples with a view of vectors and one of strings, and new ones of the same kind.
fn examples(n: usize, seed: u64) -> (Rows<f64>, Vec<String>, Vec<String>, Vec<f64>) {
    let mut random = Seed(seed).stream("examples");
    let x: Vec<f64> = (0..n * 3).map(|_| if random.uniform() < 0.3 { 0.0 } else { random.normal().abs() }).collect();
    let strings = (0..n).map(|_| (0..9).map(|_| ["A", "C", "gé"][random.below(3)]).collect()).collect();
    let labels =
        (0..n).map(|i| ["low", "mid", "high"][((x[i * 3] + 0.3 * random.uniform()) * 1.5) as usize % 3].to_owned());
    let labels = labels.collect();
    let numbers = (0..n).map(|i| x[i * 3] - x[i * 3 + 1] + 0.1 * random.normal()).collect();
    (Rows::new(x, n, 3).unwrap(), strings, labels, numbers)
}

/// The matrix of a formula between new and old examples, as data for the precomputed kernel.
fn stored(kernel: &Formula, new: &Dataset, old: &Dataset) -> Dataset {
    let gram = if std::ptr::eq(new, old) { kernel.gram(old).unwrap() } else { kernel.cross(new, old).unwrap() };
    let mut values = vec![0.0; new.len() * old.len()];
    fill(gram.as_ref(), &mut values);
    Dataset::new(Rows::new(values, new.len(), old.len()).unwrap())
}

#[test]
fn every_machine_with_every_kind_of_data_survives_its_file() {
    let ((x, s, labels, numbers), (z, t, ..)) = (examples(60, 1), examples(25, 2));
    let dense = |r: &Rows<f64>| Dataset::new(r.clone());
    let single = |r: &Rows<f64>| Dataset::new(r.convert::<f32>());
    let sparse = |r: &Rows<f64>| Dataset::new(SparseRows::from_dense(r));
    let sparse32 = |r: &Rows<f64>| Dataset::new(SparseRows::from_dense(r).convert::<f32>());
    let text = |s: &Vec<String>| Dataset::new(s.clone());
    let words = |s: &Vec<String>| Dataset::new(s.iter().map(|s| s.replace('A', " ")).collect::<Vec<_>>());
    let gappy = |r: &Rows<f64>| {
        let mut gaps = r.values().to_vec();
        gaps.iter_mut().skip(1).step_by(7).for_each(|v| *v = f64::NAN);
        Dataset::new(Rows::new(gaps, r.len(), 3).unwrap())
    };
    let both = |r: &Rows<f64>, s: &Vec<String>| dense(r).with_view("title", s.clone()).unwrap();
    let cases: Vec<(&str, Dataset, Dataset)> = vec![
        ("rbf(gamma=scale)", dense(&x), dense(&z)),
        ("rbf(gamma=median)", single(&x), single(&z)),
        ("linear", dense(&x), dense(&z)),
        ("linear", sparse(&x), sparse(&z)),
        ("0.25*linear", single(&x), single(&z)),
        ("laplacian(gamma=0.5) + chi2", sparse32(&x), sparse32(&z)),
        ("centre(rbf(gamma=0.3))", dense(&x), dense(&z)),
        ("centre(polynomial(degree=2)) + centre(normalise(linear))", sparse(&x), sparse(&z)),
        ("rbf(normalise(linear), gamma=scale)", dense(&x), dense(&z)),
        ("ard(lengths=[0.5, 1, 2]) * matern(nu=1.5) + noise(0.1)", dense(&x), dense(&z)),
        ("mahalanobis(metric=inverse_covariance, length=2)", dense(&x), dense(&z)),
        ("series(linear, [1, 0.5, 0.25])", sparse(&x), sparse(&z)),
        ("set(rbf(gamma=scale), columns=1, mean=true)", gappy(&x), gappy(&z)),
        ("rbf(set(spectrum(1), separator=\"A\"), gamma=scale)", text(&s), text(&t)),
        ("normalise(co_occurrence(weighting=tfidf))", words(&s), words(&t)),
        ("normalise(spectrum(2))", text(&s), text(&t)),
        ("centre(subsequence(2, 0.5))", text(&s), text(&t)),
        ("rbf(gamma=0.5)@x + 0.1*normalise(spectrum(2))@title", both(&x, &s), both(&z, &t)),
        ("rbf(gamma=0.5)@x * normalise(spectrum(2))@title", both(&x, &s), both(&z, &t)),
        ("precomputed", stored(&rbf(0.4), &dense(&x), &dense(&x)), stored(&rbf(0.4), &dense(&z), &dense(&x))),
        ("centre(precomputed)", stored(&rbf(0.4), &dense(&x), &dense(&x)), stored(&rbf(0.4), &dense(&z), &dense(&x))),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.model");
    for (formula, training, new) in cases {
        let kernel: Formula = formula.parse().unwrap();
        for entry in machines::all() {
            let what = format!("{} with {formula}", entry.name);
            let data = match entry.learns {
                Learns::Classes => training.clone().with_target(Target::from(labels.clone())).unwrap(),
                Learns::Numbers => training.clone().with_target(Target::from(numbers.clone())).unwrap(),
                Learns::Unsupervised => training.clone(),
            };
            let mut machine = (entry.make)();
            if entry.name == "nu_svc" {
                // half of the examples may lie outside the margin only where the classes are even
                assign("nu_svc", machine.as_mut(), "nu", &Setting::Number(0.2)).unwrap();
            }
            if entry.name == "lp_boost" {
                // some of these kernels get fewer than half of the examples right
                assign("lp_boost", machine.as_mut(), "nu", &Setting::Number(0.95)).unwrap();
            }
            if matches!(entry.name, "linear_fisher" | "quadratic_discriminant") {
                // words are more than examples, so their covariance is singular
                assign(entry.name, machine.as_mut(), "gamma", &Setting::Number(0.1)).unwrap();
            }
            let model = match Job::new(machine.as_ref(), &kernel).run(&data, &Silent) {
                // linear machines want features, and say so where there are none
                Err(Error::Fit(FitError::NoFeatures { .. })) => {
                    assert!(
                        !machine.traits().wants_matrix() && !formula.trim_start_matches("0.25*").eq("linear"),
                        "{what}"
                    );
                    continue;
                }
                // edges cannot weigh less than nothing
                Err(Error::Fit(FitError::Param { finding, .. })) if entry.name == "spectral_clustering" => {
                    assert!(finding.contains("never negative"), "{what}: {finding}");
                    continue;
                }
                other => other.unwrap_or_else(|e| panic!("{what}: {e}")),
            };
            if matches!(entry.name, "svdd" | "centre_of_mass") && formula.contains("precomputed") {
                let said = model.scores(&new).unwrap_err().to_string();
                assert!(said.contains("use one_class"), "{said}");
                continue;
            }
            let bits = |m: &Model| m.scores(&new).unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            let wanted = bits(&model);
            assert!(wanted.iter().all(|&b| f64::from_bits(b).is_finite()), "{what}");
            assert!(wanted.iter().any(|&b| f64::from_bits(b) != f64::from_bits(wanted[0])), "{what}: all alike");
            let bytes = model.to_bytes().unwrap();
            let read = Model::from_bytes(&bytes, "a.model").unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(bits(&read) == wanted, "{what}: predictions changed");
            assert_eq!(read.predict(&new).unwrap(), model.predict(&new).unwrap(), "{what}");
            assert_eq!(
                (&read.machine(), &read.settings(), &read.kernel()),
                (&model.machine(), &model.settings(), &model.kernel())
            );
            assert_eq!((&read.fitted().report, read.trained_on()), (&model.fitted().report, 60), "{what}");
            assert!(read.to_bytes().unwrap() == bytes, "{what}: writing again gives another file");
            model.save(&path).unwrap();
            assert!(std::fs::read(&path).unwrap() == bytes, "{what}");
            assert!(bits(&Model::load(&path).unwrap()) == wanted, "{what}");
        }
    }
}

#[test]
fn precomputed_values_give_the_machine_of_their_kernel() {
    let ((x, _, labels, numbers), (z, ..)) = (examples(50, 3), examples(20, 4));
    let (x, z) = (Dataset::new(x), Dataset::new(z));
    let (k, cross) = (stored(&rbf(0.4), &x, &x), stored(&rbf(0.4), &z, &x));
    for (machine, target) in
        [(&Svc::default() as &dyn Machine, Target::from(labels)), (&Ridge::default(), Target::from(numbers))]
    {
        let fit = |kernel: &Formula, data: &Dataset| {
            let data = data.clone().with_target(target.clone()).unwrap();
            Job::new(machine, kernel).run(&data, &Silent).unwrap()
        };
        let (a, b) = (fit(&rbf(0.4), &x).scores(&z).unwrap(), fit(&precomputed(), &k).scores(&cross).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 2e-3), "{}", machine.entry().name);
        let model = fit(&precomputed(), &k);
        assert!(matches!(model.examples().views()[0].values, Values::Index(_)), "no rows of the matrix are kept");
    }
}

#[test]
fn points_in_another_order_than_the_examples_keep_their_weights_where_all_examples_are_kept() {
    // a kernel centred in feature space keeps all examples; classes of one size at a low price all carry weight, class by class
    let labels: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
    let data = Dataset::new(examples(40, 5).0).with_target(Target::from_text("y", &labels)).unwrap();
    let model = Svc { c: 1e-3, ..Svc::default() }.fit(&"centre(rbf(gamma=3))".parse().unwrap(), &data).unwrap();
    let points = model.fitted().expansion.points();
    assert!(points.len() == 40 && !points.is_sorted());
    let every: Vec<usize> = (0..40).collect();
    let cross = model.kernel().cross(&data, model.examples()).unwrap().restrict(&every, points);
    let wanted = model.fitted().expansion.scores(cross.as_ref());
    let found = model.scores(&data).unwrap();
    assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {wanted:?}");
}

fn error(machine: &dyn Machine, kernel: &Formula, data: &Dataset, budget: Budget) -> Error {
    let job = Job { budget, ..Job::new(machine, kernel) };
    job.run(data, &Silent).err().unwrap_or_else(|| panic!("{} learned", machine.entry().name))
}

#[test]
fn targets_that_do_not_fit_are_refused_in_words() {
    let x = Rows::from_vectors(&[[0.0], [1.0], [2.0]]).unwrap();
    let data = Dataset::new(x);
    let with = |t: Target| data.clone().with_target(t).unwrap();
    let words = with(Target::from_text("size", &["small", "large", "small"]));
    let refused = |machine: &dyn Machine, data: &Dataset| match error(machine, &rbf(1.0), data, Budget::default()) {
        Error::Fit(FitError::Target { error, .. }) => error,
        other => panic!("{other}"),
    };
    assert!(matches!(refused(&Ridge::default(), &words), DataError::NotNumeric { .. }));
    let missing = with(Target::from(vec![1.0, f64::NAN, 2.0]));
    assert!(refused(&Ridge::default(), &missing).to_string().contains("example 2"));
    let empty =
        Dataset::new(Rows::<f64>::new(Vec::new(), 0, 2).unwrap()).with_target(Target::from(Vec::<f64>::new())).unwrap();
    for entry in machines::all() {
        let machine = (entry.make)();
        let found = refused(machine.as_ref(), &empty);
        assert!(matches!(found, DataError::Empty { .. }), "{}: {found}", entry.name);
        if entry.learns != Learns::Unsupervised {
            assert!(matches!(refused(machine.as_ref(), &data), DataError::NoTarget), "{}", entry.name);
        }
        if entry.learns == Learns::Classes {
            let found = refused(machine.as_ref(), &with(Target::from_text("y", &["a", "a", "a"])));
            assert!(matches!(&found, DataError::OneClass { label } if label == "a"), "{}: {found}", entry.name);
            let two = Target::from(vec![1.0, 2.0, 3.0]).beside(Target::from(vec![1.0, 2.0, 3.0])).unwrap();
            assert!(
                matches!(refused(machine.as_ref(), &with(two)), DataError::ManyTargets { got: 2 }),
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn a_matrix_that_does_not_fit_the_memory_is_refused_or_streamed() {
    // 100 000 examples: the matrix alone would take 80 GB, so an allocation before the check could not pass unseen
    let n = 100_000;
    let data = Dataset::new(Rows::new((0..n).map(|i| f64::from(i).sin()).collect(), n as usize, 1).unwrap());
    let data = data.with_target(Target::from((0..n).map(f64::from).collect::<Vec<_>>())).unwrap();
    let budget = Budget { memory: 100 << 20 };
    for machine in [
        &Ridge { solver: RidgeSolver::Cholesky, ..Ridge::default() } as &dyn Machine,
        &Ridge { solver: RidgeSolver::Eigen, ..Ridge::default() },
        &KernelPca { solver: PcaSolver::Full, ..KernelPca::default() },
    ] {
        match error(machine, &rbf(1.0), &data, budget) {
            Error::Fit(FitError::Budget(e)) => assert!(e.needed >= 8 * 10_000_000_000 && e.budget == 100 << 20, "{e}"),
            other => panic!("{other}"),
        }
    }
    // small data under a small budget: streaming gives what storing gives
    let few = data.select(&(0..300).collect::<Vec<_>>());
    let job = |memory: usize| {
        let machine = Ridge { tolerance: 1e-12, ..Ridge::default() };
        let kernel = rbf(1.0);
        Job { budget: Budget { memory }, ..Job::new(&machine, &kernel) }.run(&few, &Silent).unwrap()
    };
    let (streamed, held) = (job(1000), job(1 << 30));
    assert_eq!(streamed.fitted().report.storage, "kernel matrix streamed");
    let (a, b) = (streamed.scores(&few).unwrap(), held.scores(&few).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "streamed is stored");
}

#[test]
fn kernel_values_beyond_the_range_of_numbers_are_an_error_of_every_machine() {
    let data = Dataset::new(Rows::from_vectors(&[[1e9], [-1e9], [2e9], [3.0]]).unwrap());
    let data = data.with_target(Target::from(vec![1.0, 2.0, 1.0, 2.0])).unwrap();
    for entry in machines::all().filter(|entry| (entry.make)().traits().wants_matrix()) {
        let machine = (entry.make)();
        for kernel in [polynomial(60, 1.0), polynomial(61, 0.0), linear().exp()] {
            match error(machine.as_ref(), &kernel, &data, Budget::default()) {
                Error::Fit(FitError::Solve { error: SolveError::NotFinite { row, column }, .. }) => {
                    assert!((1..=4).contains(&row) && (1..=4).contains(&column));
                }
                other => panic!("{} with {kernel}: {other}", entry.name),
            }
        }
    }
}
