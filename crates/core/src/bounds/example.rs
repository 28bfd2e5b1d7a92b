//! Examples of bounds: data, a fit and what its certification is asked for, so that the bound applies. An entry names one; entries with the
//! same conditions share it.

/// An example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The built-in data set, and the number of its examples.
    pub data: (&'static str, usize),
    /// Machine and kernel, as flags of a fit.
    pub fit: &'static str,
    /// What the certification is asked for. A file `test.csv`, of further examples of the same set, is made where it is named here.
    pub certify: &'static str,
}

impl Example {
    const fn new(data: (&'static str, usize), fit: &'static str, certify: &'static str) -> Self {
        Self { data, fit, certify }
    }

    /// True if it needs further examples.
    pub fn needs_more(&self) -> bool {
        self.certify.contains("test.csv")
    }
}

const MOONS: (&str, usize) = ("two_moons", 200);
const BANANA: (&str, usize) = ("banana", 200);
const SINC: (&str, usize) = ("noisy_sinc", 200);
const WIDE: &str = "--machine 'svc(c=1000)' --kernel 'rbf(gamma=1)'";
const SOFT: &str = "--machine 'svc(c=1)' --kernel 'rbf(gamma=1)'";
const SQUARES: &str = "--machine 'regularised_risk(loss=squared,bias=false)' --kernel 'rbf(gamma=1)'";
const RIDGE: &str = "--machine ridge --kernel 'rbf(gamma=1)'";

/// Classes that a sparse classifier separates.
pub(super) const SEPARATED: &Example = &Example::new(MOONS, WIDE, "");
/// The same, with what takes m² to m³ operations.
pub(super) const THOROUGH: &Example = &Example::new(MOONS, WIDE, "--thorough");
/// The same, with the prior's mass of the version space.
pub(super) const SIMULATED: &Example = &Example::new(MOONS, WIDE, "--evidence 1000");
/// Labelled examples beside those of training.
pub(super) const HELD_OUT: &Example = &Example::new(BANANA, SOFT, "--held-out test.csv");
/// The same of numbers, which lie between two ends.
pub(super) const HELD_OUT_NUMBERS: &Example = &Example::new(
    SINC,
    "--machine 'svr(bias=false)' --kernel 'rbf(gamma=1)'",
    "--held-out test.csv --target-range -2,2",
);
/// Examples of which only the inputs are looked at.
pub(super) const UNLABELLED: &Example = &Example::new(BANANA, SOFT, "--unlabelled test.csv");
/// A hard margin in a feature space of finite dimension.
pub(super) const FINITE: &Example =
    &Example::new(("two_moons", 1000), "--machine 'svc(c=inf)' --kernel 'polynomial(degree=5)'", "");
/// Weights on the coordinates of the examples.
pub(super) const COORDINATES: &Example = &Example::new(MOONS, "--machine linear_svc --kernel linear", "");
/// Mistakes of a first pass.
pub(super) const ONLINE: &Example = &Example::new(MOONS, "--machine perceptron --kernel 'rbf(gamma=3)'", "");
/// A hinge loss and ½‖w‖² without an offset.
pub(super) const NO_OFFSET: &Example = &Example::new(BANANA, "--machine 'svc(bias=false)' --kernel 'rbf(gamma=1)'", "");
/// Squared losses of two classes without an offset.
pub(super) const SQUARES_OF_CLASSES: &Example = &Example::new(BANANA, SQUARES, "--thorough");
/// Squared losses of numbers that lie between two ends.
pub(super) const SQUARES_OF_NUMBERS: &Example = &Example::new(SINC, RIDGE, "--target-range -2,2");
/// The same, with the trace of the matrix that smooths.
pub(super) const TRACE: &Example = &Example::new(SINC, RIDGE, "--target-range -2,2 --thorough");
/// A tube around numbers that lie between two ends.
pub(super) const TUBE: &Example =
    &Example::new(SINC, "--machine 'svr(bias=false)' --kernel 'rbf(gamma=1)'", "--target-range -2,2");
/// A region that a share of the examples may lie outside of.
pub(super) const REGION: &Example = &Example::new(BANANA, "--machine one_class --kernel 'rbf(gamma=1)'", "");
/// A ball whose slack fails seldom enough.
pub(super) const BALL: &Example =
    &Example::new(BANANA, "--machine 'centre_of_mass(delta=0.01)' --kernel 'rbf(gamma=1)'", "");
