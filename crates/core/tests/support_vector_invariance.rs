//! Changes that leave the decisions of a support vector machine as they are: order, names, copies, scales, threads, where it starts.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::expected::expected;
use crate::support::tools::{TIGHT, beta, everyone, objective, probes, same, trial};
use crate::support::trials::{Trial, fit_watched};
use crate::support::verdict::times;
use mercer::machines::Fitted;
use mercer::seed::Seed;
use mercer::watch::{Silent, Status};

#[test]
fn an_example_of_weight_two_is_two_examples() {
    if !expected(&["weights"]) {
        return;
    }
    for seed in 0..4 {
        let data = trial(24, 2, 600 + seed);
        let weights: Vec<f64> = (0..24).map(|i| [1.0, 2.0, 1.0, 3.0][i % 4]).collect();
        let repeated: Vec<usize> = (0..24).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let copies = data.select(&repeated);
        for (machine, settings) in everyone() {
            let settings = format!("{}; {TIGHT}", settings.replace("nu=0.4", "nu=0.25"));
            let (one, other) = (data.fit_weighted(machine, &settings, Some(&weights)), copies.fit(machine, &settings));
            let what = format!("{machine}: {settings}, seed {seed}");
            same(&data.scores(&one, &probes()), &copies.scores(&other, &probes()), 1e-5, &what);
            same(&[objective(&one)], &[objective(&other)], 1e-6, &what);
        }
    }
}

#[test]
fn an_example_of_weight_zero_is_none() {
    if !expected(&["weights"]) {
        return;
    }
    let data = trial(24, 2, 650);
    let weights: Vec<f64> = (0..24).map(|i| if i % 5 == 3 { 0.0 } else { 1.0 }).collect();
    let rest = data.select(&(0..24).filter(|i| i % 5 != 3).collect::<Vec<_>>());
    for (machine, settings) in everyone() {
        let settings = format!("{}; {TIGHT}", settings.replace("nu=0.4", "nu=0.25"));
        let (one, other) = (data.fit_weighted(machine, &settings, Some(&weights)), rest.fit(machine, &settings));
        same(&data.scores(&one, &probes()), &rest.scores(&other, &probes()), 1e-5, &format!("{machine}: {settings}"));
        assert!(one.expansion.points().iter().all(|&i| weights[i] > 0.0), "{machine}: {settings}");
    }
}

#[test]
fn the_order_of_examples_does_not_matter() {
    for seed in 0..4 {
        let data = trial(30, 3, 700 + seed);
        let mixed = data.select(&Seed(seed).stream("order").permutation(30));
        for (machine, settings) in everyone() {
            let settings = format!("{}; {TIGHT}", settings.replace("nu=0.4", "nu=0.25"));
            let (one, other) = (data.fit(machine, &settings), mixed.fit(machine, &settings));
            let what = format!("{machine}: {settings}, seed {seed}");
            same(&data.scores(&one, &probes()), &mixed.scores(&other, &probes()), 1e-5, &what);
            same(&[objective(&one)], &[objective(&other)], 1e-6, &what);
        }
    }
}

#[test]
fn swapped_labels_swap_the_sign() {
    let data = trial(30, 2, 750);
    let swapped = Trial {
        codes: data.codes.iter().map(|c| 1 - c).collect(),
        t: data.t.iter().map(|t| -t).collect(),
        ..data.clone()
    };
    for (machine, settings) in everyone() {
        if ["one_class", "svdd"].contains(&machine) {
            continue;
        }
        let settings = format!("{settings}; {TIGHT}");
        let (one, other) = (data.fit(machine, &settings), swapped.fit(machine, &settings));
        let turned: Vec<f64> = swapped.scores(&other, &probes()).iter().map(|f| -f).collect();
        same(&data.scores(&one, &probes()), &turned, 1e-5, &format!("{machine}: {settings}"));
    }
}

#[test]
fn a_kernel_times_s_with_the_price_over_s_decides_alike() {
    let data = trial(30, 2, 800);
    for s in [0.25, 4.0, 1024.0] {
        let larger = Trial { k: data.k.iter().map(|v| v * s).collect(), ..data.clone() };
        for (machine, settings) in everyone() {
            let priced = settings.replace("c=2", &format!("c={}", 2.0 / s));
            let one = data.fit(machine, &format!("{settings}; {TIGHT}"));
            let other = larger.fit(machine, &format!("{priced}; {TIGHT}"));
            // coefficients shrink as the kernel grows; a detector's multipliers stay and its scores grow
            let (scores, factor) = match machine {
                "one_class" | "svdd" => (s, 1.0),
                _ => (1.0, s),
            };
            let values: Vec<f64> = beta(&other, &data).iter().map(|b| b * factor).collect();
            let what = format!("{machine}: {settings}, s = {s}");
            same(&times(&data.k, &values), &times(&data.k, &beta(&one, &data)), 1e-5, &what);
            same(&[other.expansion.offsets[0] / scores], &[one.expansion.offsets[0]], 1e-5, &what);
        }
    }
}

#[test]
fn leaving_out_an_example_without_weight_changes_nothing() {
    for seed in 0..3 {
        let data = trial(24, 2, 900 + seed);
        for (machine, settings) in everyone() {
            // the other machines share out ν m, which changes with m
            if settings.contains("nu=") {
                continue;
            }
            let settings = format!("{settings}; {TIGHT}");
            let whole = data.fit(machine, &settings);
            let scores = data.scores(&whole, &probes());
            let mut left_out = 0;
            for i in (0..24).filter(|i| !whole.expansion.points().contains(i)) {
                let rest = data.select(&(0..24).filter(|&j| j != i).collect::<Vec<_>>());
                let again = rest.fit(machine, &settings);
                same(&rest.scores(&again, &probes()), &scores, 1e-5, &format!("{machine}: {settings}, without {i}"));
                left_out += 1;
            }
            // a squared loss may well use them all
            assert!(left_out > 0 || settings.contains("squared"), "{machine}: {settings}: every example has weight");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let data = trial(60, 3, 1300);
    for (machine, settings) in everyone() {
        let settings = settings.replace("nu=0.4", "nu=0.25");
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fitted = pool.install(|| data.fit(machine, &settings));
            let told = [fitted.report.objective, fitted.report.duality_gap, fitted.report.violation];
            (fitted.expansion, told.map(|v| v.map(f64::to_bits)), fitted.report.iterations)
        };
        let first = run(1);
        assert!(first == run(2) && first == run(3), "{machine}: {settings}");
    }
}

#[test]
fn a_start_from_another_price_ends_at_the_same_optimum() {
    if !expected(&["start"]) {
        return;
    }
    let data = trial(40, 3, 1400);
    let changes = [("c=2", "c=0.125"), ("c=2", "c=64"), ("nu=0.25", "nu=0.125"), ("epsilon=0.125", "epsilon=0.5")];
    for (machine, settings) in everyone() {
        let settings = settings.replace("nu=0.4", "nu=0.25");
        let target = data.target_of(machine);
        let cold = data.fit(machine, &format!("{settings}; {TIGHT}"));
        for (here, there) in changes.iter().filter(|(here, _)| settings.contains(here)) {
            let start = data.fit(machine, &format!("{}; {TIGHT}", settings.replace(here, there)));
            let again = |start: &Fitted| {
                let settings = format!("{settings}; {TIGHT}");
                fit_watched(machine, &settings, data.k.clone(), target.as_ref(), None, Some(start), &Silent).unwrap()
            };
            let warm = again(&start);
            let what = format!("{machine}: {settings} from {there}");
            assert_eq!(warm.report.status, Status::Converged, "{what}");
            same(&[objective(&warm)], &[objective(&cold)], 1e-6, &what);
            same(&data.scores(&warm, &probes()), &data.scores(&cold, &probes()), 1e-5, &what);
            // from its own end there is next to nothing left to do; machines with ν start afresh
            let still = again(&cold);
            assert!(
                settings.contains("nu=") || still.report.iterations <= cold.report.iterations / 2 + 2,
                "{what}: {} steps",
                still.report.iterations
            );
        }
    }
}

#[test]
fn a_start_that_does_not_fit_is_left_aside() {
    if !expected(&["start"]) {
        return;
    }
    let (data, other) = (trial(20, 2, 1500), trial(50, 3, 1501));
    for (machine, settings) in everyone() {
        let settings = settings.replace("nu=0.4", "nu=0.25");
        let target = data.target_of(machine);
        let cold = data.fit(machine, &settings);
        let start = other.fit(machine, &settings);
        // more examples, other classes: an answer all the same, or a sentence
        match fit_watched(machine, &settings, data.k.clone(), target.as_ref(), None, Some(&start), &Silent) {
            Ok(warm) => same(&[objective(&warm)], &[objective(&cold)], 1e-3, &format!("{machine}: {settings}")),
            Err(error) => assert!(error.to_string().contains(machine), "{error}"),
        }
    }
}
