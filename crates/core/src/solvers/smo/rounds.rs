//! Rounds: problems take steps until each lacks a row; then all rows that they lack are computed together, by all threads.
//!
//! Where rows are long vectors of reals, a row alone costs as much to read as several cost to compute, and many at once are a product of
//! matrices. Beside the row that a problem lacks, a round computes the rows of its worst violators, which it is likely to lack next: the
//! more, the more rows it has had already. A row of one against one has a stretch for its own class, which all problems of that class share, and
//! one for each other class.
//!
//! The steps of a problem are taken by one thread, so nothing waits in a loop for another thread; and they do not depend on which rows were
//! computed early, so that the solution has the same bits for any number of threads.
//!
//! # Source
//! Fan, Chen & Lin (2005) for the steps; Wen et al. (2018), ThunderSVM, computes rows of many violators at once.

use super::level::Level;
use super::passes::Extremes;
use super::run::{Run, Shrinking, Stage};
use super::slots::{Columns, Workspace};
use super::team::Team;
use super::{Problem, SmoOptions, Solution, finish, held_out};
use crate::gram::Gram;
use crate::linalg::SolveError;
use crate::parallel;
use crate::watch::Monitor;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Most rows that a problem asks for at a time, where several problems are solved and where one is.
const MOST_OF_SEVERAL: usize = 12;
const MOST_OF_ONE: usize = 24;
/// Fewest rows that are asked for at a time: fewer take hardly less time.
const LEAST: usize = 6;
/// Rows that a thread computes at a time, and the number of columns that its columns are a multiple of.
const ROWS_OF_A_TASK: usize = 48;
const COLUMNS_OF_A_TASK: usize = 1024;

/// A problem under way.
struct Work<'a> {
    problem: &'a Problem<'a>,
    run: Run<'a>,
    stages: Vec<Stage>,
    /// Rows that it asks for in this round.
    rows: Vec<usize>,
    /// Stretches of them that other problems had: row, place in the line, values.
    copied: Vec<(usize, usize, Vec<f32>)>,
    result: Option<Result<(Level, Extremes), SolveError>>,
}

/// Smallest share of the rows that the cache must hold for them to be computed in rounds: rows that are computed early would else throw
/// out others that are in use.
const SHARE_OF_ROWS_KEPT: f64 = 0.25;
/// Largest number of variables of problems that are solved together, all of which are in memory at the same time.
const MAX_VARIABLES_TOGETHER: usize = 1_000_000;

/// True if rounds are best for problems of so many variables: rows are best computed many at once, and can be kept.
pub fn rounds_pay(gram: &dyn Gram, variables: &[usize], cache: usize) -> bool {
    let bytes: f64 = variables.iter().map(|&n| (n as f64).powi(2) * size_of::<f32>() as f64).sum();
    gram.panel_rows() > 1
        && bytes * SHARE_OF_ROWS_KEPT <= cache as f64
        && variables.iter().sum::<usize>() <= MAX_VARIABLES_TOGETHER
}

/// Solves problems on one matrix together; solutions stand in their order. `options.cache` is for all of them.
pub fn smo_in_rounds(
    problems: &[Problem<'_>],
    options: &SmoOptions,
    watch: &dyn Monitor,
) -> Vec<Result<Solution, SolveError>> {
    let workspaces = problems.iter().map(|_| Workspace::default()).collect();
    let solved = solve(problems, options, workspaces, watch);
    solved.into_iter().map(|result| result.map(|(solution, _)| solution)).collect()
}

/// Solves one problem in rounds.
pub(super) fn solve_one(
    problem: &Problem<'_>,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<Solution, SolveError> {
    let workspaces = vec![std::mem::take(workspace)];
    match solve(std::slice::from_ref(problem), options, workspaces, watch).pop() {
        Some(result) => result.map(|(solution, used)| {
            *workspace = used;
            solution
        }),
        None => unreachable!("one solution for each problem"),
    }
}

fn solve(
    problems: &[Problem<'_>],
    options: &SmoOptions,
    workspaces: Vec<Workspace>,
    watch: &dyn Monitor,
) -> Vec<Result<(Solution, Workspace), SolveError>> {
    let teams: Vec<Team> = problems.iter().map(|_| Team::new(1)).collect();
    let square = |problem: &Problem<'_>| (problem.linear.len() as f64).powi(2);
    let total: f64 = problems.iter().map(square).sum();
    let mut works: Vec<Work<'_>> = Vec::with_capacity(problems.len());
    for ((problem, team), workspace) in problems.iter().zip(&teams).zip(workspaces) {
        let columns = Columns { gram: Arc::clone(&problem.gram), ranges: problem.columns.to_vec() };
        let bytes = (options.cache as f64 * square(problem) / total.max(1.0)) as usize;
        let level = Level::new(problem, columns, 0..problem.linear.len(), bytes, workspace);
        let mut run = Run::new(team.member(0), problem, options, watch);
        run.waits_for_rows = true;
        let stages = vec![Stage::new(level, options.tolerance, 0)];
        works.push(Work { problem, run, stages, rows: Vec::new(), copied: Vec::new(), result: None });
    }
    if let ([work], true) = (works.as_mut_slice(), options.most_rows) {
        work.compute_all();
    }
    parallel::consume(works.iter_mut().collect(), |_, work| work.start());
    let most = if problems.len() > 1 { MOST_OF_SEVERAL } else { MOST_OF_ONE };
    let sharers = sharers(problems);
    loop {
        // every problem takes steps up to a row that it lacks
        let open: Vec<&mut Work<'_>> = works.iter_mut().filter(|work| work.result.is_none()).collect();
        if open.is_empty() {
            break;
        }
        parallel::consume(open, |_, work| work.step(most));
        // the rows that all of them lack
        if problems.len() > 1 {
            copy(&mut works, &sharers);
        }
        compute(&mut works);
    }
    parallel::consume(works, |_, work| work.end(options.tolerance))
}

/// The problems that have a stretch of columns, for each stretch that several have.
fn sharers(problems: &[Problem<'_>]) -> HashMap<(usize, usize), Vec<usize>> {
    let mut sharers: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for (place, problem) in problems.iter().enumerate() {
        for range in problem.columns {
            sharers.entry((range.start, range.end)).or_default().push(place);
        }
    }
    sharers.retain(|_, of| of.len() > 1);
    sharers
}

impl Work<'_> {
    /// Computes all rows at once, if they fit: by symmetry that is as much work as for half of them.
    fn compute_all(&mut self) {
        let Some(stage) = self.stages.first_mut() else { return };
        if stage.level.slots().compute_all() {
            let n = stage.level.len();
            self.run.shrinking = Shrinking::Never;
            self.run.rows += n;
            self.run.evaluations += (n * (n + 1) / 2) as u64;
        }
    }

    fn start(&mut self) {
        let Some(stage) = self.stages.first_mut() else { return };
        if let Err(error) = self.run.start(self.problem, &mut stage.level) {
            self.result = Some(Err(error));
        }
    }

    /// Steps up to a row that is missing, and the choice of rows for the next round.
    fn step(&mut self, most: usize) {
        self.rows.clear();
        match self.run.advance(&mut self.stages) {
            Err(error) => self.result = Some(Err(error)),
            Ok(Some(done)) => self.result = Some(Ok(done)),
            Ok(None) => {
                let (Some(row), Some(stage)) = (self.run.missing.take(), self.stages.last_mut()) else { return };
                let room = stage.level.kept().most().saturating_sub(2).max(1);
                let count = (1 + self.run.rows / 4).clamp(LEAST, most).min(room);
                self.rows = self.run.wanted(&mut stage.level, row, count);
                self.run.rows += self.rows.len();
            }
        }
    }

    /// The example and the columns of a row that it asks for, if it is the whole problem, whose rows others may have.
    fn whole(&self) -> Option<&Level> {
        match self.stages.as_slice() {
            [stage] if self.result.is_none() => Some(&stage.level),
            _ => None,
        }
    }

    /// The solution, with held-out scores where they are wanted, and the memory that was used.
    fn end(mut self, tolerance: f64) -> Result<(Solution, Workspace), SolveError> {
        let Some(result) = self.result.take() else { unreachable!("every problem has come to its end") };
        let (level, extremes) = result?;
        self.run.waits_for_rows = false;
        let (level, scores) = self.run.hold_out(self.problem, level, &extremes, tolerance)?;
        let state = level.s[..level.part.len()].to_vec();
        let mut solution = finish(self.problem, &self.run, &level, &extremes, state);
        solution.held_out = scores.map(|scores| held_out::complete(self.problem, &solution, scores));
        Ok((solution, level.into_workspace()))
    }
}

/// Takes stretches of rows that other problems keep already.
fn copy(works: &mut [Work<'_>], sharers: &HashMap<(usize, usize), Vec<usize>>) {
    let found = parallel::map(works.len(), |place| {
        let mut found = Vec::new();
        let work = &works[place];
        let Some(level) = work.whole() else { return found };
        let columns = level.kept().columns();
        for &row in &work.rows {
            let example = columns.example(row);
            let mut first = 0;
            for range in &columns.ranges {
                let others = sharers.get(&(range.start, range.end)).filter(|_| range.contains(&example));
                let kept = others.into_iter().flatten().filter(|&&other| other != place).find_map(|&other| {
                    let slots = works[other].whole()?.kept();
                    let values = slots.kept_row(slots.columns().place(example)?)?;
                    let start = slots.columns().place(range.start)?;
                    Some(values[start..start + range.len()].to_vec())
                });
                found.extend(kept.map(|values| (row, first, values)));
                first += range.len();
            }
        }
        found
    });
    for (work, found) in works.iter_mut().zip(found) {
        work.copied = found;
    }
}

/// A stretch of a row, and the places that it is written to.
struct Stretch<'a> {
    example: usize,
    lines: Vec<&'a mut [f32]>,
}

/// Stretches of rows over the same columns of one matrix.
struct Block<'a> {
    gram: Arc<dyn Gram>,
    cols: Range<usize>,
    rows: Vec<Stretch<'a>>,
}

/// Computes the rows that are asked for, each stretch once.
fn compute(works: &mut [Work<'_>]) {
    let mut blocks: HashMap<(*const (), usize, usize), Block<'_>> = HashMap::new();
    let mut places: HashMap<(*const (), usize, usize, usize), usize> = HashMap::new();
    for work in works.iter_mut().filter(|work| !work.rows.is_empty()) {
        let (rows, copied) = (std::mem::take(&mut work.rows), std::mem::take(&mut work.copied));
        let Some(stage) = work.stages.last_mut() else { continue };
        let slots = stage.level.slots();
        let columns = slots.columns().clone();
        let matrix = Arc::as_ptr(&columns.gram).cast::<()>();
        let (order, lines) = slots.claim_lines(&rows);
        for (row, mut line) in order.into_iter().zip(lines) {
            let (example, mut first) = (columns.example(row), 0);
            for cols in &columns.ranges {
                let (piece, rest) = line.split_at_mut(cols.len());
                line = rest;
                if let Some((.., values)) = copied.iter().find(|(r, place, _)| *r == row && *place == first) {
                    piece.copy_from_slice(values);
                } else {
                    let block = blocks.entry((matrix, cols.start, cols.end)).or_insert_with(|| Block {
                        gram: Arc::clone(&columns.gram),
                        cols: cols.clone(),
                        rows: Vec::new(),
                    });
                    let place = *places.entry((matrix, cols.start, cols.end, example)).or_insert_with(|| {
                        work.run.evaluations += cols.len() as u64;
                        block.rows.push(Stretch { example, lines: Vec::new() });
                        block.rows.len() - 1
                    });
                    block.rows[place].lines.push(piece);
                }
                first += cols.len();
            }
        }
    }
    let mut tasks: Vec<Block<'_>> = blocks.into_values().flat_map(divided).collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.cols.len() * task.rows.len()));
    parallel::consume(tasks, |_, task| fill(task));
}

/// Tasks of some rows and columns each, which begin at whole panels of columns.
fn divided(block: Block<'_>) -> Vec<Block<'_>> {
    let mut tasks = Vec::new();
    let mut rows = block.rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut some: Vec<Stretch<'_>> = rows.by_ref().take(ROWS_OF_A_TASK).collect();
        let mut start = block.cols.start;
        while start < block.cols.end {
            let end = ((start / COLUMNS_OF_A_TASK + 1) * COLUMNS_OF_A_TASK).min(block.cols.end);
            let part = some.iter_mut().map(|stretch| {
                let mut lines = Vec::with_capacity(stretch.lines.len());
                for line in &mut stretch.lines {
                    let (piece, rest) = std::mem::take(line).split_at_mut(end - start);
                    lines.push(piece);
                    *line = rest;
                }
                Stretch { example: stretch.example, lines }
            });
            tasks.push(Block { gram: Arc::clone(&block.gram), cols: start..end, rows: part.collect() });
            start = end;
        }
    }
    tasks
}

/// Computes a task, and copies what several problems want.
fn fill(task: Block<'_>) {
    let examples: Vec<usize> = task.rows.iter().map(|row| row.example).collect();
    let (mut firsts, mut copies) = (Vec::with_capacity(examples.len()), Vec::new());
    for (place, row) in task.rows.into_iter().enumerate() {
        let mut lines = row.lines.into_iter();
        firsts.extend(lines.next());
        copies.extend(lines.map(|line| (place, line)));
    }
    task.gram.rows32(&examples, task.cols, &mut firsts);
    for (place, line) in copies {
        line.copy_from_slice(firsts[place]);
    }
}
