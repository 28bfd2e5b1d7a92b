//! The linear support vector classifier and logistic regression.

use crate::machines::class_weight::ClassWeight;
use crate::machines::linear::Linear;
use crate::machines::multiclass::{OneVsRest, Reduction};
use crate::machines::theory::{SCALED_BIAS, WEIGHED_CLASSES};
use crate::machines::{
    Compresses, ConvexLoss, Cost, FitError, Fitted, Learns, Machine, MachineEntry, Reads, Task, Theory, Traits,
};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::coordinate_descent::LinearLoss;
use crate::sources::{LIBLINEAR, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;

/// min ½‖w‖² + C Σ ℓ(y_i ⟨w, x_i⟩), one problem for each class against the rest; one in all for two classes
///
/// The losses are `hinge` max(0, 1 − yf), `squared_hinge` max(0, 1 − yf)² and `logistic` log(1 + exp(−yf)). The bias is the
/// weight of a constant feature of value `bias_scale`, and is part of ‖w‖²; a larger value regularises it less. The price of
/// an example is C times its weight times the weight of its own class, also where it stands among the rest (LIBLINEAR weighs
/// only the class that is told from the rest). The report's objective is the primal one, summed over the problems; its note
/// `dual_objective` is the dual one.
///
/// # Source
/// Fan, Chang, Hsieh, Wang & Lin (2008); solved by `solvers::newton` where the loss is smooth and coordinates are few,
/// else by `solvers::coordinate_descent`. The tolerance is that of LIBLINEAR's rules, a thousandth of its default
/// and the default of scikit-learn.
///
/// # Use when
/// The kernel is linear and examples or coordinates are many: text, counts, one-hot codes. No kernel value is computed.
///
/// # Cost
/// A pass reads the data once for each class; some tens of passes. Newton: n d² for each of some ten steps. The weights of
/// all classes are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSvc {
    /// C, the price of a loss.
    pub c: f64,
    /// The loss.
    pub loss: MarginLoss,
    /// The spread of projected gradients (logistic: the largest gradient) at which passes end.
    pub tolerance: f64,
    /// The most passes, or steps of Newton, of a problem; 0 for no limit.
    pub max_iterations: usize,
    /// True if there is a bias.
    pub bias: bool,
    /// The value of the constant feature that carries the bias.
    pub bias_scale: f64,
    /// `none`, `balanced` or `label:weight,label:weight`.
    pub class_weight: String,
}

/// The losses of linear classifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarginLoss {
    /// max(0, 1 − yf).
    Hinge,
    /// max(0, 1 − yf)².
    #[default]
    SquaredHinge,
    /// log(1 + exp(−yf)).
    Logistic,
}

impl Choice for MarginLoss {
    fn options(&self) -> &'static [&'static str] {
        &["hinge", "squared_hinge", "logistic"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Hinge, Self::SquaredHinge, Self::Logistic];
        *self = all[position.min(all.len() - 1)];
    }
}

impl Default for LinearSvc {
    fn default() -> Self {
        Self {
            c: 1.0,
            loss: MarginLoss::SquaredHinge,
            tolerance: 1e-4,
            max_iterations: 1000,
            bias: true,
            bias_scale: 1.0,
            class_weight: "none".to_owned(),
        }
    }
}

impl Params for LinearSvc {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::Above(0.0), "price C of a loss");
        v.choice("loss", &mut self.loss, "what a score costs");
        v.real("tolerance", &mut self.tolerance, Rule::Above(0.0), "spread of projected gradients at the end");
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(0.0), "most passes, 0 for no limit");
        v.switch("bias", &mut self.bias, "whether there is a bias, the weight of a constant feature");
        v.real("bias_scale", &mut self.bias_scale, Rule::Above(0.0), "value of the constant feature");
        v.text(
            "class_weight",
            &mut self.class_weight,
            ClassWeight::check,
            "weights of classes: none, balanced or label:weight,label:weight",
        );
    }
}

impl Machine for LinearSvc {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            // the bias is the weight of a feature, which bounds take for one of value 1
            let minimised = |cost: Cost| match () {
                () if self.class_weight != "none" => Err(WEIGHED_CLASSES),
                () if self.bias && self.bias_scale != 1.0 => Err(SCALED_BIAS),
                () => Ok(ConvexLoss { c: self.c, cost, free_offset: false, scale: 1.0 }),
            };
            let compression = Compresses::Margin { any_size: true };
            match self.loss {
                MarginLoss::Logistic => Theory { loss: minimised(Cost::Logistic), ..Theory::default() },
                MarginLoss::Hinge => Theory { compression, loss: minimised(Cost::Hinge), ..Theory::default() },
                MarginLoss::SquaredHinge => {
                    Theory { compression, loss: minimised(Cost::SquaredHinge), ..Theory::default() }
                }
            }
        };
        let theory =
            Theory { balances_classes: self.class_weight == ClassWeight::BALANCED, homogeneous: !self.bias, ..theory };
        Traits {
            reads: Reads::Features,
            weights: true,
            weighs_classes: ClassWeight::weighs(&self.class_weight),
            regularised_by: &[("c", Ordering::Less)],
            searched: "c=0.001..100:log6",
            theory,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(ENTRY.name)?;
        let factors = ClassWeight::factors(ENTRY.name, &self.class_weight, &classes)?;
        let weight = |i: usize| task.weights.map_or(1.0, |w| w[i]);
        let costs = classes.codes.iter().enumerate().map(|(i, &code)| self.c * weight(i) * factors[code as usize]);
        let linear = Linear {
            machine: ENTRY.name,
            instead: "svc",
            task,
            loss: match self.loss {
                MarginLoss::Hinge => LinearLoss::Hinge,
                MarginLoss::SquaredHinge => LinearLoss::SquaredHinge,
                MarginLoss::Logistic => LinearLoss::Logistic,
            },
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            bias: self.bias.then_some(self.bias_scale),
            costs: costs.collect(),
        };
        let rest = OneVsRest::new(&classes);
        let (expansion, report) = linear.solve(rest.problems(), &|p, i| rest.sign(p, i), watch)?;
        Ok(Fitted::new(expansion, rest.readout(), report))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "linear_svc",
    aliases: &["liblinear"],
    summary: "linear support vectors or logistic regression on explicit features, one class against the rest",
    formula: "min ½‖w‖² + C Σ ℓ(y_i ⟨w, x_i⟩)",
    learns: Learns::Classes,
    source: Source::new(&LIBLINEAR, "§2.1, appendix"),
    use_when: "the kernel is linear and examples or coordinates are many, as in text",
    cost: "A pass reads the data once for each class; some tens of passes. Newton: n d² for each of some ten steps. The weights of all classes are kept.",
    make: || Box::new(LinearSvc::default()),
};
