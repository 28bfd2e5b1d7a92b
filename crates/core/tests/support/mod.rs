//! Samples of every kind of data, kernels with random parameters, and plain matrices: what the laws are tried on.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod chance;
pub mod damage;
pub mod differences;
pub mod expected;
pub mod judge;
pub mod memory;
pub mod patience;
pub mod tools;
pub mod trials;
pub mod verdict;

use mercer::data::{Coordinate, Kind, Rows, SparseRows, Values};
use mercer::gram::{BlockMut, Gram, Pick, fill, fill32};
use mercer::kernels::{self, Definite, Domain, KernelEntry, Leaf};
use mercer::params::{Setting, assign, describe};
use mercer::seed::{Random, Seed};

/// Training examples and new examples of one kind.
pub struct Sample {
    /// Its name in messages.
    pub name: String,
    /// The training examples.
    pub training: Values,
    /// The new examples.
    pub new: Values,
}

/// Every kind of data that a kernel can meet, with `m` new and `n` training examples.
pub fn samples(entry: &KernelEntry, m: usize, n: usize) -> Vec<Sample> {
    match entry.kind {
        Kind::Text => vec![Sample { name: "text".into(), training: text(n, 1).into(), new: text(m, 2).into() }],
        Kind::Precomputed => vec![precomputed(m, n)],
        Kind::Other(kind) => panic!("add samples of {}", kind.plural),
        Kind::Vectors => [1, 3, 17].into_iter().flat_map(|d| vectors(entry.domain, m, n, d)).collect(),
    }
}

/// Dense and sparse vectors of `d` coordinates in both precisions.
pub fn vectors(domain: Domain, m: usize, n: usize, d: usize) -> Vec<Sample> {
    let all = dense(domain, m + n, d, 0.0);
    let part =
        |rows: &Rows<f64>| (rows.select(&(m..m + n).collect::<Vec<_>>()), rows.select(&(0..m).collect::<Vec<_>>()));
    let (training, new) = part(&all);
    let (thin_training, thin_new) = part(&dense(domain, m + n, d, 0.6));
    let sparse = SparseRows::from_dense;
    let make = |kind: &str, training: Values, new: Values| Sample { name: format!("{kind}, d = {d}"), training, new };
    vec![
        make("dense f64", training.clone().into(), new.clone().into()),
        make("dense f32", training.convert::<f32>().into(), new.convert::<f32>().into()),
        make("sparse f64", sparse(&thin_training).into(), sparse(&thin_new).into()),
        make("sparse f32", sparse(&thin_training).convert::<f32>().into(), sparse(&thin_new).convert::<f32>().into()),
    ]
}

/// Vectors whose numbers are exact in f32, with zero vectors and duplicates among them.
pub fn dense(domain: Domain, n: usize, d: usize, zeros: f64) -> Rows<f64> {
    let mut random = Seed(7 + d as u64).stream("vectors");
    let mut values = Vec::with_capacity(n * d);
    for i in 0..n {
        let start = values.len();
        for _ in 0..d {
            let x = f64::from(random.normal() as f32);
            let x = if random.uniform() < zeros || i % 31 == 5 { 0.0 } else { x };
            values.push(if domain == Domain::NonNegative { x.abs() } else { x });
        }
        if i % 13 == 7 {
            let twin = random.below(i);
            values.copy_within(twin * d..(twin + 1) * d, start);
        }
    }
    Rows::new(values, n, d).unwrap()
}

/// Words of few letters, with empty, one-letter, repeated and non-ASCII ones among them.
pub fn text(n: usize, seed: u64) -> Vec<String> {
    let mut random = Seed(seed).stream("text");
    let letters = ['a', 'b', 'c', 'ß', '→', '𝒳'];
    let mut all: Vec<String> = vec![String::new(), "a".into(), "äöü→𝒳äöü".into(), "aaaaaaaa".into()];
    while all.len() < n {
        let word = if all.len() % 13 == 7 {
            all[random.below(all.len())].clone()
        } else {
            (0..random.below(14)).map(|_| letters[random.below(letters.len())]).collect()
        };
        all.push(word);
    }
    all
}

/// A matrix of inner products that lies in the data, with the rows of new examples beside it.
fn precomputed(m: usize, n: usize) -> Sample {
    let points = dense(Domain::Any, m + n, 5, 0.0);
    let product = |i: usize, j: usize| points.row(i).iter().zip(points.row(j)).map(|(a, b)| a * b).sum::<f64>();
    let square = (m..m + n).flat_map(|i| (m..m + n).map(move |j| (i, j))).map(|(i, j)| product(i, j)).collect();
    let cross = (0..m).flat_map(|i| (m..m + n).map(move |j| (i, j))).map(|(i, j)| product(i, j)).collect();
    Sample {
        name: "a precomputed matrix".into(),
        training: Rows::new(square, n, n).unwrap().into(),
        new: Rows::<f64>::new(cross, m, n).unwrap().into(),
    }
}

/// The examples at the given places; of a precomputed matrix the columns too.
pub fn choose(entry: &KernelEntry, values: &Values, keep: &[usize]) -> Values {
    match values {
        Values::Dense(rows) if entry.kind == Kind::Precomputed => {
            let picked = keep.iter().flat_map(|&i| keep.iter().map(move |&j| (i, j)));
            Rows::new(picked.map(|(i, j)| rows.row(i)[j]).collect(), keep.len(), keep.len()).unwrap().into()
        }
        other => other.select(keep),
    }
}

/// The kernel with its defaults and with a few other parameters, resolved on the training examples.
pub fn variants(entry: &KernelEntry, training: &Values, others: u64) -> Vec<Box<dyn Leaf>> {
    let mut all = vec![(entry.make)()];
    all.extend((0..others).map(|k| random_kernel(entry, training.width().unwrap_or(1), k)));
    for leaf in &mut all {
        kernels::resolve(leaf.as_mut(), training, Seed(3));
    }
    all
}

/// A kernel with random parameters that its rules allow; words that wait for data stay as they are.
pub fn random_kernel(entry: &KernelEntry, width: usize, seed: u64) -> Box<dyn Leaf> {
    let mut random = Seed(seed).stream(entry.name);
    let mut leaf = (entry.make)();
    for parameter in describe(leaf.as_mut()) {
        if parameter.spelling_of.is_some() {
            continue;
        }
        let done = (0..200).any(|_| {
            let value = match parameter.name {
                // the widest vectors of the samples must be allowed
                "dimension" => Setting::Number((17 + random.below(4)) as f64),
                "height" => Setting::Number(0.0),
                "categories" => {
                    let count = if random.below(2) == 0 { 1 } else { width.min(64) };
                    Setting::Numbers((0..count).map(|_| (2 + random.below(4)) as f64).collect())
                }
                "precision" => random_precision(width, &mut random),
                _ => random_setting(parameter.kind, &parameter.words, width, &mut random),
            };
            assign(entry.name, leaf.as_mut(), parameter.name, &value).is_ok()
        });
        assert!(done, "{}: no value was found for {}", entry.name, parameter.name);
    }
    leaf
}

fn random_setting(kind: &str, words: &[&'static str], width: usize, random: &mut Random) -> Setting {
    let number = |random: &mut Random| match random.below(5) {
        // a Matérn kernel of any other smoothness is a quadrature, and slow
        0..=2 => [0.5, 1.5, 2.5, 0.0][random.below(4)],
        3 => -0.2 - random.uniform(),
        _ => 0.2 + 1.8 * random.uniform(),
    };
    match kind {
        "count" => Setting::Number((1 + random.below(4)) as f64),
        "switch" => Setting::Switch(random.below(2) == 0),
        "word" => Setting::Word(words[random.below(words.len())].to_owned()),
        "numbers" => {
            let count = if random.below(2) == 0 { 1 } else { width.min(64) };
            Setting::Numbers((0..count).map(|_| 0.5 + 2.0 * random.uniform()).collect())
        }
        _ => Setting::Number(number(random)),
    }
}

/// One number, or a symmetric matrix without negative eigenvalues.
fn random_precision(width: usize, random: &mut Random) -> Setting {
    if random.below(3) == 0 {
        return Setting::Number(0.5 + random.uniform());
    }
    let n = width.clamp(1, 64);
    let a: Vec<f64> = (0..n * n).map(|_| random.normal() / (n as f64)).collect();
    let product = |i: usize, j: usize| (0..n).map(|k| a[k * n + i] * a[k * n + j]).sum::<f64>();
    let entry = |p: usize| product(p / n, p % n) + f64::from(u8::from(p / n == p % n)) * 0.3;
    Setting::Numbers((0..n * n).map(entry).collect())
}

/// The name of a kernel in a message, with its parameters.
pub fn show(leaf: &dyn Leaf) -> String {
    let listed: Vec<String> = leaf.settings().iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}({})", leaf.entry().name, listed.join(", "))
}

/// ‖x_i‖² of vectors; 0 for anything else.
pub fn square(values: &Values, i: usize) -> f64 {
    match values {
        Values::Dense(r) => r.row(i).iter().map(|x| x * x).sum(),
        Values::Dense32(r) => r.row(i).iter().map(|&x| f64::from(x) * f64::from(x)).sum(),
        Values::Sparse(r) => r.row(i).iter().map(|c| c.value * c.value).sum(),
        Values::Sparse32(r) => r.row(i).iter().map(|c| f64::from(c.value) * f64::from(c.value)).sum(),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => 0.0,
    }
}

/// A vector as plain numbers.
pub fn numbers(values: &Values, i: usize, d: usize) -> Vec<f64> {
    fn scatter(row: impl Iterator<Item = (u32, f64)>, d: usize) -> Vec<f64> {
        let mut out = vec![0.0; d];
        row.for_each(|(j, x)| out[j as usize] = x);
        out
    }
    match values {
        Values::Dense(r) => r.row(i).to_vec(),
        Values::Dense32(r) => r.row(i).iter().map(|&x| f64::from(x)).collect(),
        Values::Sparse(r) => scatter(r.row(i).iter().map(|c: &Coordinate<f64>| (c.index, c.value)), d),
        Values::Sparse32(r) => scatter(r.row(i).iter().map(|c| (c.index, f64::from(c.value))), d),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => Vec::new(),
    }
}

/// The distance that a value of a matrix may have from the definition, where numbers have the relative precision `unit`.
///
/// Products round in proportion to ‖x‖² + ‖y‖². Distances by products round by that much in their square, which a
/// kernel with a kink at zero turns into far more: how much, the kernel itself tells on the line.
pub struct Tolerance<'a> {
    leaf: &'a dyn Leaf,
    rows: &'a Values,
    cols: &'a Values,
    unit: f64,
    own: [Vec<f64>; 2],
}

impl<'a> Tolerance<'a> {
    /// For values of κ between these examples.
    pub fn new(leaf: &'a dyn Leaf, rows: &'a Values, cols: &'a Values, unit: f64) -> Self {
        let own = |v: &Values| match leaf.entry().kind {
            Kind::Precomputed => Vec::new(),
            _ => (0..v.len()).map(|i| leaf.eval(v, i, v, i)).collect(),
        };
        Self { leaf, rows, cols, unit, own: [own(rows), own(cols)] }
    }

    /// Fails unless a value is near enough to the right one.
    pub fn assert(&self, i: usize, j: usize, got: f64, wanted: f64, context: &str) {
        if got == wanted {
            return;
        }
        let entry = self.leaf.entry();
        let (size, squares) = match entry.kind {
            Kind::Precomputed => (wanted.abs(), 0.0),
            _ => ((self.own[0][i] * self.own[1][j]).abs().sqrt(), square(self.rows, i) + square(self.cols, j)),
        };
        let scale = size + f64::from(u8::from(entry.definite != Definite::Positive));
        // below its smallest normal number, f32 has fewer digits
        let floor = if self.unit > f64::EPSILON { f64::from(f32::MIN_POSITIVE) } else { 0.0 };
        let tight = 64.0 * self.unit * (1.0 + squares) * scale + floor;
        let off = (got - wanted).abs();
        if off <= tight {
            return;
        }
        let allowed = tight
            + match entry.name {
                "arc_cosine" => self.bend(i, j, 16.0 * self.unit),
                _ => self.kink(i, j, 16.0 * self.unit * (1.0 + squares)),
            };
        assert!(
            off <= allowed,
            "{context}: {} at ({i}, {j}): {got} instead of {wanted}, off by {off:e}, allowed {allowed:e}",
            show(self.leaf)
        );
    }

    /// The change of a kernel of the angle when its cosine changes by `delta`.
    fn bend(&self, i: usize, j: usize, delta: f64) -> f64 {
        let d = self.rows.width().max(self.cols.width()).unwrap_or(0);
        let (x, y) = (numbers(self.rows, i, d), numbers(self.cols, j, d));
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (length, other) = (product(&x, &x).sqrt(), product(&y, &y).sqrt());
        let cosine = product(&x, &y) / (length * other).max(f64::MIN_POSITIVE);
        let at = |c: f64| {
            let c = c.clamp(-1.0, 1.0);
            let probe = vec![length, 0.0, other * c, other * (1.0 - c * c).sqrt()];
            let probe = Values::from(Rows::new(probe, 2, 2).unwrap());
            self.leaf.eval(&probe, 0, &probe, 1)
        };
        2.0 * (at(cosine + delta) - at(cosine)).abs().max((at(cosine - delta) - at(cosine)).abs())
    }

    /// The change of κ when the squared distance changes by `delta`.
    fn kink(&self, i: usize, j: usize, delta: f64) -> f64 {
        let Some(d) = self.rows.width().max(self.cols.width()).filter(|&d| (1..10_000).contains(&d)) else {
            return 0.0;
        };
        let (x, y) = (numbers(self.rows, i, d), numbers(self.cols, j, d));
        let squared: f64 = x.iter().zip(&y).map(|(a, b)| (a - b) * (a - b)).sum();
        let mut probe = vec![0.0; 4 * d];
        probe[d] = squared.sqrt();
        probe[2 * d] = (squared + delta).sqrt();
        probe[3 * d] = (squared - delta).max(0.0).sqrt();
        let probe = Values::from(Rows::new(probe, 4, d).unwrap());
        let at = |k| self.leaf.eval(&probe, 0, &probe, k);
        2.0 * (at(2) - at(1)).abs().max((at(3) - at(1)).abs())
    }
}

/// All values of a matrix in f64.
pub fn values(gram: &dyn Gram) -> Vec<f64> {
    let (n, m) = gram.shape();
    let mut out = vec![f64::NAN; n * m];
    fill(gram, &mut out);
    out
}

/// All values of a matrix in f32.
pub fn values32(gram: &dyn Gram) -> Vec<f32> {
    let (n, m) = gram.shape();
    let mut out = vec![f32::NAN; n * m];
    fill32(gram, &mut out);
    out
}

/// One block in f64, written into a wider rectangle whose margin must stay untouched.
pub fn block(gram: &dyn Gram, rows: Pick<'_>, cols: Pick<'_>) -> Vec<f64> {
    let (n, m) = (rows.len(), cols.len());
    let mut out = vec![-77.5; n * (m + 3)];
    gram.block(rows, cols, BlockMut::strided(&mut out, n, m, m + 3));
    out.chunks(m + 3)
        .flat_map(|line| {
            assert_eq!(line[m..], [-77.5; 3], "a block wrote beside its place");
            line[..m].to_vec()
        })
        .collect()
}

/// One block in f32, likewise.
pub fn block32(gram: &dyn Gram, rows: Pick<'_>, cols: Pick<'_>) -> Vec<f32> {
    let (n, m) = (rows.len(), cols.len());
    let mut out = vec![-77.5_f32; n * (m + 3)];
    gram.block32(rows, cols, BlockMut::strided(&mut out, n, m, m + 3));
    out.chunks(m + 3)
        .flat_map(|line| {
            assert_eq!(line[m..], [-77.5; 3], "a block wrote beside its place");
            line[..m].to_vec()
        })
        .collect()
}

/// Runs work in a pool of so many threads.
pub fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
