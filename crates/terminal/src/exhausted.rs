//! The allocator of the programs: large memory in large pages, and the end of memory as a sentence.
//!
//! A page of 4 KiB that is touched for the first time costs the system more than filling it costs the program. Allocations of some megabytes, which
//! are tables and matrices, wish for pages of 2 MiB; the system may refuse.
//!
//! Where the system refuses an allocation, the program would end by SIGABRT; here it says a sentence and has an exit code.
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
    if at.is_null() {
        if !mercer::memory::asking() {
            end(size);
        }
    } else if size >= LARGE {
        wish_for_large_pages(at, size);
    }
    at
}

/// Smallest size of an allocation that wishes for large pages, in bytes.
const LARGE: usize = 4 << 20;

#[cfg(target_os = "linux")]
#[cold]
fn wish_for_large_pages(at: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let first = at.align_offset(PAGE);
    let whole = size.saturating_sub(first) / PAGE * PAGE;
    if first < size && whole > 0 {
        // SAFETY: the pages lie within the allocation, and the advice changes nothing that can be read or written
        unsafe { libc::madvise(at.add(first).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn wish_for_large_pages(_: *mut u8, _: usize) {}

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
