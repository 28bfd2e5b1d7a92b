//! Transformations of images that shall make no difference: a shift, a turn, thicker lines.
//!
//! An image is a vector of width × height numbers, row by row from the top. What comes in from outside has the smallest value of
//! the image, so strokes are bright on a dark ground. Values between pixels are interpolated linearly.
//!
//! # Source
//! The transformations of S. Mika, Kernel Fisher Discriminants (2002), 5.3.1, whose step sizes are not given there.

use super::{DataError, Rows};
use crate::parallel;
use std::fmt;
use std::str::FromStr;

/// A small change of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transform {
    /// So many pixels to the right.
    ShiftX(f64),
    /// So many pixels down.
    ShiftY(f64),
    /// So many degrees about the middle, clockwise.
    Rotate(f64),
    /// x + t (max over the pixel and its four neighbours − x) for t from 0 to 1; for t from −1 to 0 x + |t| (min − x), which
    /// makes lines thinner.
    Thicken(f64),
}

const WORDS: &str = "shift_x=PIXELS, shift_y=PIXELS, rotate=DEGREES or thicken=T with T from -1 to 1";

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShiftX(t) => write!(f, "shift_x={t}"),
            Self::ShiftY(t) => write!(f, "shift_y={t}"),
            Self::Rotate(t) => write!(f, "rotate={t}"),
            Self::Thicken(t) => write!(f, "thicken={t}"),
        }
    }
}

impl FromStr for Transform {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{} is not {WORDS}", text.trim());
        let (name, amount) = text.split_once('=').ok_or_else(wrong)?;
        let amount: f64 = amount.trim().parse().map_err(|_| wrong())?;
        let made = match name.trim() {
            "shift_x" => Self::ShiftX(amount),
            "shift_y" => Self::ShiftY(amount),
            "rotate" => Self::Rotate(amount),
            "thicken" if amount.abs() <= 1.0 => Self::Thicken(amount),
            _ => return Err(wrong()),
        };
        if amount.is_finite() && amount != 0.0 { Ok(made) } else { Err(wrong()) }
    }
}

impl Transform {
    /// Every image of some, changed.
    ///
    /// # Errors
    /// If images of this size have another number of pixels than the rows have coordinates.
    pub fn rows(&self, images: &Rows<f64>, width: usize, height: usize) -> Result<Rows<f64>, DataError> {
        let pixels = images.width();
        if width.checked_mul(height) != Some(pixels) || pixels == 0 {
            let finding =
                format!("images of {width} × {height} pixels do not have {pixels} coordinates, as the data have");
            return Err(DataError::Usage { finding });
        }
        let mut changed = images.to_own();
        parallel::strips(changed.values_mut(), pixels, |_, image| {
            let new = self.apply(image, width);
            image.copy_from_slice(&new);
        });
        Ok(changed)
    }

    /// One image of lines of so many pixels, changed.
    fn apply(&self, image: &[f64], width: usize) -> Vec<f64> {
        let height = image.len() / width;
        let ground = image.iter().copied().fold(f64::INFINITY, f64::min);
        let at = |x: i64, y: i64| match (usize::try_from(x), usize::try_from(y)) {
            (Ok(x), Ok(y)) if x < width && y < height => image[y * width + x],
            _ => ground,
        };
        let between = |x: f64, y: f64| {
            let (left, top) = (x.floor(), y.floor());
            let (u, v) = (x - left, y - top);
            let (i, j) = (left as i64, top as i64);
            // a whole pixel is exact
            let line = |j: i64| if u == 0.0 { at(i, j) } else { (1.0 - u) * at(i, j) + u * at(i + 1, j) };
            if v == 0.0 { line(j) } else { (1.0 - v) * line(j) + v * line(j + 1) }
        };
        let (middle_x, middle_y) = ((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0);
        let new = |p: usize| {
            let (x, y) = ((p % width) as f64, (p / width) as f64);
            match *self {
                Self::ShiftX(t) => between(x - t, y),
                Self::ShiftY(t) => between(x, y - t),
                Self::Rotate(degrees) => {
                    // where the pixel comes from: turned back; y points down, so this is clockwise to the eye
                    let (sin, cos) = degrees.to_radians().sin_cos();
                    let (dx, dy) = (x - middle_x, y - middle_y);
                    between(middle_x + cos * dx + sin * dy, middle_y - sin * dx + cos * dy)
                }
                Self::Thicken(t) => {
                    let (i, j) = ((p % width) as i64, (p / width) as i64);
                    let near = [at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)];
                    let own = image[p];
                    let far = near.into_iter().fold(own, if t > 0.0 { f64::max } else { f64::min });
                    own + t.abs() * (far - own)
                }
            }
        };
        (0..image.len()).map(new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dot at the given place of a 5 × 5 image on a ground of −1.
    fn dot(x: usize, y: usize) -> Vec<f64> {
        let mut image = vec![-1.0; 25];
        image[y * 5 + x] = 1.0;
        image
    }

    fn changed(text: &str, image: &[f64]) -> Vec<f64> {
        let rows = Rows::new(image.to_vec(), 1, image.len()).unwrap();
        text.parse::<Transform>().unwrap().rows(&rows, 5, 5).unwrap().values().to_vec()
    }

    #[test]
    fn dots_go_where_they_should() {
        assert_eq!(changed("shift_x=1", &dot(1, 2)), dot(2, 2));
        assert_eq!(changed("shift_x=-1", &dot(1, 2)), dot(0, 2));
        assert_eq!(changed("shift_y=2", &dot(1, 2)), dot(1, 4));
        // out of the image: nothing is left but the ground
        assert_eq!(changed("shift_x=4", &dot(1, 2)), vec![-1.0; 25]);
        // halfway between two pixels
        let half = changed("shift_x=0.5", &dot(1, 2));
        assert_eq!((half[11], half[12]), (0.0, 0.0));
        // a quarter turn takes the right to below
        let turned = changed("rotate=90", &dot(4, 2));
        assert!(turned.iter().zip(dot(2, 4)).all(|(a, b)| (a - b).abs() < 1e-12), "{turned:?}");
        // the middle stays
        let still = changed("rotate=30", &dot(2, 2));
        assert!((still[12] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn lines_become_thicker_and_thinner() {
        let thick = changed("thicken=1", &dot(2, 2));
        assert_eq!(thick.iter().filter(|&&v| v == 1.0).count(), 5);
        let halfway = changed("thicken=0.5", &dot(2, 2));
        assert_eq!((halfway[12], halfway[11], halfway[0]), (1.0, 0.0, -1.0));
        assert_eq!(changed("thicken=-1", &thick), dot(2, 2));
    }

    #[test]
    fn words_are_read_and_wrong_ones_told() {
        for text in ["shift_x=1", "shift_y=-0.5", "rotate=10", "thicken=0.25"] {
            assert_eq!(text.parse::<Transform>().unwrap().to_string(), text);
        }
        for text in ["", "shift_x", "shift_x=", "shift_x=nan", "rotate=0", "thicken=2", "blur=1", "shift_x=inf"] {
            assert!(text.parse::<Transform>().unwrap_err().contains("shift_x=PIXELS"), "{text}");
        }
        let rows = Rows::new(vec![0.0; 6], 1, 6).unwrap();
        let said = Transform::ShiftX(1.0).rows(&rows, 4, 4).unwrap_err().to_string();
        assert!(said.contains("4 × 4") && said.contains("6 coordinates"), "{said}");
    }
}
