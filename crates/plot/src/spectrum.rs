//! Eigenvalues on a logarithmic scale.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::curve::dots;
use super::marks::{Glyph, legend};
use super::svg::Svg;
use super::theme::Theme;

/// The spectrum of a kernel matrix.
#[derive(Clone, Debug, Default)]
pub struct SpectrumFigure {
    /// Title.
    pub title: String,
    /// Eigenvalues, the largest first; those at or below rounding of the largest are left out.
    pub values: Vec<f64>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl SpectrumFigure {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let top = self.values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let nothing = top * f64::EPSILON * self.values.len() as f64;
        let above = self.values.iter().enumerate().filter(|(_, v)| v.is_finite() && **v > nothing);
        let shown: Vec<(f64, f64)> = above.map(|(k, v)| ((k + 1) as f64, v.log10())).collect();
        let (x, y) = (range(shown.iter().map(|p| p.0), 0.03), range(shown.iter().map(|p| p.1), 0.06));
        let panel = Panel::new(x, y, WIDTH, LEGEND).powers();
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        dots(&mut svg, &shown.iter().filter_map(|p| panel.place(p.0, p.1)).collect::<Vec<_>>(), theme.colour(0));
        panel.frame(&mut svg, "place of the eigenvalue, the largest first", "eigenvalue");
        legend(&mut svg, panel.right(), &[(Glyph::Dot(theme.colour(0)), "eigenvalue".to_owned())]);
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_above_rounding_are_drawn_and_others_are_not() {
        let values = vec![10.0, 1.0, 0.1, 1e-18, -1.0, f64::NAN];
        let svg = SpectrumFigure { title: "k".to_owned(), values, note: None }.draw(Theme::Light);
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"));
        // three eigenvalues and the one of the legend
        assert_eq!(svg.matches("<circle").count(), 4);
        // the axis has powers of ten
        assert!(svg.contains(">10<") && svg.contains(">0.1<") && !svg.contains(">−1<"), "{svg}");
        let empty = SpectrumFigure::default().draw(Theme::Light);
        assert!(empty.starts_with("<svg"));
    }
}
