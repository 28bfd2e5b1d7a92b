//! Derivatives of a formula by one of its examples: the way of pre-images.
//!
//! ```text
//! g(z) = Σ_i α_i κ(x_i, z),    ∂g/∂z
//! ```
//!
//! The α are pushed down the tree as the weights of pairs are (see `derivatives`), with one row: z. Where κ(z, z) is needed, its weight c
//! is pushed down beside them, and a kernel adds c dκ(z, z)/dz = 2c ∂κ(y, z)/∂z at y = z, since κ is symmetric.
//!
//! # Source
//! The chain rule; Schölkopf & Smola, *Learning with Kernels* (2002), §18.2, minimise such a function for pre-images.

use super::{Formula, Node, look};
use crate::data::{DataError, Dataset, Kind, Rows, Values, View};
use crate::error::Error;
use crate::gram::{Side, fill};
use crate::kernels::KernelError;

impl Formula {
    /// ∂/∂z Σ_i α_i κ(x_i, z) of a resolved formula whose kernels all look at the same vectors, at a dense vector z.
    ///
    /// # Errors
    /// If z is narrower or wider than the training vectors, kernels look at different views, or one has no such derivative.
    ///
    /// # Example
    /// ```
    /// use mercer::data::{Dataset, Rows};
    /// use mercer::formula::rbf;
    /// let data = Dataset::new(Rows::new(vec![0.0, 1.0], 2, 1).unwrap());
    /// let gradient = rbf(1.0).input_gradient(&[1.0, 1.0], &data, &[0.25])?;
    /// // Σ −2(z − x) exp(−(z − x)²)
    /// let wanted = -0.5 * (-0.0625f64).exp() + 1.5 * (-0.5625f64).exp();
    /// assert!((gradient[0] - wanted).abs() < 1e-14);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn input_gradient(&self, alpha: &[f64], training: &Dataset, z: &[f64]) -> Result<Vec<f64>, Error> {
        let Some((name, points)) = view(&self.0, training)? else { return Ok(vec![0.0; z.len()]) };
        let width = points.width().unwrap_or(0);
        if points.kind() != Kind::Vectors || width != z.len() || alpha.len() != points.len() {
            let finding = format!(
                "a vector of {} coordinates with {} weights was given for {} {} of {width}",
                z.len(),
                alpha.len(),
                points.len(),
                points.kind()
            );
            return Err(DataError::Usage { finding }.into());
        }
        let Some(row) = Rows::new(z.to_vec(), 1, z.len()) else { unreachable!("one row") };
        let new = Dataset::from_views(vec![View { name: name.to_owned(), values: row.into() }])?;
        let mut walk = Walk { training, new: &new, points, z, out: vec![0.0; z.len()] };
        walk.push(&self.0, alpha.to_vec(), 0.0)?;
        Ok(walk.out)
    }
}

/// The only view of vectors that is looked at, with its name; `None` if none is.
fn view<'a>(node: &Node, data: &'a Dataset) -> Result<Option<(&'a str, &'a Values)>, Error> {
    let mut found: Option<(&str, &Values)> = None;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        open.extend(node.children());
        let Node::Kernel(bound) = node else { continue };
        if super::bind::is_data_free(bound) {
            continue;
        }
        let values = look(bound, data)?;
        if found.is_some_and(|(_, known)| !std::ptr::eq(known, values)) {
            let finding =
                "the kernels of the formula look at different views; a gradient is by the vectors of one".to_owned();
            return Err(KernelError::NoGradient { kernel: bound.kernel.entry().name, finding }.into());
        }
        let known = data.views().iter().find(|v| std::ptr::eq(&raw const v.values, values));
        found = Some((known.map_or("x", |v| v.name.as_str()), values));
    }
    Ok(found)
}

struct Walk<'a> {
    training: &'a Dataset,
    /// z alone.
    new: &'a Dataset,
    points: &'a Values,
    z: &'a [f64],
    out: Vec<f64>,
}

impl Walk<'_> {
    /// κ(z, x_i) for all i.
    fn values(&self, node: &Node) -> Result<Vec<f64>, Error> {
        let gram = Formula(node.clone()).cross(self.new, self.training)?;
        let mut out = vec![0.0; gram.shape().1];
        fill(gram.as_ref(), &mut out);
        Ok(out)
    }

    /// κ(z, z), and κ(x_i, x_i) for all i.
    fn own(&self, node: &Node, combinator: &'static str) -> Result<(f64, Vec<f64>), Error> {
        let gram = Formula(node.clone()).cross(self.new, self.training)?;
        let of = |side| gram.self_similarities(side).ok_or(KernelError::NoSelfSimilarity { combinator });
        Ok((of(Side::Rows)?[0], of(Side::Columns)?))
    }

    /// κ(z, z) of a node, where its weight is not zero.
    fn own_here(&self, node: &Node, weight: f64) -> Result<f64, Error> {
        if weight == 0.0 { Ok(0.0) } else { Ok(self.own(node, "rbf")?.0) }
    }

    /// Pushes the weights of κ(x_i, z), and that of κ(z, z), down.
    fn push(&mut self, node: &Node, mut alpha: Vec<f64>, own: f64) -> Result<(), Error> {
        match node {
            Node::Constant(_) => Ok(()),
            Node::Kernel(bound) => {
                let kernel = &bound.kernel;
                let mut known = kernel.input_gradient(&alpha, self.points, self.z, &mut self.out);
                if own != 0.0 && !super::bind::is_data_free(bound) {
                    let Some(alone) = Rows::new(self.z.to_vec(), 1, self.z.len()) else { unreachable!("one row") };
                    known &= kernel.input_gradient(&[2.0 * own], &alone.into(), self.z, &mut self.out);
                }
                if known {
                    return Ok(());
                }
                let finding = "its values do not change smoothly with a vector; use another kernel".to_owned();
                Err(KernelError::NoGradient { kernel: kernel.entry().name, finding }.into())
            }
            Node::Sum(terms) => terms.iter().try_for_each(|term| self.push(term, alpha.clone(), own)),
            Node::Product(factors) => {
                let values = factors.iter().map(|f| self.values(f)).collect::<Result<Vec<_>, _>>()?;
                let owns = factors.iter().map(|f| self.own_here(f, own)).collect::<Result<Vec<_>, _>>()?;
                for (k, factor) in factors.iter().enumerate() {
                    let (mut part, mut weight) = (alpha.clone(), own);
                    for other in (0..factors.len()).filter(|&other| other != k) {
                        part.iter_mut().zip(&values[other]).for_each(|(a, v)| *a *= v);
                        weight *= owns[other];
                    }
                    self.push(factor, part, weight)?;
                }
                Ok(())
            }
            Node::Scaled(c, inner) => {
                alpha.iter_mut().for_each(|a| *a *= c);
                self.push(inner, alpha, c * own)
            }
            Node::Power(inner, n) => {
                let slope = |k: f64| f64::from(*n) * k.powi(*n as i32 - 1);
                self.pointwise(inner, alpha, own, slope)
            }
            Node::Series(inner, all) => {
                let slopes: Vec<f64> = all.iter().enumerate().skip(1).map(|(m, a)| m as f64 * a).collect();
                self.pointwise(inner, alpha, own, |k| slopes.iter().rev().fold(0.0, |sum, a| sum * k + a))
            }
            Node::Exp(inner) => self.pointwise(inner, alpha, own, f64::exp),
            Node::Normalise(inner) => {
                let (mine, theirs) = self.own(inner, "normalise")?;
                let values = self.values(inner)?;
                let mut weight = 0.0;
                for ((a, s), k) in alpha.iter_mut().zip(&theirs).zip(values) {
                    // α k/√(s_i s): −½ α k/(√(s_i s) s) for s, α/√(s_i s) for k
                    *a = if mine > 0.0 && *s > 0.0 { *a / (mine * s).sqrt() } else { 0.0 };
                    weight -= if *a == 0.0 { 0.0 } else { 0.5 * *a * k / mine };
                }
                self.push(inner, alpha, weight)
            }
            Node::Radial(inner, gamma) => {
                let (mine, theirs) = self.own(inner, "rbf")?;
                let values = self.values(inner)?;
                let gamma = gamma.value();
                let mut weight = 0.0;
                for ((a, s), k) in alpha.iter_mut().zip(&theirs).zip(values) {
                    let there = *a * (-gamma * (mine - 2.0 * k + s).max(0.0)).exp();
                    weight -= gamma * there;
                    *a = 2.0 * gamma * there;
                }
                self.push(inner, alpha, weight)
            }
            Node::Centre(inner, centring) => {
                // κ(z, x_i) − Σ_l p_l κ(z, x_l) − …, and κ(z, z) − 2 Σ_l p_l κ(z, x_l) + …
                let part = centring.as_ref().map_or(&[][..], |c| &c.part);
                let total = alpha.iter().sum::<f64>() + 2.0 * own;
                if part.is_empty() {
                    let n = alpha.len().max(1) as f64;
                    alpha.iter_mut().for_each(|a| *a -= total / n);
                } else {
                    part.iter().for_each(|&l| alpha[l] -= total / part.len() as f64);
                }
                self.push(inner, alpha, own)
            }
            Node::Nystrom(..) => {
                let finding = "gradients through landmarks are not known; take it by the kernel inside".to_owned();
                Err(KernelError::NoGradient { kernel: "nystrom", finding }.into())
            }
            Node::Set(..) => {
                let finding =
                    "it compares members, and a gradient is by one vector; take it by the kernel inside".to_owned();
                Err(KernelError::NoGradient { kernel: "set", finding }.into())
            }
        }
    }

    /// A function of every entry with that derivative.
    fn pointwise(
        &mut self,
        inner: &Node,
        mut alpha: Vec<f64>,
        own: f64,
        slope: impl Fn(f64) -> f64,
    ) -> Result<(), Error> {
        let (values, mine) = (self.values(inner)?, self.own_here(inner, own)?);
        alpha.iter_mut().zip(values).for_each(|(a, k)| *a *= slope(k));
        let weight = if own == 0.0 { 0.0 } else { own * slope(mine) };
        self.push(inner, alpha, weight)
    }
}
