//! Triangular systems with many right-hand sides: LX = B and LᵀX = B.
//!
//! Right-hand sides lie side by side, so that those of a row are what rows of the matrix are to its factor: block by block X_k = L_kk⁻¹ B_k,
//! and B_i −= L_ik X_k for the rows that are left. Lᵀ is a lower triangle for rows and columns in reverse order.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §3.1.

use super::diagonal::Diagonal;
use super::kernel::{Line, ROWS};
use super::panel::{Panel, Solve, load_columns, load_rows, store_rows};
use super::update::{Form, Strip, Update};
use super::{block, grouped, hand_out};
use pulp::Arch;

/// Replaces k right-hand sides (n × k numbers, row by row) by the solutions of LX = B; L column by column.
pub(in crate::linalg) fn forward(arch: Arch, lower: &[f64], n: usize, rhs: &mut [f64], k: usize) {
    let diagonal = |diagonal: &mut Diagonal, start: usize, size: usize| {
        diagonal.fill(size, |j| &lower[(start + j) * n + start + j / ROWS * ROWS..(start + j + 1) * n]);
    };
    let load = |start: usize, size: usize, row: usize, lines: &mut [Line]| {
        load_rows(lower[start * n..(start + size) * n].chunks_exact(n), row, lines);
    };
    substitute(arch, n, k, rhs.chunks_exact_mut(k).collect(), &diagonal, &load);
}

/// Replaces k right-hand sides (n × k numbers, row by row) by the solutions of LᵀX = B; L column by column.
pub(in crate::linalg) fn backward(arch: Arch, lower: &[f64], n: usize, rhs: &mut [f64], k: usize) {
    // in reverse order, entry (i, j) of the triangle is L_(n−1−j)(n−1−i)
    let diagonal = |diagonal: &mut Diagonal, start: usize, size: usize| {
        let mut turned = vec![0.0; size * size];
        for i in 0..size {
            let row = &lower[(n - 1 - start - i) * n..(n - start - i) * n];
            (0..=i).for_each(|j| turned[j * size + i] = row[n - 1 - start - j]);
        }
        diagonal.fill(size, |j| &turned[j * size + j / ROWS * ROWS..(j + 1) * size]);
    };
    let load = |start: usize, size: usize, row: usize, lines: &mut [Line]| {
        let rows = (row..n.min(row + ROWS)).map(|i| &lower[(n - 1 - i) * n + n - start - size..][..size]);
        load_columns(rows, &mut lines[..size]);
        lines[..size].reverse();
        lines[size..].fill(Line::ZERO);
    };
    substitute(arch, n, k, rhs.chunks_exact_mut(k).rev().collect(), &diagonal, &load);
}

/// Work on a block of rows.
enum Task<'a, 'b> {
    /// A micropanel of the triangle is packed, which begins in a row.
    Pack(usize, &'a mut [Line]),
    /// A micropanel of right-hand sides is packed and solved.
    Solve(usize, &'a mut [Line]),
    /// Rows of the block get their solutions.
    Keep(usize, &'a mut [&'b mut [f64]]),
    /// Later rows are updated.
    Update(Vec<Strip<'a>>),
}

/// Packs the micropanel that begins in a row, of a block of so many columns from a first one on.
type Load<'a> = dyn Fn(usize, usize, usize, &mut [Line]) + Sync + 'a;

/// Solves with a lower triangle, whose blocks on the diagonal and micropanels below them two functions pack.
fn substitute(
    arch: Arch,
    n: usize,
    k: usize,
    mut rows: Vec<&mut [f64]>,
    diagonal: &dyn Fn(&mut Diagonal, usize, usize),
    load: &Load<'_>,
) {
    let size = block(n).min(n);
    let mut current = Diagonal::new(size);
    let width = current.width();
    let mut below = vec![Line::ZERO; (n - size).div_ceil(ROWS) * width];
    let mut solved = vec![Line::ZERO; k.div_ceil(ROWS) * width];
    for start in (0..n).step_by(size) {
        let end = (start + size).min(n);
        diagonal(&mut current, start, end - start);
        current.is_factor();
        let width = current.width();
        let below = &mut below[..(n - end).div_ceil(ROWS) * width];
        let solved = &mut solved[..k.div_ceil(ROWS) * width];

        // X_k = L_kk⁻¹ B_k
        let tasks = solved.chunks_exact_mut(width).enumerate().map(|(p, lines)| Task::Solve(p * ROWS, lines));
        let packs = below.chunks_exact_mut(width).enumerate().map(|(p, lines)| Task::Pack(end + p * ROWS, lines));
        let own = &rows[start..end];
        hand_out(tasks.chain(packs).collect(), &|task| match task {
            Task::Solve(column, lines) => {
                load_rows(own.iter().map(|row| &**row), column, lines);
                arch.dispatch(Solve { diagonal: &current, lines });
            }
            Task::Pack(row, lines) => load(start, end - start, row, lines),
            Task::Keep(..) | Task::Update(_) => (),
        });

        // B_i −= L_ik X_k
        let left = Panel { lines: solved, width, base: 0 };
        let right = Panel { lines: below, width, base: 0 };
        let (own, rest) = rows[start..].split_at_mut(end - start);
        let strips = rest.chunks_mut(ROWS).enumerate();
        let strips: Vec<_> = strips
            .map(|(place, rows)| Strip { columns: rows.iter_mut().map(|row| &mut **row).collect(), place, top: 0 })
            .collect();
        let keeps = own.chunks_mut(ROWS).enumerate().map(|(m, rows)| Task::Keep(m * ROWS, rows));
        hand_out(keeps.chain(grouped(strips).map(Task::Update)).collect(), &|task| match task {
            Task::Keep(first, rows) => {
                for (p, lines) in left.lines.chunks_exact(width).enumerate() {
                    rows.iter_mut().zip(&lines[first..]).for_each(|(row, line)| store_rows(line, row, p * ROWS));
                }
            }
            Task::Update(mut strips) => {
                arch.dispatch(Update { left, right, form: Form::Rectangle, strips: &mut strips });
            }
            Task::Solve(..) | Task::Pack(..) => (),
        });
    }
}
