//! Damage to files, and the memory that reading them takes.

#![allow(dead_code, unreachable_pub, unsafe_code)] // the counting allocator is unsafe

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that the present thread holds, and the most it ever held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    HELD.with(|held| {
        held.set(held.get() + change);
        MOST.with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: everything is passed on to the system's allocator; the counters neither allocate nor have destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What work gives, and the most bytes that the present thread held on the way, besides those before.
pub fn most_held<R>(work: impl FnOnce() -> R) -> (R, isize) {
    let before = HELD.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = work();
    (result, MOST.with(Cell::get) - before)
}

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
