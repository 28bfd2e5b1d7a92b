//! The diffusion kernel of categories.

use super::vectors::{Family, Packed, Packing, PairFamily, PairGram, merge_indexed, weight};
use super::vectors::{PairDerivatives, PairSlopes};
use super::{Definite, Domain, KernelEntry, KernelError, KernelFacts};
use super::{Derivatives, Sides};
use crate::data::{Coordinate, Kind, Scalar, Values};
use crate::gram::Gram;
use crate::params::{Params, Rule, Visit};
use crate::sources::{KONDOR, Source};
use std::sync::Arc;

/// κ(x, y) = Π_{j: x_j ≠ y_j} (1 − e^(−m_j β)) / (1 + (m_j − 1) e^(−m_j β)), m_j the number of categories of coordinate j
///
/// # Source
/// Kondor & Lafferty (2002), the section on complete graphs and their products: e^(βH) of the graph in which all
/// categories of a coordinate are neighbours, scaled to κ(x, x) = 1.
///
/// # Use when
/// Coordinates are codes of categories (0, 1, 2, …, not one-hot): only equality counts, so the codes may be any numbers. β
/// large makes all categories alike, β small makes them strangers.
///
/// # Cost
/// One comparison for each coordinate and one exponential for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Diffusion, Kernel};
/// let k = Diffusion { beta: 0.5, categories: vec![2.0] };
/// let value: f64 = k.eval([0.0, 1.0, 1.0].as_slice(), [0.0, 0.0, 1.0].as_slice());
/// assert!((value - 0.5f64.tanh()).abs() < 1e-15); // one bit differs
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Diffusion {
    /// Time β of the diffusion.
    pub beta: f64,
    /// The number of categories of each coordinate, or a single number for all.
    pub categories: Vec<f64>,
}

impl Default for Diffusion {
    fn default() -> Self {
        Self { beta: 0.5, categories: vec![2.0] }
    }
}

impl Params for Diffusion {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("beta", &mut self.beta, Rule::Above(0.0), "time β of the diffusion; large makes categories alike");
        v.reals(
            "categories",
            &mut self.categories,
            Rule::AtLeast(2.0),
            "number of categories, one for each coordinate or one for all",
        );
    }
}

/// The term of a coordinate in the negative logarithm where two vectors differ: one number for all, or one for each.
#[derive(Clone)]
struct Rates(Vec<f64>);

impl Diffusion {
    fn rates(&self) -> Rates {
        let rate = |&m: &f64| {
            let left = (-m * self.beta).exp();
            ((m - 1.0) * left).ln_1p() - (-(-m * self.beta).exp_m1()).ln()
        };
        Rates(self.categories.iter().map(rate).collect())
    }

    /// The derivatives of the rates by β, with e = exp(−mβ): −m(m − 1)e/(1 + (m − 1)e) − me/(1 − e).
    fn rate_slopes(&self) -> Vec<f64> {
        let slope = |&m: &f64| {
            let left = (-m * self.beta).exp();
            -m * left * ((m - 1.0) / (1.0 + (m - 1.0) * left) - 1.0 / (-m * self.beta).exp_m1())
        };
        self.categories.iter().map(slope).collect()
    }

    fn refuse<T>(finding: String) -> Result<T, KernelError> {
        Err(KernelError::Param { kernel: ENTRY.name, finding })
    }
}

impl PairFamily for Rates {
    #[inline(always)]
    fn term<S: Scalar>(&self, _: S, _: S) -> S {
        unreachable!("every coordinate has its own number of categories");
    }

    #[inline(always)]
    fn term_at<S: Scalar>(&self, coordinate: usize, x: S, y: S) -> S {
        let rate = S::narrow(weight(&self.0, coordinate));
        if x == y { S::default() } else { rate }
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        (-sum).exp()
    }
}

impl Family for Diffusion {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { self_similarity: Some([1.0, 1.0]), ..KernelFacts::default() }
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let rates = self.rates();
        let pairs = x.iter().zip(y).enumerate();
        rates.outer(pairs.map(|(j, (a, b))| rates.term_at(j, a.wide(), b.wide())).sum())
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let (rates, mut sum) = (self.rates(), 0.0);
        merge_indexed(x, y, |j, a, b| sum += rates.term_at(j, a, b));
        rates.outer(sum)
    }

    fn packing(&self, cols: &Values) -> Result<Packing, KernelError> {
        if let Some(odd) = self.categories.iter().find(|m| m.fract() != 0.0) {
            return Self::refuse(format!("{odd} is not a number of categories; give whole numbers from 2 on"));
        }
        let (given, width) = (self.categories.len(), cols.width().unwrap_or(0));
        let sparse = matches!(cols, Values::Sparse(_) | Values::Sparse32(_));
        // sparse vectors may end before the last coordinate
        if given > 1 && (given < width || (given > width && !sparse && width > 0)) {
            return Self::refuse(format!(
                "{given} numbers of categories were given for vectors of {width} coordinates; give one, or {width}"
            ));
        }
        // a factor for each coordinate keeps them in place, and leaves out those beyond
        let weights = (given > 1).then(|| Arc::new(vec![1.0; given]));
        Ok(Packing { centre: false, weights })
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(PairGram::of(self.rates(), rows, cols)))
    }

    /// Numbers of categories are whole.
    fn fixed(&self) -> &'static [&'static str] {
        &["categories"]
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        let places = (self.categories.len() > 1).then(|| vec![1.0; self.categories.len()]);
        let family = Diffused { rates: self.rates(), slopes: self.rate_slopes() };
        Ok(Some(Arc::new(PairDerivatives::new(family, sides, false, places))))
    }
}

/// The rates with their derivatives by β.
#[derive(Clone)]
struct Diffused {
    rates: Rates,
    slopes: Vec<f64>,
}

impl PairFamily for Diffused {
    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        self.rates.term(x, y)
    }

    #[inline(always)]
    fn term_at<S: Scalar>(&self, coordinate: usize, x: S, y: S) -> S {
        self.rates.term_at(coordinate, x, y)
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        self.rates.outer(sum)
    }
}

impl PairSlopes for Diffused {
    fn in_term(&self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    fn term_partial<S: Scalar>(&self, _: usize, coordinate: usize, x: S, y: S) -> S {
        let slope = S::narrow(weight(&self.slopes, coordinate));
        if x == y { S::default() } else { slope }
    }

    fn outer_slope(&self, sum: f64) -> f64 {
        -(-sum).exp()
    }

    fn outer_partial(&self, _: usize, _: f64) -> f64 {
        0.0
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "diffusion",
    aliases: &["categorical"],
    formula: "Π_{x_j ≠ y_j} (1 − e^(−m_j β)) / (1 + (m_j − 1) e^(−m_j β))",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&KONDOR, "complete graphs and products of graphs"),
    use_when: "coordinates are codes of categories, of which only equality counts",
    cost: "One comparison for each coordinate and one exponential for each pair.",
    make: || Box::new(Diffusion::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::gram::fill;
    use crate::kernels::Leaf;

    /// e^(βH) of the complete graph of m categories by its power series, scaled to a unit diagonal: the entry of
    /// different categories.
    fn heat(m: usize, beta: f64) -> f64 {
        let h = |i: usize, j: usize| if i == j { -((m - 1) as f64) } else { 1.0 };
        let mut term: Vec<f64> = (0..m * m).map(|p| f64::from(u8::from(p / m == p % m))).collect();
        let mut sum = term.clone();
        for k in 1..80 {
            let next = |p: usize| (0..m).map(|q| term[p / m * m + q] * h(q, p % m)).sum::<f64>() * beta / f64::from(k);
            term = (0..m * m).map(next).collect();
            sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
        }
        sum[1] / sum[0]
    }

    #[test]
    fn is_the_exponential_of_the_graph() {
        for (m, beta) in [(2, 0.5), (3, 0.2), (5, 0.7), (4, 1e-3)] {
            let k = Diffusion { beta, categories: vec![m as f64] };
            let wanted = heat(m, beta);
            assert!((k.dense(&[1.0], &[0.0]) - wanted).abs() < 1e-11, "{m} {beta}: {wanted}");
            assert_eq!(k.dense(&[3.0], &[3.0]), 1.0);
        }
    }

    #[test]
    fn coordinates_have_their_own_numbers_of_categories() {
        let k = Diffusion { beta: 0.3, categories: vec![2.0, 3.0, 5.0] };
        let rows = Values::from(Rows::new(vec![0.0, 2.0, 4.0, 1.0, 2.0, 3.0], 2, 3).unwrap());
        let mut got = [0.0; 4];
        fill(Leaf::gram(&k, &rows, &rows, true).unwrap().as_ref(), &mut got);
        assert!((got[1] - heat(2, 0.3) * heat(5, 0.3)).abs() < 1e-12, "{got:?}");
        for categories in [vec![2.5], vec![2.0, 3.0]] {
            assert!(Leaf::gram(&Diffusion { beta: 0.3, categories }, &rows, &rows, true).is_err());
        }
    }
}
