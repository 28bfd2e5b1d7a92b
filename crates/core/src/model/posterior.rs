//! Posteriors in a model file: the weight of κ(x, x), the factors of the other terms, and the noise.

use super::file::finite;
use super::tensors::{Packer, Unpacker};
use crate::linalg::Triangle;
use crate::machines::{Posterior, PosteriorTerm};
use serde::{Deserialize, Serialize};

/// The part of the document about a posterior.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPosterior {
    prior: f64,
    /// True for each term that is added; the others are subtracted.
    added: Vec<bool>,
}

/// Adds a posterior to a file.
pub(super) fn pack(pack: &mut Packer, posterior: &Posterior) -> StoredPosterior {
    for (t, term) in posterior.terms.iter().enumerate() {
        let packed = term.factor.packed();
        pack.f64s(format!("posterior.{t}.factor"), &[packed.len()], &packed);
    }
    pack.f64s("posterior.noise", &[posterior.noise.len()], &posterior.noise);
    StoredPosterior { prior: posterior.prior, added: posterior.terms.iter().map(|term| term.added).collect() }
}

/// Reads and checks the posterior of an expansion with so many points and outputs. Nothing is larger than what is in the file but for
/// the squares of its triangles.
pub(super) fn unpack(
    stored: &StoredPosterior,
    unpack: &Unpacker<'_>,
    (points, outputs): (usize, usize),
) -> Result<Posterior, String> {
    let term = |(t, &added): (usize, &bool)| {
        let (_, packed) = unpack.get_f64s(&format!("posterior.{t}.factor"))?;
        let factor = Triangle::from_packed(&packed, points);
        factor.map(|factor| PosteriorTerm { added, factor }).ok_or("its posterior does not fit its points".to_owned())
    };
    let terms = stored.added.iter().enumerate().map(term).collect::<Result<_, String>>()?;
    let (_, noise) = finite(unpack.get_f64s("posterior.noise")?)?;
    let posterior = Posterior { prior: stored.prior, terms, noise };
    posterior.check(points, outputs).map(|()| posterior)
}

#[cfg(test)]
mod tests {
    use crate::data::{Dataset, Rows, Target};
    use crate::formula::rbf;
    use crate::gram::fill;
    use crate::job::Fit;
    use crate::linalg::Cholesky;
    use crate::machines::regress::Ridge;
    use crate::machines::{Output, Posterior, PosteriorTerm, Readout};
    use crate::model::Model;

    fn data() -> Dataset {
        let x = Rows::new((0..12).map(|i| f64::from(i) * 0.5).collect(), 12, 1).unwrap();
        let y: Vec<f64> = (0..12).map(|i| (f64::from(i) * 0.5).sin()).collect();
        Dataset::new(x).with_target(Target::from_numbers("y", y)).unwrap()
    }

    /// Ridge with the variance of a Gaussian process of the same kernel and noise.
    fn uncertain(noise: f64) -> Model {
        let (kernel, data) = (rbf(0.7), data());
        let mut model = Ridge { lambda: noise.into(), ..Ridge::default() }.fit(&kernel, &data).unwrap();
        let n = data.len();
        let mut matrix = vec![0.0; n * n];
        fill(kernel.training_gram(&data).unwrap().as_ref(), &mut matrix);
        (0..n).for_each(|i| matrix[i * n + i] += noise);
        let factor = Cholesky::factor(matrix, n).unwrap().into_triangle();
        let terms = vec![PosteriorTerm { added: false, factor }];
        model.fitted.posterior = Some(Posterior { prior: 1.0, terms, noise: vec![noise] });
        model
    }

    #[test]
    fn variances_are_small_near_the_examples_and_survive_the_file() {
        let model = uncertain(0.01);
        let new = Dataset::new(Rows::new(vec![1.0, 40.0], 2, 1).unwrap());
        let output = model.predict(&new).unwrap();
        let Output::Values { variances: Some(known), .. } = &output else { panic!("variances") };
        assert!(known.function[0] < 0.01 && (known.function[1] - 1.0).abs() < 1e-12);
        assert_eq!(known.noise, [0.01]);
        let bytes = model.to_bytes().unwrap();
        let again = Model::from_bytes(&bytes, "m").unwrap();
        assert_eq!(again.predict(&new).unwrap(), output);
        assert_eq!(again.predictor().predict(&new).unwrap(), output);
        // without a posterior nothing changes in the file
        let mut plain = model.clone();
        plain.fitted.posterior = None;
        assert!(plain.to_bytes().unwrap().len() < bytes.len());
        let Output::Values { variances: None, .. } = plain.predict(&new).unwrap() else { panic!("no variances") };
    }

    #[test]
    fn a_posterior_that_does_not_fit_is_refused() {
        let mut model = uncertain(0.1);
        if let Some(posterior) = &mut model.fitted.posterior {
            posterior.noise = vec![0.1, 0.1];
        }
        let said = model.to_bytes().unwrap_err().to_string();
        assert!(said.contains("posterior"), "{said}");
    }

    #[test]
    fn sets_of_labels_and_orders_survive_the_file() {
        let (kernel, data) = (rbf(0.7), data());
        let mut model = Ridge::default().fit(&kernel, &data).unwrap();
        for readout in [Readout::LabelSets { labels: vec!["up".to_owned()] }, Readout::Order] {
            model.fitted.readout = readout;
            let again = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
            assert_eq!(again.predict(&data).unwrap(), model.predict(&data).unwrap());
        }
        let ranks = model.predict(&data).unwrap().ranks();
        assert_eq!(ranks.len(), 12);
        assert!(ranks.contains(&1));
    }
}
