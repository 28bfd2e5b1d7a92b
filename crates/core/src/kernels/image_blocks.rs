//! The local kernel of images.

use super::prepared::downcast;
use super::vectors::{Family, merge_indexed};
use super::{Definite, Domain, KernelEntry, KernelError, Prepared};
use crate::data::{Coordinate, Kind, Rows, Scalar, Values};
use crate::gram::{BlockMut, Gram, Pick, Side, views::Submatrix};
use crate::memory::check;
use crate::params::{Params, Rule, Visit};
use crate::sources::{LWK, Source};
use crate::vectorise::{Loops, vectorised};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// κ(x, y) = (Σ_B (Σ_{q ∈ B} w_q x_q y_q)^p)^r over all square blocks B of pixels
///
/// Blocks lie at every place where they touch the image; beyond its edges there are zeros. Weights w form a pyramid,
/// 1 in the middle of a block, or are all 1.
///
/// # Source
/// Schölkopf & Smola (2002), §13.3: products of p pixels count inside a block, products across the image up to r.
///
/// # Use when
/// Examples are small images, row by row, and nearby pixels belong together more than far ones.
///
/// # Cost
/// 2b + 1 operations for each pixel and pair, where b is the side of a block. Sparse vectors become dense.
///
/// # Example
/// ```
/// use mercer::kernels::{ImageBlocks, Kernel};
/// // blocks of one pixel: (Σ (x_q y_q)²)¹
/// let k = ImageBlocks { width: 2, block: 1, local_degree: 2, global_degree: 1, ..ImageBlocks::default() };
/// let value: f64 = k.eval([1.0, 2.0, 0.0, 3.0].as_slice(), [1.0, 1.0, 5.0, 1.0].as_slice());
/// assert_eq!(value, 1.0 + 4.0 + 9.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImageBlocks {
    /// Pixels in a row of the image.
    pub width: usize,
    /// Rows of the image; 0: as many as there are.
    pub height: usize,
    /// Side of a block, in pixels.
    pub block: usize,
    /// Degree p inside a block.
    pub local_degree: usize,
    /// Degree r across the image.
    pub global_degree: usize,
    /// True if weights form a pyramid.
    pub pyramid: bool,
}

impl Default for ImageBlocks {
    fn default() -> Self {
        Self { width: 28, height: 0, block: 5, local_degree: 2, global_degree: 2, pyramid: true }
    }
}

impl Params for ImageBlocks {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("width", &mut self.width, Rule::Between(1.0, 65536.0), "pixels in a row of the image");
        v.count("height", &mut self.height, Rule::Between(0.0, 65536.0), "rows of the image; 0: as many as there are");
        v.count("block", &mut self.block, Rule::Between(1.0, 64.0), "side of a block, in pixels");
        v.count(
            "local_degree",
            &mut self.local_degree,
            Rule::Between(1.0, 16.0),
            "products of so many pixels of a block",
        );
        v.count("global_degree", &mut self.global_degree, Rule::Between(1.0, 16.0), "products of so many blocks");
        v.switch("pyramid", &mut self.pyramid, "whether the middle of a block counts more than its edge");
    }
}

impl ImageBlocks {
    /// The weights along one side of a block.
    fn side(&self) -> Vec<f64> {
        let middle = self.block.div_ceil(2) as f64;
        let height = |k: usize| if self.pyramid { (k + 1).min(self.block - k) as f64 / middle } else { 1.0 };
        (0..self.block).map(height).collect()
    }

    /// The definition, from the products of pixels that are not zero.
    fn of(&self, products: &[(usize, f64)]) -> f64 {
        let side = self.side();
        let mut blocks: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for &(q, product) in products.iter().filter(|p| p.1 != 0.0) {
            for (down, a) in side.iter().enumerate() {
                for (across, b) in side.iter().enumerate() {
                    let place = (q / self.width + down, q % self.width + across);
                    *blocks.entry(place).or_default() += a * b * product;
                }
            }
        }
        let sum: f64 = blocks.values().map(|s| s.powi(self.local_degree as i32)).sum();
        sum.powi(self.global_degree as i32)
    }

    /// Adds α ∂κ(x, z)/∂z_q = α r T^(r−1) Σ_{B ∋ q} p s_B^(p−1) w_q x_q, with s_B the sum of a block and T = Σ_B s_B^p.
    fn add_gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) {
        let (side, width) = (self.side(), self.width);
        let wide = width + side.len() - 1;
        let mut blocks = vec![0.0; wide * (x.len().div_ceil(width) + side.len() - 1)];
        // every pixel, with its blocks and its weights there
        let each = |q: usize, see: &mut dyn FnMut(usize, f64)| {
            for (down, a) in side.iter().enumerate() {
                for (across, b) in side.iter().enumerate() {
                    see((q / width + down) * wide + q % width + across, a * b);
                }
            }
        };
        for (q, (x, z)) in x.iter().zip(z).enumerate() {
            each(q, &mut |block, weight| blocks[block] += weight * x * z);
        }
        let (p, r) = (self.local_degree as i32, self.global_degree as i32);
        let total: f64 = blocks.iter().map(|s| s.powi(p)).sum();
        let slope = alpha * f64::from(r) * total.powi(r - 1) * f64::from(p);
        for (q, (o, x)) in out.iter_mut().zip(x).enumerate() {
            let mut sum = 0.0;
            each(q, &mut |block, weight| sum += weight * blocks[block].powi(p - 1));
            *o += slope * x * sum;
        }
    }

    fn refuse<T>(finding: String) -> Result<T, KernelError> {
        Err(KernelError::Param { kernel: ENTRY.name, finding })
    }
}

impl Family for ImageBlocks {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let products: Vec<_> = x.iter().zip(y).map(|(a, b)| a.wide() * b.wide()).enumerate().collect();
        self.of(&products)
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut products = Vec::new();
        merge_indexed(x, y, |j, a, b| products.push((j, a * b)));
        self.of(&products)
    }

    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        let images = Images { values: values.clone(), spread: OnceLock::new() };
        if let Some(like) = like {
            let like: Arc<Images> = downcast(like, ENTRY.name)?;
            let (got, wanted) = (images.width(), like.width());
            if got != wanted && (images.is_dense() || like.is_dense()) {
                return Err(KernelError::Width { kernel: ENTRY.name, got, wanted });
            }
        }
        Ok(Arc::new(images))
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        const MAX_PIXELS: usize = 1 << 24;
        let (rows, cols): (Arc<Images>, Arc<Images>) = (downcast(rows, ENTRY.name)?, downcast(cols, ENTRY.name)?);
        let pixels = rows.width().max(cols.width());
        let image = self.width * self.height;
        if self.height > 0 && pixels > 0 && (pixels > image || (cols.is_dense() && pixels < image)) {
            let (w, h) = (self.width, self.height);
            return Self::refuse(format!("an image of {w} × {h} has {image} pixels, but the vectors have {pixels}"));
        }
        if pixels > MAX_PIXELS {
            return Self::refuse(format!("the vectors have {pixels} coordinates, more than {MAX_PIXELS} pixels"));
        }
        let all = (rows.values.len() + cols.values.len()).saturating_mul(pixels);
        check(all.saturating_mul(size_of::<f64>()), "the pixels of all images")
            .map_err(|e| e.remedy("take fewer images, or raise --memory"))?;
        let (left, right, same) = (rows.of(pixels), cols.of(pixels), Arc::ptr_eq(&rows, &cols));
        Ok(Arc::new(ImageGram { kernel: self.clone(), side: self.side(), rows: left, cols: right, same }))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        self.add_gradient(x, z, alpha, out);
        true
    }
}

/// Images as they were given, and as dense rows where they were asked for.
struct Images {
    values: Values,
    /// As wide as they are.
    spread: OnceLock<Arc<Rows<f64>>>,
}

impl Images {
    fn width(&self) -> usize {
        self.values.width().unwrap_or(0)
    }

    fn is_dense(&self) -> bool {
        matches!(self.values, Values::Dense(_) | Values::Dense32(_))
    }

    /// Dense rows of so many pixels; more than their own where sparse ones are compared with wider ones.
    fn of(&self, pixels: usize) -> Arc<Rows<f64>> {
        if pixels != self.width() {
            return Arc::new(spread(&self.values, pixels));
        }
        Arc::clone(self.spread.get_or_init(|| Arc::new(spread(&self.values, pixels))))
    }
}

impl Prepared for Images {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        Arc::new(Self { values: self.values.select(keep), spread: OnceLock::new() })
    }
}

/// Vectors as dense rows of one width.
fn spread(values: &Values, width: usize) -> Rows<f64> {
    fn thin<S: Scalar>(all: &mut [f64], width: usize, rows: &crate::data::SparseRows<S>) {
        for i in 0..rows.len() {
            rows.row(i).iter().for_each(|c| all[i * width + c.index as usize] = c.value.wide());
        }
    }
    let mut all = vec![0.0; values.len() * width];
    match values {
        Values::Dense(r) => all.iter_mut().zip(r.values()).for_each(|(a, v)| *a = *v),
        Values::Dense32(r) => all.iter_mut().zip(r.values()).for_each(|(a, v)| *a = f64::from(*v)),
        Values::Sparse(r) => thin(&mut all, width, r),
        Values::Sparse32(r) => thin(&mut all, width, r),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => unreachable!("vector families are given vectors only"),
    }
    match Rows::new(all, values.len(), width) {
        Some(rows) => rows,
        None => unreachable!("as many numbers as examples times pixels"),
    }
}

/// The matrix of the kernel between two collections.
struct ImageGram {
    kernel: ImageBlocks,
    side: Vec<f64>,
    rows: Arc<Rows<f64>>,
    cols: Arc<Rows<f64>>,
    same: bool,
}

/// Columns that are compared at once.
const LANES: usize = 16;

/// One image against sixteen others, whose pixels lie side by side.
struct Windows<'a> {
    kernel: &'a ImageBlocks,
    side: &'a [f64],
    x: &'a [f64],
    others: &'a [[f64; LANES]],
    /// Sums along rows: (width + block − 1) numbers for each row of the image.
    along: &'a mut Vec<[f64; LANES]>,
}

impl Loops for Windows<'_> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn run(self) -> [f64; LANES] {
        let (width, block) = (self.kernel.width, self.side.len());
        let (wide, high) = (width + block - 1, self.x.len().div_ceil(width));
        self.along.clear();
        self.along.resize(wide * high, [0.0; LANES]);
        for (q, (&x, y)) in self.x.iter().zip(self.others).enumerate() {
            if x == 0.0 {
                continue;
            }
            let start = q / width * wide + q % width;
            for (weight, sums) in self.side.iter().zip(&mut self.along[start..start + block]) {
                for l in 0..LANES {
                    sums[l] += weight * (x * y[l]);
                }
            }
        }
        let mut total = [0.0; LANES];
        for row in 0..(high + block - 1) * usize::from(high > 0) {
            for column in 0..wide {
                let mut sum = [0.0; LANES];
                for (k, weight) in self.side.iter().enumerate() {
                    if let Some(above) = row.checked_sub(k).filter(|&above| above < high) {
                        let line = &self.along[above * wide + column];
                        for l in 0..LANES {
                            sum[l] += weight * line[l];
                        }
                    }
                }
                raise(&mut sum, self.kernel.local_degree);
                for l in 0..LANES {
                    total[l] += sum[l];
                }
            }
        }
        raise(&mut total, self.kernel.global_degree);
        total
    }
}

#[inline(always)]
fn raise(values: &mut [f64; LANES], degree: usize) {
    let base = *values;
    for _ in 1..degree {
        for l in 0..LANES {
            values[l] *= base[l];
        }
    }
}

impl ImageGram {
    fn windows(&self, x: &[f64], others: &[[f64; LANES]], along: &mut Vec<[f64; LANES]>) -> [f64; LANES] {
        vectorised(Windows { kernel: &self.kernel, side: &self.side, x, others, along })
    }
}

impl Gram for ImageGram {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
        let mut others = vec![[0.0; LANES]; self.cols.width()];
        let mut along = Vec::new();
        for first in (0..cols.len()).step_by(LANES) {
            let count = LANES.min(cols.len() - first);
            for l in 0..count {
                for (lanes, &y) in others.iter_mut().zip(self.cols.row(cols.at(first + l))) {
                    lanes[l] = y;
                }
            }
            for (k, i) in rows.iter().enumerate() {
                let values = self.windows(self.rows.row(i), &others, &mut along);
                out.row_mut(k)[first..first + count].copy_from_slice(&values[..count]);
            }
        }
    }

    fn is_symmetric(&self) -> bool {
        self.same
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let images = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        let mut along = Vec::new();
        let mut own = |i: usize| {
            let others: Vec<[f64; LANES]> = images.row(i).iter().map(|&x| [x; LANES]).collect();
            self.windows(images.row(i), &others, &mut along)[0]
        };
        Some((0..images.len()).map(&mut own).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Submatrix::new(self, rows, cols))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "image_blocks",
    aliases: &["local_polynomial"],
    formula: "(Σ_B (Σ_{q ∈ B} w_q x_q y_q)^p)^r",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&LWK, "§13.3"),
    use_when: "examples are small images, and nearby pixels belong together",
    cost: "2b + 1 operations for each pixel and pair, where b is the side of a block. Sparse vectors become dense.",
    make: || Box::new(ImageBlocks::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::inner::{Inner, Polynomial};

    #[test]
    fn blocks_are_explicit_windows_over_a_padded_image() {
        let k = ImageBlocks { width: 4, height: 3, block: 3, local_degree: 2, global_degree: 3, pyramid: true };
        let x: Vec<f64> = (0..12).map(|i| (0.9 * f64::from(i)).sin()).collect();
        let y: Vec<f64> = (0..12).map(|i| (1.7 * f64::from(i)).cos()).collect();
        let weights = [0.5, 1.0, 0.5];
        let pixel = |r: i32, c: i32| {
            let inside = (0..3).contains(&r) && (0..4).contains(&c);
            if inside { x[(4 * r + c) as usize] * y[(4 * r + c) as usize] } else { 0.0 }
        };
        let mut sum = 0.0;
        for (r, c) in (-2..3).flat_map(|r| (-2..4).map(move |c| (r, c))) {
            let mut local = 0.0;
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                local += weights[i as usize] * weights[j as usize] * pixel(r + i, c + j);
            }
            sum += local * local;
        }
        let wanted = sum * sum * sum;
        assert!((k.dense(&x, &y) - wanted).abs() < 1e-13 * wanted, "{} {wanted}", k.dense(&x, &y));
    }

    #[test]
    fn without_local_products_it_is_a_homogeneous_polynomial() {
        // every pixel lies in 2² blocks of side 2, with weight 1 in each
        let k = ImageBlocks { width: 3, height: 0, block: 2, local_degree: 1, global_degree: 2, pyramid: false };
        let (x, y) = ([0.3, -1.0, 2.0, 0.5, 0.0, 1.1], [1.0, 0.2, -0.4, 0.8, 3.0, 0.6]);
        let wanted = 16.0 * Inner(Polynomial::homogeneous(2)).dense(&x, &y);
        assert!((k.dense(&x, &y) - wanted).abs() < 1e-13);
    }

    #[test]
    fn vectors_that_are_no_such_image_are_refused() {
        let rows = Values::from(Rows::new(vec![1.0; 12], 2, 6).unwrap());
        let refused = |width, height| {
            let k = ImageBlocks { width, height, ..ImageBlocks::default() };
            crate::kernels::Leaf::gram(&k, &rows, &rows, true).is_err()
        };
        assert!(refused(3, 3) && refused(2, 2) && !refused(3, 2) && !refused(4, 0));
    }
}
