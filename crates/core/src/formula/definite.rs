//! The signs of the eigenvalues of a formula's matrices, as far as they are known.
//!
//! # Source
//! Herbrich (2002), Thm. 2.20 and Cor. 2.21 for positive definite parts; Schölkopf & Smola (2002), §2.4 for conditionally
//! positive definite ones: centring makes them definite, and so do exp(t κ) and distances (Schoenberg).

use super::{Formula, Node};
use crate::kernels::Definite;

impl Formula {
    /// The definiteness of its matrices, by the rules of closure.
    pub fn definite(&self) -> Definite {
        of(&self.0)
    }
}

fn of(node: &Node) -> Definite {
    use Definite::{Conditionally, Indefinite, Positive};
    match node {
        Node::Kernel(bound) => bound.kernel.entry().definite,
        Node::Constant(c) if *c >= 0.0 => Positive,
        // centring takes any constant away
        Node::Constant(_) => Conditionally,
        Node::Sum(terms) => {
            let parts: Vec<Definite> = terms.iter().map(of).collect();
            if parts.contains(&Indefinite) {
                Indefinite
            } else if parts.contains(&Conditionally) {
                Conditionally
            } else {
                Positive
            }
        }
        Node::Product(factors) => {
            if factors.iter().all(|f| of(f) == Positive) {
                Positive
            } else {
                Indefinite
            }
        }
        Node::Scaled(c, inner) if *c >= 0.0 => of(inner),
        Node::Scaled(..) => Indefinite,
        Node::Power(inner, _) | Node::Normalise(inner) | Node::Nystrom(inner, ..) => {
            if of(inner) == Positive {
                Positive
            } else {
                Indefinite
            }
        }
        // sums and products of definite matrices; of the others only their multiples, shifted
        Node::Series(inner, coefficients) => match (of(inner), coefficients.as_slice()) {
            (_, all) if all.iter().skip(1).any(|a| *a < 0.0) => Indefinite,
            (Positive, [shift, ..]) if *shift < 0.0 => Conditionally,
            (Positive, _) => Positive,
            (Conditionally, [_, _]) => Conditionally,
            _ => Indefinite,
        },
        // the weights of members add up to zero where those of their sets do, if every set has the weight of its mean
        Node::Set(inner, members) => match of(inner) {
            Conditionally if !members.mean => Indefinite,
            known => known,
        },
        Node::Exp(inner) | Node::Centre(inner, _) | Node::Radial(inner, _) => match of(inner) {
            Positive | Conditionally => Positive,
            Indefinite => Indefinite,
        },
    }
}
