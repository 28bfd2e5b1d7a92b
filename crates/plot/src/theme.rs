//! Themes: colours that people with any colour vision can tell apart, on light and on dark paper, and the shapes that go
//! with them.

/// Light or dark: the paper of a figure, and the colours that stand out from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white paper.
    #[default]
    Light,
    /// Light ink on nearly black paper.
    Dark,
}

/// The colours of a theme.
struct Look {
    paper: Rgb,
    /// Ink of lines and words, from strong to faint: words, tick labels and notes, grid lines.
    inks: [&'static str; 3],
    /// The palette of Okabe & Ito (Color Universal Design, 2008), strong contrasts first; black is grey here so that rings
    /// and crosses stay visible on it.
    classes: [Rgb; 8],
    /// Stops of a map of one hue, from nearly paper on.
    ramp: [Rgb; 6],
}

/// The ramp is ColorBrewer's Blues (Harrower & Brewer 2003).
const LIGHT: Look = Look {
    paper: Rgb(0xff, 0xff, 0xff),
    inks: [INK_ON_LIGHT, "#57606a", "#e4e7eb"],
    classes: [
        Rgb(0x00, 0x72, 0xb2),
        Rgb(0xd5, 0x5e, 0x00),
        Rgb(0x00, 0x9e, 0x73),
        Rgb(0xcc, 0x79, 0xa7),
        Rgb(0xe6, 0x9f, 0x00),
        Rgb(0x56, 0xb4, 0xe9),
        Rgb(0xf0, 0xe4, 0x42),
        Rgb(0x4d, 0x4d, 0x4d),
    ],
    ramp: [
        Rgb(0xf7, 0xfb, 0xff),
        Rgb(0xd0, 0xe1, 0xf2),
        Rgb(0x94, 0xc4, 0xdf),
        Rgb(0x4a, 0x98, 0xc9),
        Rgb(0x17, 0x64, 0xab),
        Rgb(0x08, 0x30, 0x6b),
    ],
};

/// The same hues, each light enough for dark paper; the two blues change places, since sky blue is the lighter one.
const DARK: Look = Look {
    paper: Rgb(0x12, 0x16, 0x1c),
    inks: ["#e6edf3", "#9aa5b1", "#2a313a"],
    classes: [
        Rgb(0x56, 0xb4, 0xe9),
        Rgb(0xf0, 0x7b, 0x2a),
        Rgb(0x1f, 0xc0, 0x92),
        Rgb(0xdb, 0x8f, 0xba),
        Rgb(0xf0, 0xb4, 0x29),
        Rgb(0x4a, 0x85, 0xe0),
        Rgb(0xf0, 0xe4, 0x42),
        Rgb(0xb4, 0xbc, 0xc6),
    ],
    ramp: [
        Rgb(0x15, 0x1c, 0x26),
        Rgb(0x12, 0x33, 0x54),
        Rgb(0x17, 0x56, 0x8c),
        Rgb(0x36, 0x86, 0xc0),
        Rgb(0x82, 0xbc, 0xe2),
        Rgb(0xe4, 0xf2, 0xfc),
    ],
};

const INK_ON_LIGHT: &str = "#1f2328";

impl Theme {
    /// The words for the themes.
    pub const WORDS: [(&'static str, Self); 2] = [("light", Self::Light), ("dark", Self::Dark)];

    const fn look(self) -> &'static Look {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }

    /// The paper.
    pub(super) const fn paper(self) -> Rgb {
        self.look().paper
    }

    /// Ink of lines and words.
    pub(super) const fn ink(self) -> &'static str {
        self.look().inks[0]
    }

    /// Ink of tick labels and notes.
    pub(super) const fn soft(self) -> &'static str {
        self.look().inks[1]
    }

    /// Ink of grid lines, and the ground of what is missing.
    pub(super) const fn faint(self) -> &'static str {
        self.look().inks[2]
    }

    /// The colour of a class; eight, then again from the first.
    pub(super) fn colour(self, code: u32) -> Rgb {
        let classes = &self.look().classes;
        classes[code as usize % classes.len()]
    }

    /// The colour of an outline that sets a mark off from others: paper, or darker than itself where it is light itself.
    pub(super) fn outline(self, mark: Rgb) -> Rgb {
        if self == Self::Light && mark.luminance() > 0.6 { mark.towards(Rgb(0, 0, 0), 0.4) } else { self.paper() }
    }

    /// A colour mixed with paper, a part t of itself.
    pub(super) fn pale(self, colour: Rgb, t: f64) -> Rgb {
        self.paper().towards(colour, t)
    }

    /// The colour of the ground that a class holds.
    pub(super) fn ground(self, code: u32) -> Rgb {
        self.pale(self.colour(code), 0.24)
    }

    /// From nearly paper at 0 to the strongest at 1.
    pub(super) fn sequential(self, t: f64) -> Rgb {
        let ramp = &self.look().ramp;
        let place = t.clamp(0.0, 1.0) * (ramp.len() - 1) as f64;
        let below = (place.floor() as usize).min(ramp.len() - 2);
        ramp[below].towards(ramp[below + 1], place - below as f64)
    }

    /// From the colour of class 0 at −1 over nearly paper at 0 to the colour of class 1 at 1; pale enough for marks on top.
    pub(super) fn diverging(self, t: f64) -> Rgb {
        self.pale(self.colour(u32::from(t > 0.0)), 0.06 + 0.44 * t.abs().min(1.0))
    }
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl Rgb {
    /// The colour a part t of the way to another.
    pub(super) fn towards(self, other: Self, t: f64) -> Self {
        let t = t.clamp(0.0, 1.0);
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// As SVG writes it.
    pub(super) fn hex(self) -> String {
        match self {
            Self(255, 255, 255) => "#fff".to_owned(),
            Self(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        }
    }

    /// The ink that is easier to read on it, white or nearly black: relative luminance as the Web Content Accessibility
    /// Guidelines define it; both have equal contrast at 0.215.
    pub(super) fn words(self) -> &'static str {
        if self.luminance() < 0.215 { "#fff" } else { INK_ON_LIGHT }
    }

    /// Relative luminance, from 0 (black) to 1 (white).
    pub(super) fn luminance(self) -> f64 {
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

/// The shape of a class; five, so that colour and shape together repeat only after forty classes.
pub(super) fn shape(code: u32) -> Shape {
    [Shape::Circle, Shape::Square, Shape::Up, Shape::Diamond, Shape::Down][code as usize % 5]
}
