//! Bounds for votes of many classifiers, from the risks of one and of two drawn from them.
//!
//! # Source
//! Lacasse, Laviolette, Marchand, Germain & Usunier (2006) for the C-bound; Masegosa, Lorenzen, Igel & Seldin (2020) for the
//! tandem loss; Herbrich (2002), Lemma 5.3 for the factor |Y|.

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

/// 4 E[both of two err].
pub fn tandem(joint_error: f64) -> f64 {
    (4.0 * joint_error).min(1.0)
}
