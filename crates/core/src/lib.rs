//! mercer: kernel methods, from a data file to a model with its evidence.
//!
//! ```
//! use mercer::prelude::*;
//!
//! // data: 200 points in two moons, with their classes
//! let table = mercer::datasets::load("two_moons", Some(200), Seed(1))?;
//! let (_, data) = Schema::learn_and_apply(&table, &SchemaOptions::default())?;
//!
//! // a kernel is a formula
//! let k = rbf(0.5) + 0.1 * linear();
//! let gram = k.gram(&data)?; // lazy: nothing is computed yet
//! assert_eq!(gram.shape(), (200, 200));
//!
//! // a machine learns, predicts, and the model is one file
//! let model = Svc { c: 10.0, ..Svc::default() }.fit(&k, &data)?;
//! let predicted = model.predict(&data)?;
//! assert_eq!(predicted.len(), 200);
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("moons.mercer");
//! model.save(&path)?;
//! assert_eq!(Model::load(&path)?.predict(&data)?, predicted);
//! # Ok::<(), mercer::Error>(())
//! ```
//!
//! From data to a model: [`data`] (and [`datasets`]), [`formula`] over [`kernels`], [`machines`], and [`job`], which makes a
//! [`model`] of them; [`select`] searches parameters, [`metrics`] compare predictions with targets, [`conformal`] prediction gives
//! regions with a proven coverage, and [`certify`] states what learning theory guarantees. [`geometry`] and [`hypothesis_tests`]
//! ask questions of a kernel matrix ([`gram`]) without a machine. [`params`] are the declared parameters of kernels and
//! machines, and [`watch`] follows long work and stops it.
//!
//! The folders are layers, and `DESIGN.md` tells why. Modules that are not listed here are open to the programs of this
//! repository; they may change at any time.

pub mod certify;
pub mod conformal;
pub mod data;
pub mod datasets;
#[cfg(test)]
mod dummies;
pub mod formula;
pub mod geometry;
pub mod gram;
pub mod hypothesis_tests;
pub mod job;
pub mod kernels;
pub mod machines;
pub mod metrics;
pub mod model;
pub mod params;
pub mod select;
pub mod watch;

// Internals that the command line, the experiments, the Python half or tests from outside use.
#[doc(hidden)]
pub mod bounds;
#[doc(hidden)]
pub mod calibrate;
#[doc(hidden)]
pub mod distributions;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod linalg;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod resample;
#[doc(hidden)]
pub mod seed;
#[doc(hidden)]
pub mod solvers;
#[doc(hidden)]
pub mod sources;
#[doc(hidden)]
pub mod write;

mod order;
mod parallel;
mod vectorise;

pub use mercer_plot as plot;

#[doc(inline)]
pub use calibrate::{Calibration, Curve, Method as CalibrationMethod};
#[doc(inline)]
pub use error::{Blame, Error};
#[doc(inline)]
pub use linalg::SolveError;
#[doc(inline)]
pub use seed::Seed;
#[doc(inline)]
pub use sources::{Source, Work};

/// The names that most programs need.
pub mod prelude {
    pub use crate::data::{Dataset, Rows, Scale, Schema, SchemaOptions, SparseRows, Target};
    pub use crate::formula::*;
    pub use crate::gram::Gram;
    pub use crate::job::{Fit, Job};
    pub use crate::machines::Effort;
    pub use crate::machines::classify::{
        Adatron, InvariantKfd, Kfd, Knn, LinearSvc, NearestMean, NuSvc, PacBayes, Parzen, Perceptron,
        RegularisedFisher, Svc, huber_kfd, kernel_logistic, linear_sparse_kfd, lp_boost, lp_machine, programme,
        robust_kfd, sparse_kfd,
    };
    pub use crate::machines::cluster::{KernelKMeans, SpectralClustering};
    pub use crate::machines::detect::{CentreOfMass, OneClass, ParzenDensity, Svdd};
    pub use crate::machines::programme::{LossName, Programme};
    pub use crate::machines::reduce::{EmpiricalMap, IncompleteCholesky, Kda, KernelPca, OrientedKpca, WhitenedMap};
    pub use crate::machines::regress::{
        Expectile, KnnRegression, LinearSvr, NuSvr, Quantile, Ridge, Svr, huber_regression, linear_sparse_regression,
        programme_regression, robust_regression, sparse_regression,
    };
    pub use crate::model::Model;
    pub use crate::seed::Seed;
    pub use crate::solvers::Penalty;
}

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
