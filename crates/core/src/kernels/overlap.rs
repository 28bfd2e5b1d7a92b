//! The overlap of spans: a kernel for tests, which shows what a kernel on a kind of data without storage of its own needs.

use super::{Definite, Domain, ItemKernel, Kernel, KernelEntry, OnItems};
use crate::data::Kind;
use crate::data::kinds::span::{self, Span};
use crate::params::{Params, Rule, Visit};
use crate::sources::{KMPA, Source};

/// κ(a, b) = w |a ∩ b|, the inner product of indicators times w.
#[derive(Clone, Debug)]
struct Overlap {
    /// w.
    weight: f64,
}

impl Params for Overlap {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("weight", &mut self.weight, Rule::Above(0.0), "what a shared number counts");
    }
}

impl Kernel<Span> for Overlap {
    fn eval(&self, x: &Span, y: &Span) -> f64 {
        self.weight * (x.last.min(y.last) - x.first.max(y.first) + 1).max(0) as f64
    }
}

impl ItemKernel for Overlap {
    type Item = Span;

    fn entry() -> &'static KernelEntry {
        &KERNEL
    }
}

/// The catalogue's entry.
pub(super) static KERNEL: KernelEntry = KernelEntry {
    name: "overlap",
    aliases: &[],
    formula: "w |a ∩ b|",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Other(&span::KIND),
    source: Source::new(&KMPA, "chapter 9, the intersection kernel"),
    use_when: "spans are alike when they share numbers",
    cost: "A few operations for each pair.",
    make: || Box::new(OnItems(Overlap { weight: 1.0 })),
};
