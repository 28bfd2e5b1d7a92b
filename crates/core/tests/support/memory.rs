//! The allocator of all these tests: it counts the bytes that each thread holds, and refuses a block that no test needs, so
//! that memory taken by the word of a damaged file ends the tests.

#![allow(unreachable_pub, unsafe_code)] // an allocator is unsafe

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The largest single block that is given, in bytes.
const MAX_BLOCK: usize = 256 << 20;

struct Watched;

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

// SAFETY: everything is passed on to the system's allocator, or null is given, which the contract allows; the counters
// neither allocate nor have destructors.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_BLOCK {
            return std::ptr::null_mut();
        }
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_BLOCK {
            return std::ptr::null_mut();
        }
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > MAX_BLOCK {
            return std::ptr::null_mut();
        }
        // both blocks may be held while one is copied to the other
        count(size as isize);
        count(-(layout.size() as isize));
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static WATCHED: Watched = Watched;

/// The result of work, and the most bytes that the present thread held on the way, besides those before.
pub fn most_held<R>(work: impl FnOnce() -> R) -> (R, isize) {
    let before = HELD.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = work();
    (result, MOST.with(Cell::get) - before)
}
