//! Chains: points of a grid whose fits start from one another.

use crate::machines::Machine;
use crate::params::Setting;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A machine at a point of a grid.
pub(crate) struct Point {
    /// The parameters that the grid gives to the machine.
    pub(crate) settings: Vec<(String, Setting)>,
    /// The machine with them.
    pub(crate) machine: Box<dyn Machine>,
}

/// Points that differ only in the parameter along which fits start from one another, the lowest value first; as places in the list
/// of points. A solution for a small value is nearly right for one that is a little larger.
pub(super) fn chains(points: &[Point]) -> Vec<Vec<usize>> {
    let path = points.first().and_then(|p| p.machine.traits().path).map(|path| path.parameter);
    let on_path = |name: &str| Some(name) == path;
    let value = |p: usize| match points[p].settings.iter().find(|(name, _)| on_path(name)) {
        Some((_, Setting::Number(c))) => *c,
        _ => 0.0,
    };
    let others = |p: usize| {
        let settings = points[p].settings.iter().filter(|(name, _)| !on_path(name));
        settings.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    };
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for p in 0..points.len() {
        match known.entry(others(p)) {
            Entry::Occupied(chain) => chains[*chain.get()].push(p),
            Entry::Vacant(place) => {
                place.insert(chains.len());
                chains.push(vec![p]);
            }
        }
    }
    let values: Vec<f64> = (0..points.len()).map(value).collect();
    chains.iter_mut().for_each(|chain| crate::order::rising(chain, &values));
    chains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::classify::Svc;

    #[test]
    fn chains_rise_in_the_price_and_share_everything_else() {
        let setting = |name: &str, value: f64| (name.to_owned(), Setting::Number(value));
        let points = [(3.0, 0.1), (3.0, 0.2), (1.0, 0.1), (2.0, 0.2), (2.0, 0.1)].map(|(c, t)| Point {
            settings: vec![setting("c", c), setting("tolerance", t)],
            machine: Box::new(Svc::default()),
        });
        assert_eq!(chains(&points), [vec![2, 4, 0], vec![3, 1]]);
    }
}
