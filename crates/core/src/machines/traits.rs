//! Traits of a machine: the facts that jobs, searches, certificates and the surfaces rely on. Each machine declares its own in its own
//! file, and nobody asks for the name of a machine.

use super::{Fitted, Theory};
use std::cmp::Ordering;

/// Facts about a machine with its parameters. The default is a machine that asks for blocks of the kernel matrix and takes nothing
/// but examples and target.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "declarations that do not depend on each other")]
pub struct Traits {
    /// The form in which it reads the kernel.
    pub reads: Reads,
    /// True if it takes weights of examples; other machines refuse them rather than ignore them.
    pub weights: bool,
    /// True if it learns from auxiliary examples: noise, transformed copies, points of an expansion.
    pub auxiliary: bool,
    /// True if it answers requests to leave one example out ([`HeldOutRequest`](super::HeldOutRequest)) for no more than a few fits, at
    /// least on some tasks; only such machines are asked.
    pub leaves_one_out: bool,
    /// λ of a fit that is (K + λ1) α = Y whatever the examples and their number, of which a [`Smoother`](super::Smoother) can be made;
    /// or, where a parameter makes it another kind of fit, why. `None` for other machines.
    pub smoother: Option<Result<f64, &'static str>>,
    /// The part that the order of the examples has in a fit.
    pub order: Order,
    /// True if its function of numbers has no offset, so that it falls to zero wherever the kernel does.
    pub without_offset: bool,
    /// The kernel matrices it can work with, by their eigenvalues.
    pub tolerates: Tolerates,
    /// The parameter along which a fit is a good start for the next, in rising order.
    pub path: Option<Path>,
    /// Parameters by which a fit is more regularised, the weightiest first, and whether smaller (`Less`) or larger (`Greater`) values
    /// are the more regularised ones.
    pub regularised_by: &'static [(&'static str, Ordering)],
    /// The values that a search tries where no grid is given, in the language of grids, `c=0.1..1000:log5`; empty where there is nothing to
    /// choose.
    pub searched: &'static str,
    /// The level that predicted numbers stand for, with its name: 0.9 and "quantile".
    pub level: Option<(f64, &'static str)>,
    /// True if it weighs the errors of classes differently: then the predicted label need not be the most probable one.
    pub weighs_classes: bool,
    /// The assumptions that learning theory may make of it; certificates rest on them.
    pub theory: Theory,
}

/// Forms in which a machine reads the kernel. Matrices that are stored for many fits are stored in that form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Row by row in f32.
    Rows,
    /// In blocks of f64, which it may keep.
    Blocks,
    /// Explicit features only: no kernel value is ever asked for.
    Features,
}

/// Kernel matrices that a machine can work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerates {
    /// Matrices without negative eigenvalues: with others its problem may have no minimum.
    Definite,
    /// Also matrices without negative eigenvalues once they are centred: a bias or a centre makes the machine independent of the origin.
    ConditionallyDefinite,
    /// All, though what is promised of it was proven for matrices without negative eigenvalues: it minimises nothing that would have no
    /// minimum with others, but depends on the origin.
    WithoutTheory,
    /// All: kernel values are coordinates like any others.
    Any,
}

impl Tolerates {
    /// The matrices of a machine that minimises a loss and ‖w‖²: an offset that is free makes the multipliers sum to zero, so that the
    /// origin does not matter.
    pub fn with_offset(bias: bool) -> Self {
        if bias { Self::ConditionallyDefinite } else { Self::Definite }
    }
}

/// The part that the order of the examples has in a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// None, but for ties and the tolerance of the solver.
    Irrelevant,
    /// Another order gives another fit: theorems about exchanging examples with one another do not hold for it.
    Matters,
}

/// A parameter along which fits start from one another.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The name of the parameter.
    pub parameter: &'static str,
    /// True if the solution is unchanged for every larger value (no multiplier is at its bound).
    pub is_final: fn(&Fitted) -> bool,
}

impl Path {
    /// A path on which every value has a solution of its own.
    pub fn along(parameter: &'static str) -> Self {
        Self { parameter, is_final: |_| false }
    }
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            reads: Reads::Blocks,
            weights: false,
            auxiliary: false,
            leaves_one_out: false,
            smoother: None,
            order: Order::Irrelevant,
            without_offset: false,
            tolerates: Tolerates::Definite,
            path: None,
            regularised_by: &[],
            searched: "",
            level: None,
            weighs_classes: false,
            theory: Theory::default(),
        }
    }
}

impl Traits {
    /// True if it asks for kernel values, also where there are explicit features.
    pub fn wants_matrix(&self) -> bool {
        self.reads != Reads::Features
    }
}
