//! Assumptions that learning theory may make of a machine; each machine declares its own, and certificates rest on them.

/// Assumptions that learning theory may make of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theory {
    /// The part of the examples that determines the model (a compression set).
    pub compression: Compresses,
    /// The loss of which the machine finds the minimum together with ½‖w‖².
    pub loss: Option<ConvexLoss>,
    /// C, where coefficients are y_i α_i with multipliers 0 ≤ α_i ≤ C.
    pub multipliers: Option<f64>,
    /// True if the margin is hard.
    pub hard: bool,
    /// True if scores are divided by the margin ρ that was found, so that tolerances grow by it.
    pub divides_by_margin: bool,
    /// ν, where at most that share of the training examples is outside of a region.
    pub outlier_share: Option<f64>,
    /// δ, where the border of a region has a slack that is too narrow with probability δ at most.
    pub region_slack: Option<f64>,
    /// True if classes are weighted by their sizes.
    pub balances_classes: bool,
    /// The number of models that it chooses from by looking at the examples, in each problem that it solves.
    pub choices: f64,
}

/// The part of the examples that determines the model (a compression set).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compresses {
    /// No part is known, for this reason.
    Not(&'static str),
    /// The examples with y f(x) ≤ 1; `any_size` if the problem is the same for any number of examples.
    Margin {
        /// True if nothing in the problem depends on the number of examples.
        any_size: bool,
    },
    /// The examples with |y − f(x)| ≥ ε.
    Tube {
        /// ε.
        epsilon: f64,
    },
    /// The examples on the border of the region and outside.
    Region,
    /// The examples that ever changed the model, which goes through them in their order.
    Updates,
}

/// min ½‖w‖² + C Σ l(f(x_i), y_i) with a convex l.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexLoss {
    /// C.
    pub c: f64,
    /// The Lipschitz constant of l in f; `None` for the square, which has none.
    pub lipschitz: Option<f64>,
    /// True if there is an offset that is not part of w.
    pub free_offset: bool,
}

impl Default for Theory {
    fn default() -> Self {
        Self {
            compression: Compresses::Not(
                "a part of the examples does not give the same model again; a part can be chosen and trained on (`mercer fit --certified`)",
            ),
            loss: None,
            multipliers: None,
            divides_by_margin: false,
            outlier_share: None,
            region_slack: None,
            balances_classes: false,
            hard: false,
            choices: 1.0,
        }
    }
}
