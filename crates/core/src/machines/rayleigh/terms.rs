//! Weighted sums of matrices in words: `within + 0.001*coefficients + 0.01*tangent(rotate)`.

use std::fmt;

/// A quadratic form of the coefficients a of w = Σ_j a_j φ(z_j).
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// The variance of ⟨w, φ(x)⟩ over the examples: (1/n) K(I − 11ᵀ/n)Kᵀ.
    Covariance,
    /// ‖w‖² = aᵀK_zz a.
    Norm,
    /// ‖a‖².
    Coefficients,
    /// The scatter about the class means, summed over the examples.
    Within,
    /// The scatter of the class means, summed over the examples.
    Between,
    /// The variance of ⟨w, φ(x)⟩ over examples of noise.
    Noise,
    /// Σ_i ⟨w, φ(x_i) − φ(Lx_i)⟩² over copies Lx_i, the mean of all transformations or one of them by name.
    Tangent(Option<String>),
}

/// A matrix and its weight above zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The weight.
    pub weight: f64,
    /// The matrix.
    pub matrix: Matrix,
}

/// A weighted sum of matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms(pub Vec<Term>);

/// The matrices that a sum may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Variance to be large, without classes.
    Wanted,
    /// Variance to be small, without classes.
    Unwanted,
    /// Variance to be large, with classes.
    WantedOfClasses,
    /// Variance to be small, with classes.
    UnwantedOfClasses,
}

impl Allowed {
    fn words(self) -> &'static str {
        match self {
            Self::Wanted => "covariance, norm, noise, tangent, tangent(NAME)",
            Self::Unwanted => "norm, coefficients, covariance, noise, tangent, tangent(NAME)",
            Self::WantedOfClasses => "between, covariance, within, norm, noise, tangent, tangent(NAME)",
            Self::UnwantedOfClasses => "within, coefficients, norm, covariance, between, noise, tangent, tangent(NAME)",
        }
    }

    fn has(self, matrix: &Matrix) -> bool {
        match matrix {
            Matrix::Within | Matrix::Between => matches!(self, Self::WantedOfClasses | Self::UnwantedOfClasses),
            // a is no property of w: many give the same
            Matrix::Coefficients => matches!(self, Self::Unwanted | Self::UnwantedOfClasses),
            _ => true,
        }
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tangent(Some(name)) => write!(f, "tangent({name})"),
            Self::Tangent(None) => f.write_str("tangent"),
            Self::Covariance => f.write_str("covariance"),
            Self::Norm => f.write_str("norm"),
            Self::Coefficients => f.write_str("coefficients"),
            Self::Within => f.write_str("within"),
            Self::Between => f.write_str("between"),
            Self::Noise => f.write_str("noise"),
        }
    }
}

impl Matrix {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "covariance" => Self::Covariance,
            "norm" | "identity" => Self::Norm,
            "coefficients" => Self::Coefficients,
            "within" => Self::Within,
            "between" => Self::Between,
            "noise" => Self::Noise,
            "tangent" => Self::Tangent(None),
            other => {
                let name = other.strip_prefix("tangent")?.trim_start().strip_prefix('(')?.strip_suffix(')')?.trim();
                (!name.is_empty()).then(|| Self::Tangent(Some(name.to_owned())))?
            }
        })
    }
}

impl Terms {
    /// Reads the words; the error says what would be right.
    pub fn parse(text: &str, allowed: Allowed) -> Result<Self, String> {
        let wanted =
            || format!("a sum of matrices with weights above zero, such as `a + 0.01*b`, of {}", allowed.words());
        let one = |part: &str| {
            let (weight, name) = match part.split_once('*') {
                Some((weight, name)) => (weight.trim().parse().ok()?, name),
                None => (1.0, part),
            };
            let matrix = Matrix::parse(name.trim())?;
            (weight > 0.0 && f64::is_finite(weight) && allowed.has(&matrix)).then_some(Term { weight, matrix })
        };
        // the sign of an exponent is no plus between terms
        let mut parts: Vec<String> = Vec::new();
        for piece in text.split('+') {
            match parts.last_mut() {
                Some(last) if is_exponent(last) => {
                    last.push('+');
                    last.push_str(piece);
                }
                _ => parts.push(piece.to_owned()),
            }
        }
        let terms: Option<Vec<Term>> = parts.iter().map(|part| one(part.trim())).collect();
        let terms = terms.ok_or_else(wanted)?;
        match terms.iter().enumerate().find(|(i, t)| terms[..*i].iter().any(|u| u.matrix == t.matrix)) {
            Some((_, term)) => Err(format!("each matrix once; {} stands there twice", term.matrix)),
            None => Ok(Self(terms)),
        }
    }

    /// True if a matrix is in the sum.
    pub fn has(&self, matrix: &Matrix) -> bool {
        self.0.iter().any(|t| t.matrix == *matrix)
    }
}

/// True if text ends like `1e`, so that a plus after it belongs to the number.
fn is_exponent(text: &str) -> bool {
    let Some(digits) = text.strip_suffix(['e', 'E']) else { return false };
    let number = digits.trim_start();
    number.ends_with(|c: char| c.is_ascii_digit() || c == '.') && number.parse::<f64>().is_ok()
}

/// The rule of a parameter `wanted` without classes.
pub fn check_wanted(text: &str) -> Result<(), String> {
    Terms::parse(text, Allowed::Wanted).map(|_| ())
}

/// The rule of a parameter `unwanted` without classes.
pub fn check_unwanted(text: &str) -> Result<(), String> {
    Terms::parse(text, Allowed::Unwanted).map(|_| ())
}

/// The rule of a parameter `wanted` with classes.
pub fn check_wanted_of_classes(text: &str) -> Result<(), String> {
    Terms::parse(text, Allowed::WantedOfClasses).map(|_| ())
}

/// The rule of a parameter `unwanted` with classes.
pub fn check_unwanted_of_classes(text: &str) -> Result<(), String> {
    Terms::parse(text, Allowed::UnwantedOfClasses).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read_with_their_weights() {
        let terms = Terms::parse("within + 1e-3*coefficients+2.5e+1 * tangent( rotate )", Allowed::UnwantedOfClasses);
        let term = |weight, matrix| Term { weight, matrix };
        let wanted = vec![
            term(1.0, Matrix::Within),
            term(1e-3, Matrix::Coefficients),
            term(25.0, Matrix::Tangent(Some("rotate".to_owned()))),
        ];
        assert_eq!(terms, Ok(Terms(wanted)));
        let identity = Terms::parse("identity", Allowed::Unwanted).unwrap();
        assert!(identity.has(&Matrix::Norm) && !identity.has(&Matrix::Noise));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for text in ["", "x", "0*norm", "-1*norm", "inf*norm", "norm +", "norm norm", "tangent()", "*norm", "1e+norm"] {
            let said = check_unwanted(text).unwrap_err();
            assert!(said.contains("weights above zero") && said.contains("coefficients"), "{text}: {said}");
        }
        assert!(check_unwanted("norm + 2*norm").unwrap_err().contains("norm stands there twice"));
        // classes are not there to be used, and ‖a‖² is nothing to be wished for
        assert!(check_unwanted("within").is_err() && check_wanted("between").is_err());
        assert!(check_wanted("coefficients").is_err() && check_wanted_of_classes("coefficients").is_err());
        assert!(check_unwanted_of_classes("within").is_ok() && check_wanted_of_classes("between + noise").is_ok());
    }
}
