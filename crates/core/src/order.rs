//! Places in the order of numbers or classes, equal ones as they stood.
//!
//! Each closure given to `sort_by` compiles a sort of its own; these are compiled once.

/// Sorts places by their values, the smallest first, by the total order of floating-point numbers.
pub(crate) fn rising(places: &mut [usize], values: &[f64]) {
    places.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
}

/// Sorts places by their values, the largest first, by the total order of floating-point numbers.
pub(crate) fn falling(places: &mut [usize], values: &[f64]) {
    places.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
}

/// Sorts places by the codes of their classes.
pub(crate) fn by_class(places: &mut [usize], codes: &[u32]) {
    places.sort_by_key(|&i| codes[i]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_places_keep_their_order() {
        let values = [2.0, 1.0, f64::NAN, 1.0, -0.0, 0.0, f64::NEG_INFINITY];
        let sorted = |sort: fn(&mut [usize], &[f64])| {
            let mut places = vec![3, 1, 0, 2, 5, 4, 6];
            sort(&mut places, &values);
            places
        };
        assert_eq!(sorted(rising), [6, 4, 5, 3, 1, 0, 2]);
        assert_eq!(sorted(falling), [2, 0, 3, 1, 5, 4, 6]);
        let mut places = [4, 2, 0, 1, 3];
        by_class(&mut places, &[1, 0, 1, 0, 2]);
        assert_eq!(places, [1, 3, 2, 0, 4]);
    }
}
