//! The end of memory: a sentence and an exit code, where an allocation that the system refuses would end the program by SIGABRT.
//!
//! Memory that grows with the data is asked for before it is allocated (`mercer::memory`), and is refused in words of its own. Here ends what is too
//! small to ask, and what libraries take for themselves, under a limit such as `ulimit -v`.

#![allow(unsafe_code)] // an allocator is unsafe

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, which tells in words that it has no more.
struct Told;

/// True once a thread has begun to tell.
static TELLING: AtomicBool = AtomicBool::new(false);

// SAFETY: everything is passed on to the system's allocator. Where that gives nothing, either the caller has asked whether it would, and
// is told so by null as the contract has it, or the process ends.
unsafe impl GlobalAlloc for Told {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        given(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        given(unsafe { System.realloc(at, layout, size) }, size)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static TOLD: Told = Told;

#[inline]
fn given(at: *mut u8, size: usize) -> *mut u8 {
    if at.is_null() && !mercer::memory::asking() {
        end(size);
    }
    at
}

/// Says that so many bytes were refused, and ends the process; nothing here allocates.
#[cold]
fn end(size: usize) -> ! {
    if !TELLING.swap(true, Ordering::SeqCst) {
        let mut text = [0_u8; 512];
        let mut rest = &mut text[..];
        let _ = writeln!(
            rest,
            "error: the system gives this process no more memory ({size} bytes were asked for at last); raise its limit (ulimit -v), \
             or take fewer threads (--threads 1) or fewer examples"
        );
        let left = rest.len();
        let said = text.len() - left;
        let _ = std::io::stderr().write_all(&text[..said]);
    }
    std::process::exit(4)
}
