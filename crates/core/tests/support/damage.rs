//! Damage to files.

#![allow(unreachable_pub)]

/// A few bytes changed, cut out, doubled or cut off.
pub fn mutated(seed: &[u8], random: &mut mercer::seed::Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.bits() % 4 {
        if bytes.is_empty() {
            break;
        }
        let at = random.bits() as usize % bytes.len();
        match random.bits() % 8 {
            0 => bytes.truncate(at),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, b"\",\n:\t0 9"[random.bits() as usize % 8]),
            3 => bytes[at] = 0xff,
            4 => bytes[at] = b'9',
            5 => bytes.extend_from_within(at..),
            _ => bytes[at] ^= 1 << (random.bits() % 8),
        }
    }
    bytes
}
