//! Agreement: the nearest probabilities whose largest is the label that is predicted.
//!
//! A prediction is a vote or the largest score; probabilities come through curves of their own, and their largest may be
//! another class. Given p and the predicted class y, q minimises ½‖q − p‖² over the simplex subject to q_y ≥ q_c for all
//! c. With multipliers λ_c ≥ 0 for q_c ≤ q_y and μ for Σq = 1,
//!
//! q_c = p_c − λ_c + μ for c ≠ y, q_y = p_y + Σ λ_c + μ.
//!
//! Both sum to one, so μ = 0. Where λ_c > 0 the class is level with y, q_c = q_y = t, and elsewhere q_c = p_c ≤ t. Hence
//! q_c = min(p_c, t) and t = p_y + Σ_{c≠y} (p_c − t)₊: what stands out above t is cut off and given to y. The left side
//! rises with t and the right side falls, so there is one such t; no q_c is below zero, for no p_c is and t ≥ p_y. With
//! S = {c ≠ y: p_c > t}, t is the mean of p over y and S, which grows by the largest classes first.
//!
//! For two classes this makes both ½.

/// True if `first` among equals is the class of the largest probability.
fn agrees(p: &[f64], predicted: usize) -> bool {
    let top = p[predicted];
    p.iter().enumerate().all(|(c, &q)| if c < predicted { q < top } else { q <= top })
}

/// Moves p to the nearest probabilities whose first largest is `predicted`. A class that comes before the predicted one
/// and would be level with it stays one unit in the last place below, because among equals the first is the largest.
pub fn agree(p: &mut [f64], predicted: usize) {
    if predicted >= p.len() || agrees(p, predicted) {
        return;
    }
    let mut others: Vec<f64> = p.iter().enumerate().filter(|&(c, _)| c != predicted).map(|(_, &q)| q).collect();
    others.sort_by(f64::total_cmp);
    others.reverse();
    let (mut sum, mut count) = (p[predicted], 1.0);
    for q in others {
        if q <= sum / count {
            break;
        }
        sum += q;
        count += 1.0;
    }
    let level = sum / count;
    for (c, q) in p.iter_mut().enumerate() {
        *q = match c.cmp(&predicted) {
            std::cmp::Ordering::Less => q.min(level.next_down()),
            std::cmp::Ordering::Equal => level,
            std::cmp::Ordering::Greater => q.min(level),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn moved(p: &[f64], predicted: usize) -> Vec<f64> {
        let mut q = p.to_vec();
        agree(&mut q, predicted);
        q
    }

    #[test]
    fn what_agrees_is_left_as_it_is() {
        assert_eq!(moved(&[0.2, 0.5, 0.3], 1), [0.2, 0.5, 0.3]);
        assert_eq!(moved(&[0.5, 0.5], 0), [0.5, 0.5]);
    }

    #[test]
    fn two_classes_become_a_half_each() {
        assert_eq!(moved(&[0.3, 0.7], 0), [0.5, 0.5]);
        let late = moved(&[0.7, 0.3], 1);
        assert!(late[1] == 0.5 && late[0] < 0.5 && late[0] + late[1] == 1.0, "{late:?}");
        let tied = moved(&[0.5, 0.5], 1);
        assert!(tied[1] == 0.5 && tied[0] < 0.5, "{tied:?}");
    }

    #[test]
    fn the_result_is_the_projection() {
        // the nearest point of a closed convex set is that from which no feasible direction goes towards p:
        // ⟨p − q, z − q⟩ ≤ 0 for every z of the set; it is enough to try its corners, where some classes with y are equal
        let mut random = Seed(3).stream("agree");
        for round in 0..400 {
            let k = 2 + round % 5;
            let mut p: Vec<f64> = (0..k).map(|_| -random.uniform().ln()).collect();
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            let y = random.below(k);
            let q = moved(&p, y);
            assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-14 && q.iter().all(|&x| x >= 0.0));
            assert!(agrees(&q, y), "{q:?} {y}");
            for corner in (0..1_u32 << k).filter(|s| s >> y & 1 == 1) {
                let level = 1.0 / f64::from(corner.count_ones());
                let towards: f64 =
                    (0..k).map(|c| (p[c] - q[c]) * (if corner >> c & 1 == 1 { level } else { 0.0 } - q[c])).sum();
                assert!(towards < 1e-14, "{p:?} {q:?} {corner:b}");
            }
        }
    }
}
