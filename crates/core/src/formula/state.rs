//! State that a formula takes from its training examples: the parts that learn, what they have learned, and how that is put
//! back from a model file.

use super::{Bound, Formula, Landmarks, Node};
use crate::data::Dataset;
use crate::gram::views::Centring;
use crate::kernels::Learned;
use crate::params::{Auto, Setting, describe};
use std::sync::Arc;

/// State that one part of a formula has learned from the training examples, beyond its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The words and numbers of a kernel.
    Kernel(Learned),
    /// The centre of `centre(…)`.
    Centre(Centring),
    /// The landmarks of `nystrom(…)`.
    Landmarks(Landmarks),
}

/// The kind of a [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// The state of a kernel.
    Kernel,
    /// The state of `centre(…)`.
    Centre,
    /// The state of `nystrom(…)`.
    Landmarks,
}

impl Formula {
    /// The learned state of its parts, in the order of the print; parts that have not met training examples yet are left out.
    pub fn state(&self) -> Vec<State> {
        fn gather(node: &Node, all: &mut Vec<State>) {
            match node {
                Node::Kernel(bound) => all.extend(bound.kernel.learned().map(State::Kernel)),
                Node::Centre(_, Some(centring)) => all.push(State::Centre(centring.as_ref().clone())),
                Node::Nystrom(_, _, Some(landmarks)) => all.push(State::Landmarks(landmarks.as_ref().clone())),
                _ => {}
            }
            node.children().iter().for_each(|child| gather(child, all));
        }
        let mut all = Vec::new();
        gather(&self.0, &mut all);
        all
    }

    /// The kinds of what its parts must learn, in the order of the print.
    pub fn state_kinds(&self) -> Vec<StateKind> {
        fn gather(node: &Node, all: &mut Vec<StateKind>) {
            match node {
                Node::Kernel(bound) if bound.kernel.needs_learning() => all.push(StateKind::Kernel),
                Node::Centre(..) => all.push(StateKind::Centre),
                Node::Nystrom(..) => all.push(StateKind::Landmarks),
                _ => {}
            }
            node.children().iter().for_each(|child| gather(child, all));
        }
        let mut all = Vec::new();
        gather(&self.0, &mut all);
        all
    }

    /// Gives back to its parts what they had learned, in the order of the print; `false` if it does not fit them.
    pub fn set_state(&mut self, state: Vec<State>) -> bool {
        fn put(node: &mut Node, rest: &mut std::vec::IntoIter<State>) -> bool {
            let fits = match node {
                Node::Kernel(bound) if bound.kernel.needs_learning() => match rest.next() {
                    Some(State::Kernel(learned)) => bound.kernel.set_learned(learned),
                    _ => false,
                },
                Node::Centre(_, place) => match rest.next() {
                    Some(State::Centre(centring)) => {
                        *place = Some(Arc::new(centring));
                        true
                    }
                    _ => false,
                },
                Node::Nystrom(_, _, place) => match rest.next() {
                    Some(State::Landmarks(landmarks)) if landmarks.is_whole() => {
                        *place = Some(Arc::new(landmarks));
                        true
                    }
                    _ => false,
                },
                _ => true,
            };
            fits && node.children_mut().iter_mut().all(|child| put(child, rest))
        }
        let mut rest = state.into_iter();
        put(&mut self.0, &mut rest) && rest.next().is_none()
    }

    /// True if some part of it learns more than single numbers from the training examples: a vocabulary, a metric, a centre.
    ///
    /// ```
    /// use mercer::formula::{Formula, linear, rbf};
    /// assert!(linear().centre().learns() && !rbf(1.0).learns());
    /// assert!("mahalanobis(metric=shrunken)".parse::<Formula>().unwrap().learns());
    /// ```
    pub fn learns(&self) -> bool {
        fn learns(node: &Node) -> bool {
            let here = match node {
                Node::Kernel(bound) => bound.kernel.facts().learns,
                Node::Centre(..) | Node::Nystrom(..) => true,
                _ => false,
            };
            here || node.children().iter().any(learns)
        }
        learns(&self.0)
    }

    /// True if some parameter is still to be computed from the training examples (`gamma=scale`).
    pub fn has_words(&self) -> bool {
        fn has(node: &Node) -> bool {
            let here = match node {
                Node::Kernel(bound) => !waiting(bound).is_empty(),
                Node::Radial(_, gamma) => matches!(gamma, Auto::Word(_)),
                _ => false,
            };
            here || node.children().iter().any(has)
        }
        has(&self.0)
    }

    /// True if every data-driven parameter (`gamma=scale`) has its number, and every kernel has learned what it needs.
    pub fn is_resolved(&self) -> bool {
        fn met(node: &Node) -> bool {
            let here = match node {
                Node::Kernel(bound) => !bound.kernel.needs_learning() || bound.kernel.learned().is_some(),
                Node::Nystrom(_, _, place) => place.is_some(),
                _ => true,
            };
            here && node.children().iter().all(met)
        }
        !self.has_words() && met(&self.0)
    }

    /// The number of parameters that were computed from the examples (gamma=median, scale, metrics, means and variances) between this
    /// formula and the one resolved on `data`; those that depend on the number of coordinates alone do not count, but for sparse vectors,
    /// whose number of coordinates is the largest index that an example has.
    pub fn numbers_chosen(&self, resolved: &Self, data: &Dataset) -> usize {
        fn count(before: &Node, after: &Node, sparse: bool) -> usize {
            let here = match (before, after) {
                (Node::Kernel(before), Node::Kernel(after)) => {
                    let known = before.kernel.settings();
                    let settings = after.kernel.settings();
                    let changed = settings.iter().filter(|(name, value)| {
                        let old = known.iter().find(|(n, _)| n == name).map(|(_, v)| v);
                        let of_width = matches!(old, Some(Setting::Word(word)) if word == "1/d" || word == "d");
                        (sparse || !of_width) && old != Some(value)
                    });
                    changed
                        .map(|(_, value)| match value {
                            Setting::Numbers(all) => all.len(),
                            Setting::Number(_) => 1,
                            Setting::Switch(_) | Setting::Word(_) => 0,
                        })
                        .sum()
                }
                (Node::Radial(_, before), Node::Radial(_, after)) => usize::from(before != after),
                _ => 0,
            };
            here + before.children().iter().zip(after.children()).map(|(a, b)| count(a, b, sparse)).sum::<usize>()
        }
        count(&self.0, &resolved.0, data.views().iter().any(|view| view.values.is_sparse()))
    }
}

/// The data-driven parameters of a kernel that are not resolved.
pub(super) fn waiting(bound: &Bound) -> Vec<String> {
    let mut copy = bound.kernel.boxed();
    let numbers: Vec<&str> = describe(copy.as_mut())
        .into_iter()
        .filter(|d| d.kind == "number" && !d.words.is_empty())
        .map(|d| d.name)
        .collect();
    let word = |(name, value): (&str, Setting)| match value {
        Setting::Word(word) if numbers.contains(&name) => Some(word),
        _ => None,
    };
    bound.kernel.settings().into_iter().filter_map(word).collect()
}
