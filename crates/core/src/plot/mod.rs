//! Figures: plain numbers in, an SVG picture out.
//!
//! Each figure is a struct with public fields and a method `draw` that returns the text of an SVG file. Nothing here
//! knows kernels or machines. Numbers that are not finite are left out of the picture, never written into it; the same
//! figure always gives the same text.

mod axes;
mod contour;
mod curve;
mod heat;
mod marks;
mod palette;
mod predicted;
mod profile;
mod reliability;
mod scatter;
mod spectrum;
mod surface;
mod svg;
#[cfg(test)]
mod tests;

pub use curve::RegressionCurve;
pub use heat::Heat;
pub use marks::PlotPoint;
pub use predicted::PredictedAgainstTrue;
pub use profile::ScoreProfile;
pub use reliability::{ReliabilityDiagram, Share};
pub use scatter::Scatter;
pub use spectrum::SpectrumFigure;
pub use surface::DecisionSurface;
