//! Views whose rows are a matrix that is known.

use super::bind::{is_data_free, look};
use super::{Bound, Formula, Node};
use crate::data::{DataError, Dataset, Kind, Values};
use crate::error::Error;

impl Formula {
    /// Refuses a view that is a matrix to one kernel and vectors to another. Models keep the places of their examples in a matrix, not its
    /// rows, so that the other kernel could never predict.
    ///
    /// # Errors
    /// If there is such a view, or a kernel finds none.
    pub(crate) fn refuse_shared_matrix(&self, data: &Dataset) -> Result<(), Error> {
        let mut leaves = Vec::new();
        gather(&self.0, &mut leaves);
        let is_matrix = |bound: &Bound| bound.kernel.entry().kind == Kind::Precomputed;
        let mut matrices: Vec<(&str, &Values)> = Vec::new();
        for bound in leaves.iter().filter(|bound| is_matrix(bound)) {
            matrices.push((bound.kernel.entry().name, look(bound, data)?));
        }
        for bound in leaves.iter().filter(|bound| !matrices.is_empty() && !is_matrix(bound)) {
            let values = look(bound, data)?;
            if let Some((matrix, _)) = matrices.iter().find(|(_, matrix)| std::ptr::eq(*matrix, values)) {
                let other = bound.kernel.entry().name;
                let finding = format!(
                    "{other} and {matrix} look at the same view, and of a known matrix a model keeps no vectors that {other} could compare \
                     new ones with; give each kernel a view of its own, and name it with @"
                );
                return Err(DataError::Usage { finding }.into());
            }
        }
        Ok(())
    }
}

/// The kernels that look at data.
fn gather<'a>(node: &'a Node, leaves: &mut Vec<&'a Bound>) {
    match node {
        Node::Kernel(bound) if is_data_free(bound) => {}
        Node::Kernel(bound) => leaves.push(bound),
        other => other.children().iter().for_each(|child| gather(child, leaves)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    #[test]
    fn a_matrix_is_no_view_of_another_kernel() {
        let rows = || Rows::new(vec![1.0, 0.5, 0.5, 1.0], 2, 2).unwrap();
        let one = Dataset::new(rows());
        let two = Dataset::new(rows()).with_view("k", rows()).unwrap();
        let said = |text: &str, data: &Dataset| {
            let formula: Formula = text.parse().unwrap();
            formula.refuse_shared_matrix(data).err().map(|error| error.to_string())
        };
        for (text, data) in [
            ("precomputed + rbf(gamma=1)", &one),
            ("precomputed@x * linear", &two),
            ("rbf(gamma=1) + precomputed", &two),
        ] {
            assert!(said(text, data).is_some_and(|said| said.contains("a view of its own")), "{text}");
        }
        for (text, data) in [
            ("precomputed", &one),
            ("precomputed + 0.1*noise", &one),
            ("rbf(gamma=1)", &one),
            ("precomputed@k + rbf(gamma=1)@x", &two),
        ] {
            assert_eq!(said(text, data), None, "{text}");
        }
    }
}
