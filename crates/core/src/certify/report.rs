//! Certificates in words.

use super::Certified;
use crate::bounds::{Certificate, Quantity};

impl Certified {
    /// The best certificate as a sentence.
    pub fn sentence(&self) -> String {
        match self.best() {
            Some(best) => format!("{} ({}).", statement(best), best.bound),
            None => {
                let near = self.certificates.iter().filter(|c| c.vacuous).find_map(|c| {
                    c.examples_needed.and_then(|n| n.below_one).map(|m| (c.bound, m))
                });
                let more = near.map_or(String::new(), |(bound, m)| {
                    format!("; {bound} would say something from {m} examples on, at the same complexity")
                });
                format!("No certificate says anything about this model{more}. Held-out examples would.")
            }
        }
    }
}

/// What a high-probability certificate says.
pub(crate) fn statement(c: &Certificate) -> String {
    let percent = |v: f64| {
        let v = 100.0 * v;
        // rounded up, so that the sentence is never stronger than the theorem
        if v >= 0.1 { format!("{:.1} %", (v * 10.0).ceil() / 10.0) } else { format!("{v:.2e} %") }
    };
    let at_most = percent(c.value.unwrap_or(1.0));
    let sure = 100.0 * (1.0 - c.delta.unwrap_or(0.0));
    let sample = if c.bound.starts_with("held_out") { "held-out sample" } else { "training sample" };
    let what = match c.quantity {
        Quantity::TubeMisses => "of new values lie outside the tube",
        Quantity::NoveltyRate => "of new examples of the same kind are called novelties",
        Quantity::MarginViolation => "of new examples lie inside the margin or on the wrong side",
        Quantity::GibbsRisk => "of new examples are misclassified by a classifier drawn at random around the model",
        _ => "of new examples are misclassified",
    };
    format!("With probability {} % over the {sample}, at most {at_most} {what}", trim(sure))
}

fn trim(v: f64) -> String {
    let text = format!("{v:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
