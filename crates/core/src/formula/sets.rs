//! Sets: examples with members, compared member by member.
//!
//! ```text
//! κ(A, B) = Σ_{a ∈ A} Σ_{b ∈ B} κ(a, b),    with `mean` divided by |A| |B|
//! ```
//!
//! A set is a string of members between separators, or a row of numbers in which members of equal width follow each other.
//! Before a formula meets its data, every view that it looks at is taken apart into members; the matrix between all members
//! is never stored.
//!
//! # Source
//! Shawe-Taylor & Cristianini, *Kernel Methods for Pattern Analysis*, ch. 9 (kernels on sets); Gärtner, Flach, Kowalczyk &
//! Smola, *Multi-Instance Kernels* (2002), where `normalise(set(κ))` and `mean` are the two ways to discount size.

use super::{Bound, Formula, Node, bind::is_data_free, look};
use crate::data::{Coordinate, DataError, Dataset, Kind, Rows, Scalar, SparseRows, Values, Vectors, View};
use crate::error::Error;
use crate::params::{Params, Rule, Visit};
use std::ops::Range;

/// The division of an example into members.
///
/// # Use when
/// An example is a bag of things, in no order and of any number: the fragments of a molecule, the reads of a sample, the
/// regions of an image, the sentences of a text.
///
/// # Cost
/// For each pair of examples as many kernel values as pairs of members, tile by tile.
///
/// # Example
/// ```
/// use mercer::data::Dataset;
/// use mercer::formula::{Members, spectrum};
/// use mercer::gram::fill;
///
/// let tags = ["red|green", "green", "red|red"].map(str::to_owned);
/// let kernel = spectrum(3).set(Members::strings("|"));
/// assert_eq!(kernel.to_string(), "set(spectrum(length=3), separator=\"|\")");
/// let mut k = vec![0.0; 9];
/// fill(kernel.gram(&Dataset::new(tags.to_vec()))?.as_ref(), &mut k);
/// assert_eq!(k[2], 2.0); // "red" is met twice
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// The separator between the members of a string; empty where strings are not taken apart.
    pub separator: String,
    /// The number of columns of a member of a vector; zero where vectors are not taken apart.
    pub columns: usize,
    /// True if the sum is divided by the numbers of members of both.
    pub mean: bool,
}

impl Members {
    /// Strings with members between separators. Nothing between two separators is no member.
    pub fn strings(separator: &str) -> Self {
        Self { separator: separator.to_owned(), ..Self::default() }
    }

    /// Vectors with members of so many columns. Where all of these are missing (NaN), the member is not there.
    pub fn vectors(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// The same with the mean over all pairs instead of the sum.
    #[must_use]
    pub fn mean(self) -> Self {
        Self { mean: true, ..self }
    }
}

impl Params for Members {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.text("separator", &mut self.separator, not_empty, "what stands between the members of a string");
        v.count("columns", &mut self.columns, Rule::AtLeast(1.0), "how many columns a member of a vector has");
        v.switch("mean", &mut self.mean, "whether the sum is divided by the numbers of members");
    }
}

fn not_empty(text: &str) -> Result<(), String> {
    if text.is_empty() { Err("at least one character".to_owned()) } else { Ok(()) }
}

impl Formula {
    /// Σ κ(a, b) over the members of two sets.
    #[must_use]
    pub fn set(self, members: Members) -> Self {
        Self(Node::Set(Box::new(self.0), members))
    }

    /// The kernel that cannot be computed between members, where there is one.
    pub(crate) fn unfit_for_sets(&self) -> Option<&'static str> {
        unfit(&self.0)
    }

    /// The views of vectors that are taken apart into members (`None`: not named). Their columns belong together, so none
    /// should be scaled alone.
    pub fn member_views(&self) -> Vec<Option<&str>> {
        fn gather<'a>(node: &'a Node, inside: bool, all: &mut Vec<Option<&'a str>>) {
            match node {
                Node::Kernel(bound) if inside && bound.kernel.entry().kind == Kind::Vectors => {
                    all.push(bound.view.as_deref());
                }
                Node::Set(inner, members) => gather(inner, inside || members.columns > 0, all),
                other => other.children().iter().for_each(|child| gather(child, inside, all)),
            }
        }
        let mut all = Vec::new();
        gather(&self.0, false, &mut all);
        all
    }
}

fn unfit(node: &Node) -> Option<&'static str> {
    match node {
        Node::Kernel(bound) if is_data_free(bound) => Some("noise belongs to whole examples; write set(…) + noise"),
        Node::Kernel(bound) if bound.kernel.entry().kind == Kind::Precomputed => {
            Some("a precomputed matrix is between whole examples, not between members")
        }
        Node::Centre(..) => Some("members have no centre of their own; write centre(set(…))"),
        other => other.children().iter().find_map(unfit),
    }
}

/// The members of all examples one after the other, and which belong to which example.
pub(super) struct Split {
    pub(super) members: Dataset,
    pub(super) sets: Vec<Range<usize>>,
}

/// Takes the views that a formula looks at apart.
pub(super) fn split(inner: &Node, how: &Members, data: &Dataset) -> Result<Split, Error> {
    if let Some(finding) = unfit(inner) {
        return Err(DataError::Usage { finding: finding.to_owned() }.into());
    }
    let mut looked: Vec<&Bound> = Vec::new();
    kernels(inner, &mut looked);
    let mut views: Vec<View> = Vec::new();
    let mut sets: Vec<Range<usize>> = Vec::new();
    for bound in looked {
        let values = look(bound, data)?;
        let known = data.views().iter().find(|v| std::ptr::eq(&raw const v.values, values));
        let name = known.map_or("x", |v| v.name.as_str());
        if views.iter().any(|v| v.name == name) {
            continue;
        }
        let gaps = Formula(inner.clone()).takes_gaps();
        let (members, ends) = apart(values, how, name, gaps)?;
        if let Some(first) = views.first() {
            if let Some(i) = sets.iter().zip(&ends).position(|(a, b)| a.len() != b.len()) {
                let finding = format!(
                    "example {} has {} members in view {}, but {} in view {name}; members of two views must correspond",
                    i + 1,
                    sets[i].len(),
                    first.name,
                    ends[i].len()
                );
                return Err(DataError::Unfit { finding }.into());
            }
        } else {
            sets = ends;
        }
        views.push(View { name: name.to_owned(), values: members });
    }
    if views.is_empty() {
        let finding = "set(…) needs a kernel inside that looks at the data".to_owned();
        return Err(DataError::Usage { finding }.into());
    }
    if let Some(i) = sets.iter().position(Range::is_empty).filter(|_| how.mean) {
        let finding = format!("example {} has no members, so it has no mean; leave it out, or use mean=false", i + 1);
        return Err(DataError::Unfit { finding }.into());
    }
    Ok(Split { members: Dataset::from_views(views)?, sets })
}

fn kernels<'a>(node: &'a Node, all: &mut Vec<&'a Bound>) {
    match node {
        Node::Kernel(bound) => all.push(bound),
        other => other.children().iter().for_each(|child| kernels(child, all)),
    }
}

/// The members of one view.
fn apart(values: &Values, how: &Members, view: &str, gaps: bool) -> Result<(Values, Vec<Range<usize>>), Error> {
    match values {
        Values::Text(strings) if !how.separator.is_empty() => {
            let (mut members, mut sets) = (Vec::new(), Vec::with_capacity(strings.len()));
            for string in strings.iter() {
                let start = members.len();
                members.extend(string.split(&how.separator).filter(|m| !m.is_empty()).map(str::to_owned));
                sets.push(start..members.len());
            }
            Ok((members.into(), sets))
        }
        Values::Dense(rows) if how.columns > 0 => parts(rows, how.columns, view, gaps),
        Values::Dense32(rows) if how.columns > 0 => parts(rows, how.columns, view, gaps),
        Values::Sparse(_) | Values::Sparse32(_) if how.columns > 0 => {
            let finding = format!(
                "view {view} holds sparse vectors, in which a member that is not there cannot be told from zeros; \
                 give set(…) dense vectors"
            );
            Err(DataError::Unfit { finding }.into())
        }
        Values::Items(_) => {
            let finding =
                format!("view {view} holds {}, which have no members; give set(…) text or vectors", values.kind());
            Err(DataError::Unfit { finding }.into())
        }
        Values::Index(_) => Err(DataError::Unfit { finding: format!("view {view} has no members") }.into()),
        other => {
            let wanted = if other.kind() == Kind::Text { "separator=\"|\"" } else { "columns=2" };
            let finding = format!("view {view} holds {}; say where its members are, such as {wanted}", other.kind());
            Err(DataError::Usage { finding }.into())
        }
    }
}

/// The members of dense rows; those whose columns are all missing are not there.
fn parts<S: Scalar>(
    rows: &Rows<S>,
    columns: usize,
    view: &str,
    gaps: bool,
) -> Result<(Values, Vec<Range<usize>>), Error>
where
    Values: From<Rows<S>>,
{
    if !rows.width().is_multiple_of(columns) {
        let width = rows.width();
        let finding = format!("view {view} has {width} columns, which are no whole number of members of {columns}");
        return Err(DataError::Unfit { finding }.into());
    }
    let (mut numbers, mut sets) = (Vec::new(), Vec::with_capacity(rows.len()));
    for i in 0..rows.len() {
        let start = numbers.len() / columns;
        for (m, member) in rows.row(i).chunks(columns).enumerate() {
            let missing = member.iter().filter(|x| x.wide().is_nan()).count();
            if missing == columns {
                continue;
            }
            if missing > 0 && !gaps {
                let finding = format!(
                    "member {} of example {} in view {view} has {missing} of {columns} columns missing; \
                     a member has all of them, or none",
                    m + 1,
                    i + 1
                );
                return Err(DataError::Unfit { finding }.into());
            }
            numbers.extend_from_slice(member);
        }
        sets.push(start..numbers.len() / columns);
    }
    let count = numbers.len() / columns;
    match Rows::new(numbers, count, columns) {
        Some(rows) => Ok((rows.into(), sets)),
        None => Err(DataError::Unfit { finding: format!("view {view} cannot be taken apart") }.into()),
    }
}

/// The features of sets: sums of those of their members, or means.
pub(super) fn sums(features: &Vectors, sets: &[Range<usize>], mean: bool) -> Vectors {
    let share = |set: &Range<usize>| if mean { 1.0 / set.len().max(1) as f64 } else { 1.0 };
    match features {
        Vectors::Dense(rows) => {
            let mut values = vec![0.0; sets.len() * rows.width()];
            for (set, sum) in sets.iter().zip(values.chunks_mut(rows.width().max(1))) {
                for member in set.clone() {
                    sum.iter_mut().zip(rows.row(member)).for_each(|(s, v)| *s += v);
                }
                sum.iter_mut().for_each(|s| *s *= share(set));
            }
            #[expect(clippy::expect_used, reason = "as many numbers as that were made")]
            Vectors::from(Rows::new(values, sets.len(), rows.width()).expect("rows of one width"))
        }
        Vectors::Sparse(rows) => {
            let mut sums = SparseRows::new(rows.width());
            for set in sets {
                let mut all: Vec<Coordinate<f64>> = set.clone().flat_map(|member| rows.row(member).to_vec()).collect();
                // the order of members is kept among equal places, so that sums are the same bits every time
                all.sort_by_key(|c| c.index);
                let mut line: Vec<Coordinate<f64>> = Vec::new();
                for c in all {
                    match line.last_mut() {
                        Some(last) if last.index == c.index => last.value += c.value,
                        _ => line.push(c),
                    }
                }
                line.iter_mut().for_each(|c| c.value *= share(set));
                sums.push(&line);
            }
            Vectors::from(sums)
        }
    }
}
