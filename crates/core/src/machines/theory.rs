//! Assumptions that learning theory may make of a machine; each machine declares its own, and certificates rest on them.

/// Assumptions that learning theory may make of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts are independent of each other, and each is known or not")]
pub struct Theory {
    /// The part of the examples that determines the model (a compression set).
    pub compression: Compresses,
    /// The loss of which the machine finds the minimum together with ½‖w‖², or why there is none.
    pub loss: Result<ConvexLoss, &'static str>,
    /// True if f has no offset, whatever the examples: an offset that happens to be zero is one all the same.
    pub homogeneous: bool,
    /// The bounds of multipliers, where coefficients are y_i α_i of a support vector machine.
    pub multipliers: Option<Multipliers>,
    /// True if the margin is hard.
    pub hard: bool,
    /// True if scores are divided by the margin ρ that was found, so that tolerances grow by it.
    pub divides_by_margin: bool,
    /// ν, where at most that share of the training examples is inside the margin, or outside of a tube or a region.
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
    /// The examples on the border of the region and outside; the number ν m of those that may be outside belongs to the problem.
    Region,
    /// The examples that ever changed the model, which goes through them in their order.
    Updates,
}

/// 0 ≤ α_i ≤ C, the multipliers of a support vector machine whose kernel has a ridge on the diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multipliers {
    /// C; infinite for a hard margin, and for squared losses, which are a hard margin over a ridge.
    pub c: f64,
    /// 1/2C for squared losses, else 0.
    pub ridge: f64,
    /// True if classes have weights, so that C and the ridge are other numbers for each.
    pub by_class: bool,
}

impl Multipliers {
    /// The same bound for all examples, and no ridge.
    pub fn up_to(c: f64) -> Self {
        Self { c, ridge: 0.0, by_class: false }
    }
}

/// min ½‖w‖² + C Σ l(f(x_i), y_i) with a convex l.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexLoss {
    /// C.
    pub c: f64,
    /// l.
    pub cost: Cost,
    /// True if there is an offset that is not part of w.
    pub free_offset: bool,
    /// The objective of the report, and so its duality gap, is so many times ½‖w‖² + C Σ l.
    pub scale: f64,
}

/// The cost of an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// max(0, 1 − yf).
    Hinge,
    /// max(0, 1 − yf)².
    SquaredHinge,
    /// log(1 + exp(−yf)).
    Logistic,
    /// (y − f)².
    Squared,
    /// max(0, |y − f| − ε).
    Tube {
        /// ε.
        epsilon: f64,
    },
    /// max(0, |y − f| − ε)².
    SquaredTube {
        /// ε.
        epsilon: f64,
    },
    /// u²/2s for |u| ≤ s, else |u| − s/2, where u = y − f.
    Huber {
        /// s.
        width: f64,
    },
    /// max(τu, (τ − 1)u), u = y − f.
    Pinball {
        /// τ.
        tau: f64,
    },
}

impl Cost {
    /// The Lipschitz constant in f; `None` for squares, which have none but for a bounded f.
    pub fn lipschitz(self) -> Option<f64> {
        match self {
            Self::Squared | Self::SquaredHinge | Self::SquaredTube { .. } => None,
            Self::Pinball { tau } => Some(tau.max(1.0 - tau)),
            Self::Hinge | Self::Logistic | Self::Tube { .. } | Self::Huber { .. } => Some(1.0),
        }
    }

    /// The cost of f where y was wanted; y is ±1 for classes.
    pub fn of(self, y: f64, f: f64) -> f64 {
        let u = y - f;
        match self {
            Self::Hinge => (1.0 - y * f).max(0.0),
            Self::SquaredHinge => (1.0 - y * f).max(0.0).powi(2),
            Self::Logistic => (-y * f).max(0.0) + (-(y * f).abs()).exp().ln_1p(),
            Self::Squared => u * u,
            Self::Tube { epsilon } => (u.abs() - epsilon).max(0.0),
            Self::SquaredTube { epsilon } => (u.abs() - epsilon).max(0.0).powi(2),
            Self::Huber { width } if u.abs() <= width => u * u / (2.0 * width),
            Self::Huber { width } => u.abs() - 0.5 * width,
            Self::Pinball { tau } => (tau * u).max((tau - 1.0) * u),
        }
    }
}

/// Why class weights leave no stability.
pub(super) const WEIGHED_CLASSES: &str =
    "examples are weighed by their classes, and the theorem takes all alike: fit with class_weight = none";
/// Why a constant feature of another value leaves no stability.
pub(super) const SCALED_BIAS: &str = "the constant feature of the bias has another value than 1, which the theorem takes it to have: fit with bias_scale = 1";

/// Why a minimum without a penalty has no stability.
pub(super) const NOT_PENALISED: &str = "nothing is penalised, so that one example may move the model as far as it likes: the theorem needs λ‖f‖² with λ > 0";
/// Why a level that is found with the model leaves no stability.
pub(super) const LEVEL_FOUND: &str =
    "the level from which losses are measured is found with the model, so no loss is fixed before";

impl Default for Theory {
    fn default() -> Self {
        Self {
            compression: Compresses::Not(
                "a part of the examples does not give the same model again; a part can be chosen and trained on (`mercer fit --certified`)",
            ),
            loss: Err("the machine does not minimise a convex loss and λ‖f‖², for which alone it is proved"),
            homogeneous: false,
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
