//! Colours that people with any colour vision can tell apart, and the shapes that go with them.

/// The palette of Okabe & Ito (Color Universal Design, 2008), strong contrasts first; black is dark grey here so that
/// rings and crosses stay visible on it.
const CLASSES: [Rgb; 8] = [
    Rgb(0x00, 0x72, 0xb2),
    Rgb(0xd5, 0x5e, 0x00),
    Rgb(0x00, 0x9e, 0x73),
    Rgb(0xcc, 0x79, 0xa7),
    Rgb(0xe6, 0x9f, 0x00),
    Rgb(0x56, 0xb4, 0xe9),
    Rgb(0xf0, 0xe4, 0x42),
    Rgb(0x4d, 0x4d, 0x4d),
];

/// Stops of a map from almost white to dark blue (ColorBrewer's Blues, Harrower & Brewer 2003).
const BLUES: [Rgb; 6] = [
    Rgb(0xf7, 0xfb, 0xff),
    Rgb(0xd0, 0xe1, 0xf2),
    Rgb(0x94, 0xc4, 0xdf),
    Rgb(0x4a, 0x98, 0xc9),
    Rgb(0x17, 0x64, 0xab),
    Rgb(0x08, 0x30, 0x6b),
];

/// Ink of lines and words, from strong to faint.
pub(super) const INK: &str = "#1f2328";
/// Ink of tick labels and notes.
pub(super) const SOFT: &str = "#57606a";
/// Ink of grid lines.
pub(super) const FAINT: &str = "#e4e7eb";

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl Rgb {
    /// White.
    pub(super) const WHITE: Self = Self(255, 255, 255);

    /// The colour a part t of the way to another.
    pub(super) fn towards(self, other: Self, t: f64) -> Self {
        let t = t.clamp(0.0, 1.0);
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// As SVG writes it.
    pub(super) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Whether white words are easier to read on it than black ones: relative luminance as the Web Content
    /// Accessibility Guidelines define it; white and our ink have equal contrast at 0.215.
    pub(super) fn is_dark(self) -> bool {
        self.luminance() < 0.215
    }

    /// The colour of an outline that sets a mark off from others: white, or darker than itself where it is itself light.
    pub(super) fn outline(self) -> Self {
        if self.luminance() > 0.6 { self.towards(Self(0, 0, 0), 0.4) } else { Self::WHITE }
    }

    fn luminance(self) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle on its side.
    Up,
    /// A square on its tip.
    Diamond,
    /// A triangle on its tip.
    Down,
}

/// The colour of a class; eight, then again from the first.
pub(super) fn colour(code: u32) -> Rgb {
    CLASSES[code as usize % CLASSES.len()]
}

/// The shape of a class; five, so that colour and shape together repeat only after forty classes.
pub(super) fn shape(code: u32) -> Shape {
    [Shape::Circle, Shape::Square, Shape::Up, Shape::Diamond, Shape::Down][code as usize % 5]
}

/// The colour of the ground that a class holds.
pub(super) fn ground(code: u32) -> Rgb {
    Rgb::WHITE.towards(colour(code), 0.24)
}

/// From almost white at 0 to dark blue at 1.
pub(super) fn sequential(t: f64) -> Rgb {
    let place = t.clamp(0.0, 1.0) * (BLUES.len() - 1) as f64;
    let below = (place.floor() as usize).min(BLUES.len() - 2);
    BLUES[below].towards(BLUES[below + 1], place - below as f64)
}

/// From the colour of class 0 at −1 over almost white at 0 to the colour of class 1 at 1; pale enough for marks on top.
pub(super) fn diverging(t: f64) -> Rgb {
    let side = colour(u32::from(t > 0.0));
    Rgb::WHITE.towards(side, 0.06 + 0.44 * t.abs().min(1.0))
}
