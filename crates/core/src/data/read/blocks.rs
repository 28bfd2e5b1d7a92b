//! Text in blocks of whole lines, parsed side by side and joined in order.
//!
//! Blocks are cut at line ends after a fixed number of bytes, whatever the number of threads, and joined in the order
//! of the file. What comes out is what one pass over all lines gives: a block that cannot be parsed by itself is left
//! to that pass.

use super::super::DataError;
use super::Source;
use rayon::prelude::*;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::ControlFlow;

const BLOCK: usize = 1 << 19;
/// Blocks of a batch, for each thread.
const AT_ONCE: usize = 4;

/// Text that can be parsed in blocks.
pub(super) trait Whole: Send {
    /// What a block needs to know about those before it; it may be out of date by a batch.
    type Known: Sync;
    /// What a block becomes.
    type Part: Send;
    /// What is known now.
    fn known(&self) -> Self::Known;
    /// Parses a block.
    fn parse(known: &Self::Known, block: &[u8]) -> Self::Part;
    /// Joins the next part; `Break` leaves its block and all that follows to the caller.
    fn join(&mut self, block: &[u8], part: Self::Part) -> Result<ControlFlow<()>, DataError>;
}

/// The lines of a source that have not been read yet.
pub(super) struct Blocks<'a> {
    source: &'a Source,
    reader: Box<dyn BufRead + Send + 'a>,
    /// The beginning of a line whose end is not there yet.
    begun: Vec<u8>,
    ended: bool,
    failed: Option<io::Error>,
}

impl<'a> Blocks<'a> {
    /// What a reader of that source still has.
    pub(super) fn new(source: &'a Source, reader: Box<dyn BufRead + Send + 'a>) -> Self {
        Self { source, reader, begun: Vec::new(), ended: false, failed: None }
    }

    /// Parses all blocks; what was left to the caller, if anything. While one batch is parsed, the one before is joined
    /// and the one after is read.
    pub(super) fn run<W: Whole>(mut self, whole: &mut W) -> Result<Option<Box<dyn BufRead + Send + 'a>>, DataError> {
        let at_once = AT_ONCE * rayon::current_num_threads();
        let mut batch = self.batch(1);
        let (mut done, mut parts) = (Vec::new(), Vec::new());
        while !batch.is_empty() || !done.is_empty() {
            let (known, ended) = (whole.known(), self.ended);
            let parse = || batch.par_iter().map(|b| W::parse(&known, b)).collect::<Vec<_>>();
            let mut join = || {
                let left = join_all(whole, &done, std::mem::take(&mut parts));
                (left, self.batch(at_once))
            };
            let ((left, next), parsed) = match batch.as_slice() {
                [] => (join(), Vec::new()),
                // a small file needs no other threads
                [only] if ended => (join(), vec![W::parse(&known, only)]),
                _ => {
                    let (parsed, joined) = rayon::join(parse, join);
                    (joined, parsed)
                }
            };
            if let Some(first) = left? {
                let mut left = done.split_off(first);
                left.extend(batch);
                left.extend(next);
                return Ok(Some(self.rest(left.concat())));
            }
            (done, parts, batch) = (batch, parsed, next);
        }
        match self.failed {
            Some(error) => Err(self.source.damaged(&error)),
            None => Ok(None),
        }
    }

    /// The next blocks; fewer at the end, or before bytes that cannot be read.
    fn batch(&mut self, count: usize) -> Vec<Vec<u8>> {
        let mut batch = Vec::new();
        while batch.len() < count && !self.ended {
            match self.block() {
                Ok(block) if block.is_empty() => {}
                Ok(block) => batch.push(block),
                Err(error) => (self.failed, self.ended) = (Some(error), true),
            }
        }
        batch
    }

    fn block(&mut self) -> io::Result<Vec<u8>> {
        let mut block = std::mem::take(&mut self.begun);
        loop {
            let wanted = BLOCK.saturating_sub(block.len()).max(BLOCK / 2);
            block.reserve(wanted);
            let got = (&mut self.reader).take(wanted as u64).read_to_end(&mut block)?;
            if got < wanted {
                self.ended = true;
                return Ok(block);
            }
            if let Some(end) = memchr::memrchr(b'\n', &block) {
                self.begun = block.split_off(end + 1);
                return Ok(block);
            }
        }
    }

    fn rest(self, left: Vec<u8>) -> Box<dyn BufRead + Send + 'a> {
        let begun = Cursor::new(self.begun);
        Box::new(BufReader::new(Cursor::new(left).chain(begun).chain(Failing(self.failed)).chain(self.reader)))
    }
}

/// Joins parts in order; the place of the first that is left to the caller.
fn join_all<W: Whole>(whole: &mut W, blocks: &[Vec<u8>], parts: Vec<W::Part>) -> Result<Option<usize>, DataError> {
    for (k, (block, part)) in blocks.iter().zip(parts).enumerate() {
        if whole.join(block, part)?.is_break() {
            return Ok(Some(k));
        }
    }
    Ok(None)
}

/// Nothing, or an error once.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
