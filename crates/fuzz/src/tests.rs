//! A short campaign for each target, and that a campaign sees what it is to see.

use crate::campaign::Campaign;
use crate::targets::{BUDGET, Input, TARGETS, Target, find};
use crate::trial::{Fault, Outcome, hear_panics, observe};
use mercer::data::read::{FORMATS, ReadOptions, read_bytes};
use mercer::memory::{Budget, set_default};
use mercer::seed::Seed;

/// Everything on the present thread, whose memory is counted.
fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    set_default(Budget { memory: BUDGET });
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(work)
}

#[test]
fn a_few_thousand_inputs_of_every_target_are_read_or_refused() {
    for target in TARGETS {
        alone(|| {
            let inputs = if target.name == "model" { 3000 } else { 4000 };
            let mut campaign = Campaign::new(target, Seed(1)).unwrap();
            while campaign.counts.inputs < inputs {
                campaign.prepare();
                if let Some(finding) = campaign.run().filter(|finding| finding.fault != Fault::Slow) {
                    panic!("{}: {:?} {}: {:?}", target.name, finding.fault, finding.said, finding.input);
                }
            }
            let counts = campaign.counts;
            assert!(
                counts.accepted > inputs / 50 && counts.refused > inputs / 50 && counts.outcomes > 10,
                "{}: {counts:?} is too tame or too wild",
                target.name
            );
        });
    }
}

#[test]
fn every_format_has_a_target_whose_seeds_are_read() {
    let compiled = ["parquet", "arrow"];
    for format in FORMATS.iter().filter(|format| !compiled.contains(&format.name)) {
        let target = find(format.name).unwrap_or_else(|| panic!("{} has no target in targets.rs", format.name));
        // a seed may be refused: what is nearly right is worth changing, too
        let seeds = target.corpus().unwrap();
        let read = seeds.iter().filter_map(|s| read_bytes(&s.name, &s.bytes, &ReadOptions::default()).ok());
        let formats: Vec<&str> = read.map(|table| table.format).collect();
        assert!(
            2 * formats.len() >= seeds.len(),
            "{}: {} of {} seeds are read",
            format.name,
            formats.len(),
            seeds.len()
        );
        assert!(formats.contains(&format.name), "{} has no seed", format.name);
    }
    for target in TARGETS {
        let seeds = target.corpus().unwrap();
        let read = seeds.iter().filter(|Input { name, bytes }| (target.run)(name, bytes).accepted).count();
        assert!(2 * read >= seeds.len() && read > 0, "{}: {read} of {} seeds are read", target.name, seeds.len());
    }
}

#[test]
fn a_campaign_sees_panics_and_memory() {
    fn run(_: &str, bytes: &[u8]) -> Outcome {
        assert!(!bytes.starts_with(b"p"), "the law is broken");
        let held = vec![1_u8; bytes.len() << 20];
        Outcome { accepted: held.len() > 1, words: "read".to_owned() }
    }
    let target = Target { name: "made up", run, room: |_| 4 << 20, ..*find("csv").unwrap() };
    hear_panics();
    let fault = |bytes: &[u8]| observe(&target, "x", bytes).fault;
    let panicked = fault(b"p");
    let _ = std::panic::take_hook();
    let (kind, said) = panicked.unwrap();
    assert!(kind == Fault::Panic && said.contains("the law is broken") && said.contains("tests.rs"), "{said}");
    assert_eq!(fault(b"abc"), None);
    assert_eq!(fault(b"abcde").map(|(kind, _)| kind), Some(Fault::Large));
}

#[test]
fn campaigns_of_one_seed_are_the_same() {
    let counts = |seed| {
        let mut campaign = Campaign::new(find("libsvm").unwrap(), Seed(seed)).unwrap();
        let made: Vec<Vec<u8>> = (0..300)
            .map(|_| {
                let made = campaign.prepare().bytes.clone();
                campaign.run();
                made
            })
            .collect();
        made
    };
    assert!(counts(3) == counts(3) && counts(3) != counts(4));
}
