//! Titles: formulas cut to what fits above a picture.

/// A formula for a title: numbers are cut to four digits, and long formulas end in an ellipsis.
pub fn short_formula(kernel: &str) -> String {
    let mut out = String::new();
    let mut number = String::new();
    for c in kernel.chars().chain(std::iter::once(' ')) {
        if c.is_ascii_digit() || c == '.' {
            number.push(c);
            continue;
        }
        match number.parse::<f64>() {
            Ok(x) if number.len() > 6 => {
                let rounded = format!("{x:.3e}").parse().unwrap_or(x);
                out.push_str(&rounded.to_string());
            }
            _ => out.push_str(&number),
        }
        number.clear();
        out.push(c);
    }
    let out = out.trim_end().to_owned();
    if out.chars().count() > 60 { out.chars().take(59).chain(['…']).collect() } else { out }
}
