//! Cholesky factors, inverses and systems with many right-hand sides: blocks of columns, and products of packed panels.
//!
//! A lower triangle lies column by column, which is the upper one row by row. Block by block: the block on the diagonal is
//! factorised, L_kk L_kkᵀ = A_kk; the rows below it are solved, L_ik = A_ik L_kk⁻ᵀ, and left packed; what is to the right loses
//! their products, A_ij −= L_ik L_jkᵀ. While that goes on, one thread updates and factorises the next block on the diagonal.
//!
//! Blocks depend on n alone and each entry is one chain of fused operations for each block, so who computes which tile does
//! not matter: the bits are the same for any number of threads and on every instruction set.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §4.2.9; Goto & van de Geijn (2008), ACM Trans. Math. Softw. 34.

mod diagonal;
mod inverse;
mod kernel;
mod panel;
mod substitution;
mod tiles;
mod update;

pub(super) use inverse::invert;
pub(super) use substitution::{backward, forward};
pub(super) use tiles::{mirror, transpose};

use super::NotPositive;
use crate::parallel;
use diagonal::{Diagonal, Factorise};
use kernel::{Line, ROWS};
use panel::{Panel, Solve, load_rows, store_rows};
use pulp::Arch;
use std::sync::{Mutex, PoisonError};
use update::{Form, Strip, Update};

/// Columns of a block.
fn block(n: usize) -> usize {
    match n {
        ..400 => 48,
        400..1500 => 96,
        1500..3000 => 192,
        _ => 288,
    }
}

/// Numbers of working memory for a matrix of n rows.
pub(super) fn workspace(n: usize) -> usize {
    let size = block(n).min(n).next_multiple_of(ROWS);
    size * (n + 2 * size)
}

/// The instruction set, if the processor has one with fused operations on vectors.
pub(super) fn instructions() -> Option<Arch> {
    match Arch::new() {
        Arch::Scalar => None,
        arch => Some(arch),
    }
}

/// Gives each task to a thread, in their order.
fn hand_out<T: Send>(tasks: Vec<T>, work: &(dyn Fn(T) + Sync)) {
    let threads = rayon::current_num_threads().min(tasks.len());
    let open = Mutex::new(tasks.into_iter());
    let next = || open.lock().unwrap_or_else(PoisonError::into_inner).next();
    parallel::each(threads, &|_| {
        while let Some(task) = next() {
            work(task);
        }
    });
}

/// Puts strips together to tasks: several for each thread, of up to 96 columns.
fn grouped(strips: Vec<Strip<'_>>) -> impl Iterator<Item = Vec<Strip<'_>>> {
    let size = (strips.len() / (8 * rayon::current_num_threads())).clamp(1, 4);
    let mut strips = strips.into_iter();
    std::iter::from_fn(move || Some(strips.by_ref().take(size).collect::<Vec<_>>()).filter(|some| !some.is_empty()))
}

/// Cuts the lower triangle of columns from the first of a micropanel on into strips; of those before column `after`, the rows
/// before `after` come apart, as the first list: they are the next block on the diagonal.
fn cut(columns: &mut [f64], n: usize, first: usize, after: usize) -> (Vec<Strip<'_>>, Vec<Strip<'_>>) {
    let (mut ahead, mut strips) = (Vec::new(), Vec::new());
    for (place, columns) in (first / ROWS..).zip(columns.chunks_mut(ROWS * n)) {
        let row = place * ROWS;
        let columns = columns.chunks_exact_mut(n).map(|column| &mut column[row..]);
        if row < after {
            let (near, far) = columns.map(|column| column.split_at_mut(after - row)).unzip();
            ahead.push(Strip { columns: near, place, top: place });
            strips.push(Strip { columns: far, place, top: after / ROWS });
        } else {
            strips.push(Strip { columns: columns.collect(), place, top: place });
        }
    }
    strips.retain(|strip| !strip.columns[0].is_empty());
    (ahead, strips)
}

/// Work on one block, beside which the next is prepared.
enum Task<'a> {
    /// The next block on the diagonal is updated and factorised.
    Next(Vec<Strip<'a>>, &'a mut Diagonal),
    /// Columns of L, from the first row of a micropanel of the block on, get their values.
    Keep(usize, Vec<&'a mut [f64]>),
    /// Strips are updated.
    Update(Vec<Strip<'a>>),
}

/// The first block, factorised.
fn first_block(arch: Arch, matrix: &[f64], n: usize, diagonal: &mut Diagonal) -> Result<(), NotPositive> {
    diagonal.fill(block(n).min(n), |k| &matrix[k * n + k / ROWS * ROWS..(k + 1) * n]);
    arch.dispatch(Factorise(diagonal))
}

/// Updates the next block, which begins in row `start`, and factorises it.
fn next_block(
    arch: Arch,
    panel: Panel<'_>,
    form: Form,
    (mut strips, start, size): (Vec<Strip<'_>>, usize, usize),
    diagonal: &mut Diagonal,
) -> Result<(), NotPositive> {
    arch.dispatch(Update { left: panel, right: panel, form, strips: &mut strips });
    diagonal.fill(size, |k| &*strips[k / ROWS].columns[k % ROWS]);
    arch.dispatch(Factorise(diagonal)).map_err(|e| NotPositive { index: start + e.index, ..e })
}

/// Writes the lower triangle of L over that of A, column by column; the other one stays as it is.
pub(super) fn factor(arch: Arch, matrix: &mut [f64], n: usize) -> Result<(), NotPositive> {
    if n == 0 {
        return Ok(());
    }
    let size = block(n).min(n);
    let (mut current, mut next) = (Diagonal::new(size), Diagonal::new(size));
    first_block(arch, matrix, n, &mut current)?;
    let mut lines = vec![Line::ZERO; (n - size).div_ceil(ROWS) * current.width()];
    for start in (0..n).step_by(size) {
        let (end, after) = ((start + size).min(n), (start + 2 * size).min(n));
        let width = current.width();
        let lines = &mut lines[..(n - end).div_ceil(ROWS) * width];

        // L_ik = A_ik L_kk⁻ᵀ
        let columns = &matrix[start * n..end * n];
        hand_out(lines.chunks_exact_mut(width).enumerate().collect(), &|(p, lines)| {
            load_rows(columns.chunks_exact(n), end + p * ROWS, lines);
            arch.dispatch(Solve { diagonal: &current, lines });
        });

        // A_ij −= L_ik L_jkᵀ
        let panel = Panel { lines, width, base: end / ROWS };
        let (own, rest) = matrix[start * n..].split_at_mut((end - start) * n);
        let (ahead, strips) = cut(rest, n, end, after);
        let mut tasks = Vec::new();
        if end < n {
            tasks.push(Task::Next(ahead, &mut next));
        }
        tasks.extend(own.chunks_mut(ROWS * n).enumerate().map(|(m, columns)| {
            let row = start + m * ROWS;
            Task::Keep(m, columns.chunks_exact_mut(n).map(|column| &mut column[row..]).collect())
        }));
        tasks.extend(grouped(strips).map(Task::Update));
        let form = Form::Triangle(start / ROWS..end / ROWS);
        let failed = Mutex::new(None);
        hand_out(tasks, &|task| match task {
            Task::Next(strips, diagonal) => {
                let found = next_block(arch, panel, form.clone(), (strips, end, after - end), diagonal);
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = found.err();
            }
            Task::Keep(m, columns) => keep(&current, panel, m, columns),
            Task::Update(mut strips) => {
                arch.dispatch(Update { left: panel, right: panel, form: form.clone(), strips: &mut strips });
            }
        });
        if let Some(pivot) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(pivot);
        }
        std::mem::swap(&mut current, &mut next);
    }
    Ok(())
}

/// Columns of L, which begin with the rows of micropanel m of the block, from the packed block and panel.
fn keep(diagonal: &Diagonal, panel: Panel<'_>, m: usize, mut columns: Vec<&mut [f64]>) {
    let (width, first) = (panel.width, m * ROWS);
    for (row, q) in (m..width / ROWS).enumerate() {
        let lines = &diagonal.micropanel(q)[first..];
        for (k, (column, line)) in columns.iter_mut().zip(lines).enumerate() {
            let above = if q == m { k } else { 0 };
            let to = column[row * ROWS..].iter_mut().zip(&line.0);
            to.skip(above).for_each(|(to, value)| *to = *value);
        }
    }
    for (row, lines) in (width / ROWS - m..).zip(panel.lines.chunks_exact(width)) {
        for (column, line) in columns.iter_mut().zip(&lines[first..]) {
            store_rows(line, column, row * ROWS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// The instruction sets of this processor, and none.
    pub(super) fn sets() -> Vec<Arch> {
        let mut sets = vec![Arch::Scalar, Arch::new()];
        #[cfg(target_arch = "x86_64")]
        sets.extend(pulp::x86::V3::try_new().map(Arch::V3));
        sets
    }

    /// A symmetric matrix with a strong diagonal.
    fn positive(n: usize) -> Vec<f64> {
        let mut random = Seed(8).stream("factor");
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                a[i * n + j] = random.normal();
                a[j * n + i] = a[i * n + j];
            }
            a[i * n + i] = 3.0 * (n as f64).sqrt() + random.uniform();
        }
        a
    }

    #[test]
    fn factors_inverses_and_solutions_have_the_same_bits_on_every_instruction_set() {
        // one block and several, whole micropanels and others
        for n in [1, 2, 8, 23, 24, 25, 47, 48, 49, 96, 100, 131] {
            let (a, k) = (positive(n), n % 30 + 1);
            let all = |set: Arch| {
                let (mut lower, mut inverse) = (a.clone(), a.clone());
                factor(set, &mut lower, n).unwrap();
                let log_determinant = invert(set, &mut inverse, n).unwrap();
                let b: Vec<f64> = (0..n * k).map(|i| (i as f64).sin()).collect();
                let (mut down, mut up) = (b.clone(), b);
                forward(set, &lower, n, &mut down, k);
                backward(set, &lower, n, &mut up, k);
                (lower, inverse, down, up, log_determinant)
            };
            let plain = all(Arch::Scalar);
            for set in sets() {
                assert!(all(set) == plain, "{set:?} {n}");
            }
            let (lower, inverse, down, up, _) = plain;
            let l = |i: usize, j: usize| lower[j * n + i];
            for i in 0..n {
                for j in 0..n {
                    let product: f64 = (0..=i.min(j)).map(|m| l(i, m) * l(j, m)).sum();
                    assert!((product - a[i * n + j]).abs() < 1e-12, "{n}");
                    assert!(i <= j || lower[i * n + j] == a[i * n + j], "above the diagonal of L stands A");
                    let unit: f64 = (0..n).map(|m| a[i * n + m] * inverse[m * n + j]).sum();
                    assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-13, "{n}");
                }
                for c in 0..k {
                    let b = ((i * k + c) as f64).sin();
                    let (low, high): (f64, f64) = (
                        (0..=i).map(|j| l(i, j) * down[j * k + c]).sum(),
                        (i..n).map(|j| l(j, i) * up[j * k + c]).sum(),
                    );
                    assert!((low - b).abs() < 1e-12 && (high - b).abs() < 1e-12, "{n}");
                }
            }
        }
    }

    #[test]
    fn a_pivot_that_is_not_positive_is_named_in_any_block_and_what_is_not_a_number_is_none() {
        for n in [30, 131, 700] {
            for bad in [0, 1, n / 2, n - 1] {
                for value in [-1e6, f64::NAN] {
                    let mut a = positive(n);
                    a[bad * n + bad] = value;
                    let found = factor(Arch::new(), &mut a.clone(), n).unwrap_err();
                    assert!(found.index == bad && (found.value < -9e5 || found.value.is_nan()), "{n}: {found:?}");
                    // NaN is not equal to itself
                    let other = invert(Arch::new(), &mut a, n).unwrap_err();
                    assert!(other.index == bad && other.value.to_bits() == found.value.to_bits(), "{n}: {other:?}");
                }
            }
        }
    }
}
