//! Bounds for votes of many classifiers, from the risks of one and of two drawn from them.
//!
//! # Source
//! Lacasse, Laviolette, Marchand, Germain & Usunier (2006) for the C-bound; Masegosa, Lorenzen, Igel & Seldin (2020) for the
//! tandem loss; Herbrich (2002), Lemma 5.3 for the factor |Y|.

use super::theorem::{ALWAYS, Input, SHARE, Theorem};
use crate::sources::{HERBRICH, LACASSE, MASEGOSA, Source};

/// |Y| R_G: the vote errs only where at least one in |Y| errs.
pub fn gibbs_to_vote(gibbs: f64, classes: f64) -> f64 {
    (classes * gibbs).min(1.0)
}

/// 1 − (1 − 2 R_G)²/(1 − 2 d) for a Gibbs risk below ½ and the expected disagreement d of two; 1 otherwise.
pub fn c_bound(gibbs: f64, disagreement: f64) -> f64 {
    if gibbs >= 0.5 || disagreement >= 0.5 {
        return 1.0;
    }
    (1.0 - (1.0 - 2.0 * gibbs).powi(2) / (1.0 - 2.0 * disagreement)).clamp(0.0, 1.0)
}

/// Two classifiers that err with probability p(x) differ with probability 2p(1 − p), whose mean is at most 2 R_G(1 − R_G).
fn disagree_so_much(gibbs: f64, disagreement: f64) -> Result<(), String> {
    let most = 2.0 * gibbs * (1.0 - gibbs);
    if disagreement <= most + 1e-12 {
        return Ok(());
    }
    let most = (1e6 * most).round() / 1e6;
    Err(format!(
        "classifiers that err with probability {gibbs} differ with probability 2 · {gibbs} · (1 − {gibbs}) = {most} at most, and disagreement = {disagreement} is more; give a lower bound of the disagreement and an upper one of the risk"
    ))
}

/// 4 E[both of two err].
pub fn tandem(joint_error: f64) -> f64 {
    (4.0 * joint_error).min(1.0)
}

const GIBBS: Input = Input::number("gibbs", SHARE, "risk of one classifier drawn at random");

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[
    Theorem {
        name: "gibbs_to_vote",
        summary: "The risk of a vote from that of one classifier drawn from it",
        formula: "|Y| R_G",
        source: Source::new(&HERBRICH, "Lemma 5.3"),
        use_when: "nothing is known of how classifiers of a vote err together",
        inputs: &[GIBBS, Input::count("classes", 2.0, "number of classes")],
        example: (&[("gibbs", "0.1"), ("classes", "2")], 0.2),
        possible: ALWAYS,
        value: |g| gibbs_to_vote(g.number(0), g.number(1)),
    },
    Theorem {
        name: "c_bound",
        summary: "The risk of a vote from that of one classifier and the disagreement of two",
        formula: "1 − (1 − 2R_G)²/(1 − 2d)",
        source: Source::new(&LACASSE, "Thm. 2"),
        use_when: "the classifiers of a vote are weak and disagree, and risk and disagreement are known or bounded",
        inputs: &[
            Input::number("gibbs", SHARE, "risk of one classifier drawn at random, or an upper bound of it"),
            Input::number(
                "disagreement",
                SHARE,
                "probability d that two classifiers drawn at random differ, or a lower bound of it: an upper one proves nothing",
            ),
        ],
        example: (&[("gibbs", "0.3"), ("disagreement", "0.4")], 0.2),
        possible: |g| disagree_so_much(g.number(0), g.number(1)),
        value: |g| c_bound(g.number(0), g.number(1)),
    },
    Theorem {
        name: "tandem",
        summary: "The risk of a vote from how often two classifiers of it err on the same example",
        formula: "4 E[both of two err]",
        source: Source::new(&MASEGOSA, "Thm. 1"),
        use_when: "errors of the classifiers are nearly independent of one another",
        inputs: &[Input::number("joint_error", SHARE, "probability that two classifiers drawn at random both err")],
        example: (&[("joint_error", "0.04")], 0.16),
        possible: ALWAYS,
        value: |g| tandem(g.number(0)),
    },
];
