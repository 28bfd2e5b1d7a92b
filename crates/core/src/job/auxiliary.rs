//! AuxiliaryExamples: examples that a machine learns from, but not to predict them.

use crate::data::{DataError, Dataset, Values, View};
use crate::machines::Role;
use crate::machines::baseline::centres;
use crate::seed::Seed;

/// Examples of noise, copies of the training examples after small changes, and further points of expansions, which stand
/// beside the training data.
///
/// ```
/// use mercer::data::Transform;
/// use mercer::job::AuxiliaryExamples;
/// use mercer::prelude::*;
/// // images of 2 × 2 pixels, and what they look like one half pixel further to the right
/// let x = Rows::from_vectors(&[[1.0, 0.0, 1.0, 0.0], [0.9, 0.0, 1.1, 0.0], [0.0, 0.2, 1.0, 0.8], [0.1, 0.0, 0.9, 1.0]]).unwrap();
/// let moved: Transform = "shift_x=0.5".parse().unwrap();
/// let copies = Dataset::new(moved.rows(&x, 2, 2)?);
/// let auxiliary = AuxiliaryExamples::default().with_copies("shift_x=0.5", &copies)?;
/// let data = Dataset::new(x).with_target(Target::from_text("y", &["a", "a", "b", "b"]))?;
/// let machine = Kda { unwanted: "within + 0.01*norm + 10*tangent".to_owned(), ..Kda::default() };
/// let kernel = rbf(1.0);
/// let job = Job { auxiliary: Some(auxiliary), ..Job::new(&machine, &kernel) };
/// let model = job.run(&data, &mercer::watch::Silent)?;
/// assert_eq!(model.predict(&data)?.len(), 4);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AuxiliaryExamples {
    data: Option<Dataset>,
    roles: Vec<Role>,
    transformations: Vec<String>,
}

impl AuxiliaryExamples {
    /// Adds examples of noise.
    ///
    /// # Errors
    /// If they have other views than what is there already.
    pub fn with_noise(self, noise: &Dataset) -> Result<Self, DataError> {
        let roles = vec![Role::Noise; noise.len()];
        self.with(noise, roles)
    }

    /// Adds a copy of every training example, in their order, after a change of this name.
    ///
    /// # Errors
    /// If they have other views than what is there already, or a name is used twice.
    pub fn with_copies(mut self, name: &str, copies: &Dataset) -> Result<Self, DataError> {
        if self.transformations.iter().any(|known| known == name) {
            let finding = format!("two transformations are called {name}; give each of them once");
            return Err(DataError::Usage { finding });
        }
        let transformation = self.transformations.len();
        self.transformations.push(name.to_owned());
        let roles = (0..copies.len()).map(|of| Role::Copy { of, transformation }).collect();
        self.with(copies, roles)
    }

    /// Adds points that expansions may use.
    ///
    /// # Errors
    /// If they have other views than what is there already.
    pub fn with_points(self, points: &Dataset) -> Result<Self, DataError> {
        let roles = vec![Role::Point; points.len()];
        self.with(points, roles)
    }

    /// Adds the centres of k means, of the training examples and all copies together, as points.
    ///
    /// # Errors
    /// If the data are anything but one view of dense vectors.
    pub fn with_centres(self, data: &Dataset, count: usize, seed: Seed) -> Result<Self, DataError> {
        let copies: Vec<usize> =
            (0..self.len()).filter(|&i| matches!(self.roles[i], Role::Copy { .. })).map(|i| data.len() + i).collect();
        let all = self.beside(data)?.select(&(0..data.len()).chain(copies).collect::<Vec<_>>());
        let rows = match all.views() {
            [only] => match &only.values {
                Values::Dense(rows) => Some(rows.as_ref().clone()),
                Values::Dense32(rows) => Some(rows.convert::<f64>()),
                _ => None,
            },
            _ => None,
        };
        let rows = rows.filter(|rows| rows.width() > 0 && rows.values().iter().all(|x| x.is_finite()));
        let Some(rows) = rows else {
            let finding = "centres are those of one view of dense vectors without missing entries".to_owned();
            return Err(DataError::Usage { finding });
        };
        let found = centres(&rows, count, seed);
        let mut points = all.select(&[]);
        if let Some(view) = points.views().first() {
            let values = match view.values {
                Values::Dense32(_) => Values::from(found.convert::<f32>()),
                _ => Values::from(found),
            };
            points = Dataset::from_views(vec![View { name: view.name.clone(), values }])?;
        }
        self.with_points(&points)
    }

    /// The number of auxiliary examples.
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// The role of each.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The names of the transformations that copies went through.
    pub fn transformations(&self) -> &[String] {
        &self.transformations
    }

    /// The training examples and, after them, all companions; without target and weights.
    ///
    /// # Errors
    /// If they have other views than the data, or a transformation has not as many copies as there are examples.
    pub fn beside(&self, data: &Dataset) -> Result<Dataset, DataError> {
        for (t, name) in self.transformations.iter().enumerate() {
            let of = |role: &&Role| matches!(role, Role::Copy { transformation, .. } if *transformation == t);
            let got = self.roles.iter().filter(of).count();
            if got != data.len() {
                let what = format!("the transformation {name}");
                return Err(DataError::Lengths { what, got, other: "the data".to_owned(), wanted: data.len() });
            }
        }
        match &self.data {
            Some(auxiliary) => data.joined(auxiliary),
            None => Ok(data.clone().without_target()),
        }
    }

    fn with(mut self, more: &Dataset, roles: Vec<Role>) -> Result<Self, DataError> {
        let joined = match &self.data {
            Some(data) => data.joined(more)?,
            None => more.clone().without_target(),
        };
        self.data = Some(joined);
        self.roles.extend(roles);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Target};

    fn rows(values: &[[f64; 2]]) -> Dataset {
        Dataset::new(Rows::from_vectors(values).unwrap())
    }

    #[test]
    fn companions_stand_after_the_examples_in_the_order_they_were_given() {
        let data = rows(&[[0.0, 0.0], [1.0, 1.0]]).with_target(Target::from(vec![1.0, 2.0])).unwrap();
        let all = AuxiliaryExamples::default()
            .with_noise(&rows(&[[5.0, 5.0]]))
            .and_then(|c| c.with_copies("a", &rows(&[[0.1, 0.0], [1.1, 1.0]])))
            .and_then(|c| c.with_points(&rows(&[[9.0, 9.0]])))
            .unwrap();
        let copy = |of| Role::Copy { of, transformation: 0 };
        assert_eq!(all.roles(), [Role::Noise, copy(0), copy(1), Role::Point]);
        let joined = all.beside(&data).unwrap();
        assert!(joined.target().is_none() && joined.len() == 6);
        let Values::Dense(found) = &joined.views()[0].values else { panic!() };
        assert_eq!(found.row(3), [0.1, 0.0]);
        assert_eq!(found.row(5), [9.0, 9.0]);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let data = rows(&[[0.0, 0.0], [1.0, 1.0]]);
        let short = AuxiliaryExamples::default().with_copies("a", &rows(&[[0.0, 0.0]])).unwrap();
        let said = short.beside(&data).unwrap_err().to_string();
        assert!(said.contains("transformation a has 1 examples, but the data has 2"), "{said}");
        assert!(short.with_copies("a", &data).unwrap_err().to_string().contains("called a"));
        let text = Dataset::new(vec!["x".to_owned()]);
        assert!(AuxiliaryExamples::default().with_noise(&text).unwrap().beside(&data).is_err());
        let narrow = Dataset::new(Rows::from_vectors(&[[1.0]]).unwrap());
        let said = AuxiliaryExamples::default().with_noise(&narrow).unwrap().beside(&data).unwrap_err().to_string();
        assert!(said.contains("some have 2 coordinates, others 1"), "{said}");
    }

    #[test]
    fn centres_are_those_of_examples_and_copies() {
        // two far clouds of examples, and copies in a third place
        let data = rows(&[[0.0, 0.0], [0.2, 0.0], [10.0, 0.0], [10.2, 0.0]]);
        let copies = rows(&[[0.0, 50.0], [0.2, 50.0], [10.0, 50.0], [10.2, 50.0]]);
        let found =
            AuxiliaryExamples::default().with_copies("up", &copies).unwrap().with_centres(&data, 4, Seed(1)).unwrap();
        assert_eq!(found.roles()[4..], [Role::Point; 4]);
        let joined = found.beside(&data).unwrap();
        let Values::Dense(all) = &joined.views()[0].values else { panic!() };
        let mut centres: Vec<(f64, f64)> = (8..12).map(|i| (all.row(i)[1], all.row(i)[0])).collect();
        centres.sort_by(|a, b| a.partial_cmp(b).unwrap());
        for (found, wanted) in centres.iter().zip([(0.0, 0.1), (0.0, 10.1), (50.0, 0.1), (50.0, 10.1)]) {
            assert!((found.0 - wanted.0).abs() < 1e-12 && (found.1 - wanted.1).abs() < 1e-12, "{centres:?}");
        }
    }
}
