//! Figures: plain numbers in, a picture out.
//!
//! Each figure is a struct with public fields and a method `draw` that takes a [`Theme`] and returns the text of an SVG file;
//! the crate `mercer-raster` makes PNG of it. Nothing here knows kernels or machines. Numbers that are not finite are left
//! out of the picture, never written into it; the same figure always gives the same text.
//!
//! ```
//! use mercer_plot::{Scatter, Theme};
//!
//! let svg = Scatter { title: "nothing yet".to_owned(), ..Scatter::default() }.draw(Theme::Dark);
//! assert!(svg.starts_with("<svg ") && svg.contains("nothing yet"));
//! ```

mod axes;
mod certificates;
mod contour;
mod curve;
mod distributions;
mod feature_maps;
mod heat;
mod learning;
mod marks;
mod matrix;
mod pixels;
mod predicted;
mod profile;
mod reliability;
mod roc;
mod rounding;
mod sample_size;
mod scatter;
mod spectrum;
mod strokes;
mod surface;
mod svg;
#[cfg(test)]
mod tests;
mod theme;
mod title;

pub use certificates::{CertificateBar, CertificateFigure};
pub use curve::{Band, Datum, Line, RegressionCurve};
pub use distributions::{DensityPair, Distributions};
pub use feature_maps::{FeatureMap, FeatureMaps};
pub use heat::Heat;
pub use learning::{LearningFigure, ScoreAt};
pub use marks::PlotPoint;
pub use matrix::MatrixImage;
pub use predicted::PredictedAgainstTrue;
pub use profile::ScoreProfile;
pub use reliability::{ReliabilityDiagram, Share};
pub use roc::RocFigure;
pub use rounding::{at_least, at_most, digits_at_most, percent_at_least, percent_at_most, trimmed};
pub use sample_size::{BoundCurve, SampleSizeFigure};
pub use scatter::Scatter;
pub use spectrum::SpectrumFigure;
pub use strokes::{Stroke, Strokes};
pub use surface::DecisionSurface;
pub use svg::FONTS;
pub use theme::Theme;
pub use title::short_formula;
