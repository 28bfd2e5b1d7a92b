//! Writing files whole: aside first, then renamed, so that nothing half-written is ever found under the name.
//!
//! A symbolic link stays, and the file it leads to is replaced. An older file passes its rights on. What is no regular file
//! (a pipe, a device) is written to as it is, and `-` is standard output.

mod aside;
mod place;

pub use aside::abandon;
pub use place::{is_standard_output, same_file, shown};

use aside::Aside;
use place::Place;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Writes a file whole, or not at all.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    streamed(path, |out| out.write_all(bytes))
}

/// Bytes that are gathered before the system is asked to write.
const BUFFER: usize = 1 << 18;

/// Writes a file whole, or not at all, from a function that writes.
pub fn streamed(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match Place::of(path)? {
        Place::StandardOutput => to_standard_output(write),
        Place::Open(path) => {
            let file = fs::OpenOptions::new().append(true).open(path)?;
            let mut out = io::BufWriter::with_capacity(BUFFER, file);
            write(&mut out)?;
            out.flush()
        }
        Place::File { path, old } => {
            aside::clear_leftovers(&path);
            let mut aside = Aside::beside(&path, old.as_ref())?;
            let mut out = io::BufWriter::with_capacity(BUFFER, &mut aside);
            write(&mut out)?;
            out.flush()?;
            drop(out);
            aside.rename(&path, old.as_ref())
        }
    }
}

/// Finds out whether a file could be written, and leaves everything as it is.
pub fn check(path: &Path) -> io::Result<()> {
    match Place::of(path)? {
        Place::File { path, old } => Aside::beside(&path, old.as_ref()).map(drop),
        Place::Open(_) | Place::StandardOutput => Ok(()),
    }
}

/// Writes to standard output; a reader that went away is no error.
fn to_standard_output(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let stdout = io::stdout();
    let mut out =
        io::BufWriter::with_capacity(BUFFER, TextOnTerminal { terminal: stdout.is_terminal(), out: stdout.lock() });
    match write(&mut out).and_then(|()| out.flush()) {
        Err(gone) if gone.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Standard output that refuses bytes which are no text where a terminal would show them.
struct TextOnTerminal<W> {
    terminal: bool,
    out: W,
}

impl<W: Write> Write for TextOnTerminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal && bytes.contains(&0) {
            let what = "is a terminal, and this is no text; give the name of a file, or send the output into a pipe";
            return Err(io::Error::other(what));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The system's words without its error number.
pub fn words(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_owned()
}

#[cfg(test)]
mod tests;
