//! A linear classifier in feature space as theorems see it: its margins and its length.

/// A linear classifier in feature space, f(x) = ⟨w, φ(x)⟩, two classes; an offset is a coordinate of w for the kernel κ + 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// y_i f(x_i).
    pub margins: Vec<f64>,
    /// Γ_i = y_i f(x_i)/(‖w‖ √κ(x_i, x_i)), margins lowered by the solver's tolerance; minus infinity where φ(x_i) = 0, which
    /// no classifier tells from its mirror image.
    pub gammas: Vec<f64>,
    /// ‖w‖², with b².
    pub squared_norm: f64,
    /// b.
    pub offset: f64,
    /// True if the machine has no offset, whatever the examples; one that happens to be zero is still a coordinate of w.
    pub homogeneous: bool,
    /// The problem of a support vector machine, where it is one.
    pub dual: Option<Dual>,
    /// The part of every margin that may be due to the solver's tolerance.
    pub slack: f64,
    /// The largest distance of the weight vector from that of the exact solution, √(2 · duality gap).
    pub from_optimum: f64,
    /// True if no multiplier is at C, so that the margin is a hard one.
    pub hard: bool,
    /// The posterior of PAC-Bayes bounds, where one was chosen for all of them.
    pub posterior: Option<Posterior>,
}

/// N(μ w/‖w‖, I) around the weight vector w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// μ.
    pub mu: f64,
    /// The share of training examples that a classifier drawn from it misclassifies.
    pub gibbs_error: f64,
}

impl Linear {
    /// From y_i f(x_i), κ(x_i, x_i) and ‖w‖², the latter two with what an offset adds, and the solver's tolerance; nothing else is
    /// known.
    pub fn new(margins: Vec<f64>, squared_lengths: &[f64], squared_norm: f64, slack: f64) -> Self {
        let norm = squared_norm.max(0.0).sqrt();
        let gamma = |(f, k): (&f64, &f64)| {
            let length = norm * k.max(0.0).sqrt();
            if length > 0.0 { ((f - slack) / length).clamp(-1.0, 1.0) } else { f64::NEG_INFINITY }
        };
        let gammas = margins.iter().zip(squared_lengths).map(gamma).collect();
        Self {
            margins,
            gammas,
            squared_norm,
            offset: 0.0,
            homogeneous: true,
            dual: None,
            slack,
            from_optimum: 0.0,
            hard: false,
            posterior: None,
        }
    }

    /// The least Γ_i.
    pub fn least_gamma(&self) -> f64 {
        self.gammas.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The mean over the margins, in eight running sums, which do not wait for one another.
    pub fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        let mut sums = [0.0; 8];
        let (eights, rest) = self.margins.as_chunks::<8>();
        for eight in eights {
            sums.iter_mut().zip(eight).for_each(|(sum, f)| *sum += of(*f));
        }
        let all = sums.iter().sum::<f64>() + rest.iter().map(|f| of(*f)).sum::<f64>();
        all / self.margins.len().max(1) as f64
    }
}

/// The problem that a support vector machine has solved, of which theorems about leaving out speak. It has what belongs to a
/// training example alone (noise in the kernel, the ridge of squared losses) on the diagonal of its kernel matrix; predictions have
/// not.
#[derive(Clone, Debug, PartialEq)]
pub struct Dual {
    /// Examples with multipliers 0 < α ≤ C.
    pub support: Vec<Multiplier>,
    /// ‖w‖² in the problem's feature space, without the square of an offset.
    pub squared_norm: f64,
    /// The largest κ(x_i, x_i) of all training examples in the problem.
    pub longest: f64,
    /// 1/2C on the diagonal for squared losses.
    pub ridge: f64,
    /// The part of every margin that may be due to the solver's tolerance.
    pub slack: f64,
    /// True if no multiplier is at its bound, so that the margin is a hard one.
    pub hard: bool,
    /// True if the diagonal is not fully known, since classes or examples have their own ridge.
    pub unknown_ridge: bool,
}

/// A support vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiplier {
    /// y f(x) in the problem, α times `own` above that of a prediction.
    pub margin: f64,
    /// α.
    pub alpha: f64,
    /// κ(x, x) in the problem.
    pub squared_length: f64,
    /// The part of κ(x, x) that belongs to the example alone.
    pub own: f64,
    /// True if α is at its bound.
    pub bounded: bool,
}

impl Multiplier {
    /// True if a prediction would be wrong.
    pub fn errs(&self) -> bool {
        self.margin - self.alpha * self.own <= 0.0
    }
}

/// At most a hundred numbers that stand for all: the least, the largest, and between them some evenly spaced in the order of all,
/// each as the mean of those next to it. Does not depend on where a number stands.
pub(super) fn evenly(all: &[f64]) -> Vec<f64> {
    const MAX_NUMBERS: usize = 100;
    const CELLS: usize = 2048;
    let n = all.len();
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    if n <= MAX_NUMBERS || !(high - low).is_finite() {
        return all.to_vec();
    }
    // a histogram instead of an order: one look at each number
    let mut cells = vec![(0_usize, 0.0); CELLS];
    let scale = (CELLS - 1) as f64 / (high - low).max(f64::MIN_POSITIVE);
    for x in all {
        let cell = &mut cells[(((x - low) * scale) as usize).min(CELLS - 1)];
        *cell = (cell.0 + 1, cell.1 + x);
    }
    let (mut cell, mut passed) = (0, cells[0].0);
    let between = (1..MAX_NUMBERS - 1).map(|i| {
        let place = i * (n - 1) / (MAX_NUMBERS - 1);
        while passed <= place {
            cell += 1;
            passed += cells[cell].0;
        }
        cells[cell].1 / cells[cell].0 as f64
    });
    std::iter::once(low).chain(between).chain(std::iter::once(high)).collect()
}
