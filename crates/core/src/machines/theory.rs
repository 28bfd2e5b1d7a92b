//! What learning theory may assume of a machine; each machine declares it, and certificates rest on it.

/// What learning theory may assume of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theory {
    /// Which part of the examples determines the model.
    pub compression: Compresses,
    /// The loss of which the machine finds the minimum together with ½‖w‖².
    pub loss: Option<ConvexLoss>,
    /// C, where coefficients are y_i α_i with multipliers 0 ≤ α_i ≤ C.
    pub multipliers: Option<f64>,
    /// Whether the margin is a hard one.
    pub hard: bool,
    /// Whether scores are divided by the margin ρ that was found, so that tolerances grow by it.
    pub divides_by_margin: bool,
    /// ν, where at most that share of the training examples is outside of a region.
    pub outlier_share: Option<f64>,
    /// δ, where the border of a region has a slack that is wide enough but with probability δ.
    pub region_slack: Option<f64>,
    /// Whether classes are weighed by their numbers.
    pub balances_classes: bool,
    /// How many models it chooses from by looking at the examples, in each problem that it solves.
    pub choices: f64,
}

/// Which part of the examples determines the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compresses {
    /// None that is known.
    Not(&'static str),
    /// Those with y f(x) ≤ 1; `any_size` if the problem is the same for any number of examples.
    Margin {
        /// Whether nothing in the problem depends on the number of examples.
        any_size: bool,
    },
    /// Those with |y − f(x)| ≥ ε.
    Tube {
        /// ε.
        epsilon: f64,
    },
    /// Those on the border of the region and outside.
    Region,
    /// Those that ever changed the model, which goes through the examples in their order.
    Updates,
}

/// min ½‖w‖² + C Σ l(f(x_i), y_i) with a convex l.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexLoss {
    /// C.
    pub c: f64,
    /// How much l can change with f; `None` for the square, which has no bound of its own.
    pub lipschitz: Option<f64>,
    /// Whether an offset is not part of w.
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
