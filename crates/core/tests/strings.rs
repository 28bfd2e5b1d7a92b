//! Kernels on strings from formula to model: explicit features are the kernel, what was learned on the training strings
//! belongs to the model, and the shares of positions add up to the score.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::data::Vectors;
use mercer::gram::fill;
use mercer::machines::classify::MarginLoss;
use mercer::prelude::*;
use mercer::watch::Silent;

/// Strings of two classes: the second holds a word that the first has not, here and there with a letter changed.
fn labelled(n: usize, seed: u64) -> (Vec<String>, Vec<&'static str>) {
    let mut random = Seed(seed).stream("strings");
    (0..n)
        .map(|i| {
            let mut letters: Vec<char> =
                (0..20 + random.below(20)).map(|_| ['A', 'C', 'G', 'T'][random.below(4)]).collect();
            if i % 2 == 1 {
                let at = random.below(letters.len() - 6);
                letters.splice(at..at + 6, "GATTACA".chars());
                letters[at + random.below(7)] = 'A';
            }
            if i % 7 == 3 {
                letters[5] = 'N';
            }
            (letters.into_iter().collect::<String>(), if i % 2 == 1 { "with" } else { "without" })
        })
        .unzip()
}

fn data(n: usize, seed: u64) -> Dataset {
    let (x, y) = labelled(n, seed);
    Dataset::new(x).with_target(Target::from_text("y", &y)).unwrap()
}

/// Messages of two kinds.
fn messages(n: usize, seed: u64) -> Dataset {
    let mut random = Seed(seed).stream("messages");
    let common = ["the", "you", "a", "is", "meeting", "home", "running", "now", "later", "and"];
    let mut line = |own: &[&str]| -> String {
        let mut word = || if random.below(3) == 0 { own[random.below(own.len())] } else { common[random.below(10)] };
        (0..9).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    let x: Vec<String> =
        (0..n)
            .map(|i| {
                if i % 2 == 0 { line(&["prize", "Winner", "free", "claims"]) } else { line(&["lunch", "love", "kids"]) }
            })
            .collect();
    let y: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "spam" } else { "ham" }).collect();
    Dataset::new(x).with_target(Target::from_text("y", &y)).unwrap()
}

const ON_DNA: [&str; 6] = [
    "spectrum(length=4)",
    "normalise(spectrum(length=3))",
    "0.5*blended_spectrum(length=4, decay=0.7)",
    "normalise(2*mismatch(length=4, mismatches=1))",
    "mismatch(length=3, mismatches=1, alphabet=dna)",
    "3*normalise(exact_match)",
];
const ON_WORDS: [&str; 5] = [
    "normalise(latent_semantic(rank=4, weighting=tfidf))",
    "bag_of_words",
    "normalise(bag_of_words(weighting=tfidf, stem=english, stop_words=english))",
    "2*bag_of_words(weighting=log, ngram=2)",
    "normalise(0.25*bag_of_words(weighting=binary))",
];

/// Every formula with its training and its new examples.
fn cases() -> Vec<(Formula, Dataset, Dataset)> {
    let on_dna = ON_DNA.iter().map(|f| (f.parse().unwrap(), data(60, 1), data(25, 2)));
    let on_words = ON_WORDS.iter().map(|f| (f.parse().unwrap(), messages(60, 1), messages(25, 2)));
    on_dna.chain(on_words).collect()
}

fn assert_near(got: &[f64], wanted: &[f64], tolerance: f64, context: &str) {
    assert_eq!(got.len(), wanted.len(), "{context}");
    for (g, w) in got.iter().zip(wanted) {
        assert!((g - w).abs() <= tolerance * (1.0 + w.abs()), "{context}: {g} instead of {w}");
    }
}

#[test]
fn explicit_features_are_the_kernel() {
    for (formula, training, new) in cases() {
        let resolved = formula.resolve(&training, Seed(1)).unwrap();
        let (Vectors::Sparse(x), scale) = resolved.features(&new).unwrap() else { panic!("{formula} is not sparse") };
        let (Vectors::Sparse(z), again) = resolved.features(&training).unwrap() else { panic!("{formula}") };
        assert_eq!(scale, again);
        let cross = resolved.cross(&new, &training).unwrap();
        let mut wanted = vec![0.0; 25 * 60];
        fill(cross.as_ref(), &mut wanted);
        let dense = |row: &[mercer::data::Coordinate<f64>]| {
            let mut all = vec![0.0; x.width().max(z.width())];
            row.iter().for_each(|c| all[c.index as usize] = c.value);
            all
        };
        for i in 0..25 {
            let left = dense(x.row(i));
            let line: Vec<f64> = (0..60)
                .map(|j| scale * z.row(j).iter().map(|c| c.value * left[c.index as usize]).sum::<f64>())
                .collect();
            assert_near(&line, &wanted[i * 60..(i + 1) * 60], 1e-12, &formula.to_string());
        }
    }
    let none: Formula = "subsequence(length=2)".parse().unwrap();
    assert!(none.features(&data(5, 1)).is_none());
}

#[test]
fn linear_machines_on_strings_are_those_on_the_matrix() {
    // without a bias both solve the same problem
    for (formula, training, new) in cases() {
        let linear = LinearSvc {
            loss: MarginLoss::Hinge,
            bias: false,
            tolerance: 1e-10,
            max_iterations: 0,
            ..LinearSvc::default()
        };
        let dual = Svc { bias: false, effort: Effort { tolerance: 1e-9, ..Effort::default() }, ..Svc::default() };
        let (linear, dual) = (linear.fit(&formula, &training).unwrap(), dual.fit(&formula, &training).unwrap());
        assert!(linear.examples().is_empty(), "no example is kept");
        let (a, b) = (linear.scores(&new).unwrap(), dual.scores(&new).unwrap());
        assert_near(&a, &b, 1e-3, &formula.to_string());
    }
}

#[test]
fn saved_models_predict_with_what_was_learned_in_training() {
    for (formula, training, new) in cases() {
        for machine in ["svc", "linear_svc"] {
            let made = (mercer::machines::find(machine).unwrap().make)();
            let model = Job::new(made.as_ref(), &formula).run(&training, &Silent).unwrap();
            let bytes = model.to_bytes().unwrap();
            let read = Model::from_bytes(&bytes, "model").unwrap();
            assert_eq!(model.kernel().state(), read.kernel().state());
            let scores = model.scores(&new).unwrap();
            assert_eq!(scores, read.scores(&new).unwrap(), "{formula}");
            // new examples one by one: nothing is learned from them
            for i in 0..new.len() {
                let alone = read.scores(&new.select(&[i])).unwrap();
                assert_near(&alone, &scores[i..=i], 1e-12, &formula.to_string());
            }
            assert_eq!(bytes, read.to_bytes().unwrap(), "{formula}");
        }
    }
}

#[test]
fn shares_of_positions_add_up_to_the_score() {
    let mut all = cases();
    for formula in ["normalise(weighted_degree(degree=5))", "weighted_degree_shifts(degree=3, shift=2)"] {
        all.push((formula.parse().unwrap(), data(60, 1), data(25, 2)));
    }
    for (formula, training, new) in all {
        for machine in ["svc", "linear_svc", "ridge"] {
            let made = (mercer::machines::find(machine).unwrap().make)();
            let numbers: Vec<f64> = (0..training.len()).map(|i| (i % 5) as f64).collect();
            let set = if machine == "ridge" {
                training.clone().without_target().with_target(Target::from(numbers)).unwrap()
            } else {
                training.clone()
            };
            let model = match Job::new(made.as_ref(), &formula).run(&set, &Silent) {
                Ok(model) => model,
                // weighted degree kernels have no explicit features
                Err(_) if machine == "linear_svc" && formula.to_string().contains("degree") => continue,
                Err(e) => panic!("{formula}: {e}"),
            };
            let scores = model.scores(&new).unwrap();
            for i in 0..new.len() {
                let profile = model.profile(&new, i).unwrap();
                let sum: f64 = profile.iter().sum();
                assert_near(
                    &[sum],
                    &[scores[i] - model.fitted().expansion.offsets[0]],
                    1e-9,
                    &format!("{formula} {machine}"),
                );
            }
        }
    }
}

#[test]
fn a_profile_points_at_what_decides() {
    let training = data(200, 3);
    let model = LinearSvc::default().fit(&"spectrum(length=4)".parse().unwrap(), &training).unwrap();
    let new = Dataset::new(vec!["CCCCCCCCCCCCGATTACACCCCCCCCCC".to_owned(), "CCC".to_owned()]);
    let profile = model.profile(&new, 0).unwrap();
    let sign = if model.predict(&new).unwrap().labels()[0] == "with" { profile[15].signum() } else { panic!("missed") };
    let (inside, outside) = (profile[12..19].iter().sum::<f64>(), profile[..8].iter().sum::<f64>());
    assert!(sign * inside > 3.0 * (sign * outside).abs(), "{profile:?}");
    assert_eq!(model.profile(&new, 1).unwrap(), [0.0; 3], "shorter than a piece");
    assert!(model.profile(&new, 2).is_err());
    let vectors = Dataset::new(Rows::from_vectors(&[[0.0, 1.0], [1.0, 0.0]]).unwrap());
    let vectors = vectors.with_target(Target::from_text("y", &["a", "b"])).unwrap();
    let model = Svc::default().fit(&linear(), &vectors).unwrap();
    assert!(model.profile(&vectors, 0).unwrap_err().to_string().contains("positions"));
}
