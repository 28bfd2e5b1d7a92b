//! The inverse and the determinant of a symmetric positive definite matrix in one sweep over its lower triangle.
//!
//! With X = L⁻¹, A⁻¹ = XᵀX. Before block k is done, the triangle holds three things: Σ_{m<k} X_mᵢᵀX_mⱼ where both indices come
//! before the block, −Σ_{m<k} L_im X_mj where the row comes later (from it X_i is solved), and what is left of A where both do.
//! Block k packs P: above it P_i = X_kiᵀ, solved against L_kk; inside it P = L_kk⁻ᵀ; below it P_i = L_ik. One product P Pᵀ then brings
//! everything up to date: + above, = in the rows of the block, = − below in its columns, − for the rest. In all n³ operations (n³/3 multiplications
//! each for the factor, its inverse and their product), and log det A = 2 Σ log L_jj on the way.
//!
//! # Source
//! Bientinesi, Gunter & van de Geijn (2008), Families of algorithms related to the inversion of a symmetric positive definite matrix,
//! ACM Trans. Math. Softw. 35, §4 (the one-sweep algorithm).

use super::diagonal::Diagonal;
use super::kernel::{Line, ROWS};
use super::panel::{Panel, Solve, load_columns, load_rows};
use super::update::{Form, Update};
use super::{Task, block, cut, first_block, grouped, hand_out, next_block, tiles};
use crate::linalg::NotPositive;
use pulp::Arch;
use std::sync::{Mutex, PoisonError};

/// Replaces a symmetric matrix by its inverse; the result is log det A. Of the matrix the lower triangle by columns is read.
pub(in crate::linalg) fn invert(arch: Arch, matrix: &mut [f64], n: usize) -> Result<f64, NotPositive> {
    if n == 0 {
        return Ok(0.0);
    }
    let size = block(n).min(n);
    let (mut current, mut next) = (Diagonal::new(size), Diagonal::new(size));
    first_block(arch, matrix, n, &mut current)?;
    let mut lines = vec![Line::ZERO; n.div_ceil(ROWS) * current.width()];
    let mut log_determinant = 0.0;
    for start in (0..n).step_by(size) {
        let (end, after) = ((start + size).min(n), (start + 2 * size).min(n));
        let width = current.width();
        let lines = &mut lines[..n.div_ceil(ROWS) * width];
        log_determinant += 2.0 * current.log_determinant();

        // P L_kkᵀ = what stands in the rows and columns of the block, or the identity
        let source = &*matrix;
        hand_out(lines.chunks_exact_mut(width).enumerate().collect(), &|(p, lines)| {
            let row = p * ROWS;
            if row < start {
                let columns = source[row * n..].chunks_exact(n).take(ROWS);
                load_columns(columns.map(|column| &column[start..end]), lines);
            } else if row < end {
                lines.fill(Line::ZERO);
                lines[row - start..].iter_mut().zip(0..ROWS).for_each(|(line, r)| line.0[r] = 1.0);
            } else {
                load_rows(source[start * n..end * n].chunks_exact(n), row, lines);
            }
            arch.dispatch(Solve { diagonal: &current, lines });
        });

        let panel = Panel { lines, width, base: 0 };
        let (own, rest) = matrix.split_at_mut(end * n);
        let (ahead, later) = cut(rest, n, end, after);
        let (_, mut strips) = cut(own, n, 0, 0);
        strips.extend(later);
        let mut tasks = Vec::new();
        if end < n {
            tasks.push(Task::Next(ahead, &mut next));
        }
        tasks.extend(grouped(strips).map(Task::Update));
        let form = Form::Triangle(start / ROWS..end.div_ceil(ROWS));
        let failed = Mutex::new(None);
        hand_out(tasks, &|task| match task {
            Task::Next(strips, diagonal) => {
                let found = next_block(arch, panel, form.clone(), (strips, end, after - end), diagonal);
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = found.err();
            }
            Task::Update(mut strips) => {
                arch.dispatch(Update { left: panel, right: panel, form: form.clone(), strips: &mut strips });
            }
            Task::Keep(..) => (),
        });
        if let Some(pivot) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(pivot);
        }
        std::mem::swap(&mut current, &mut next);
    }
    tiles::mirror(matrix, n);
    Ok(log_determinant)
}
