//! Text in blocks of whole lines, parsed side by side and joined in order.
//!
//! Blocks are cut at line ends after a fixed number of bytes, whatever the number of threads, and joined in the order
//! of the file. What comes out is what one pass over all lines gives: a block that cannot be parsed by itself is left
//! to that pass. While some blocks are parsed, the next are read into the memory of those before.

use super::super::DataError;
use super::Source;
use crate::memory::Growth;
use crate::parallel;
use memchr::{memchr_iter, memrchr_iter};
use std::io::{self, BufRead, BufReader, Cursor, Read};

const BLOCK: usize = 1 << 18;
/// Blocks of a batch, for each thread.
const BLOCKS_PER_THREAD: usize = 8;

/// Text that can be parsed in blocks.
pub(super) trait Whole: Send {
    /// Takes the next blocks; the place of the first that is left to the caller, with all that follow.
    fn take(&mut self, blocks: &[Vec<u8>]) -> Result<Option<usize>, DataError>;
}

/// Does something with each of several things, side by side.
pub(super) fn each<T: Send, R: Send>(mut things: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    match things.pop() {
        // a small file needs no other threads
        Some(only) if things.is_empty() => vec![work(only)],
        last => {
            things.extend(last);
            parallel::consume(things, |_, thing| work(thing))
        }
    }
}

/// The lines of a source that have not been read yet.
pub(super) struct Blocks<'a> {
    source: &'a Source,
    reader: Box<dyn BufRead + Send + 'a>,
    /// The beginning of a line whose end is not there yet.
    begun: Vec<u8>,
    /// True if line ends may stand in quotes, where no block may end.
    quotes: bool,
    ended: bool,
    failed: Option<io::Error>,
    /// Memory of blocks that are done.
    free: Vec<Vec<u8>>,
    /// The longest line, which a block holds whole.
    longest: Growth,
}

impl<'a> Blocks<'a> {
    /// The text that a reader of that source still has.
    pub(super) fn new(source: &'a Source, reader: Box<dyn BufRead + Send + 'a>, quotes: bool) -> Self {
        let (begun, free, longest) = (Vec::new(), Vec::new(), Growth::default());
        Self { source, reader, begun, quotes, ended: false, failed: None, free, longest }
    }

    /// Parses all blocks; what was left to the caller, if anything.
    pub(super) fn run<W: Whole>(mut self, whole: &mut W) -> Result<Option<Box<dyn BufRead + Send + 'a>>, DataError> {
        let at_once = BLOCKS_PER_THREAD * rayon::current_num_threads();
        // the first block tells what those after it need to know
        let mut batch = self.batch(1);
        while !batch.is_empty() {
            let (left, next) = if self.ended {
                (whole.take(&batch), Vec::new())
            } else {
                rayon::join(|| whole.take(&batch), || self.batch(at_once))
            };
            if let Some(first) = left? {
                let mut left = batch.split_off(first);
                left.extend(next);
                return Ok(Some(self.rest(left.concat())));
            }
            self.free.append(&mut batch);
            batch = next;
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
        let mut block = self.free.pop().unwrap_or_default();
        let mut len = self.begun.len();
        block.splice(..len.min(block.len()), self.begun.drain(..));
        loop {
            // one byte more than there can be shows the end
            let wanted = BLOCK.saturating_sub(len).max(BLOCK / 2).min(self.source.most_bytes() as usize + 1);
            self.longest.to(len + wanted, "a line of the file").map_err(io::Error::other)?;
            // what is there already need not be cleared to be written over
            block.resize(block.len().max(len + wanted), 0);
            let got = fill(&mut self.reader, &mut block[len..len + wanted])?;
            len += got;
            if got < wanted {
                self.ended = true;
                block.truncate(len);
                return Ok(block);
            }
            if let Some(end) = last_end(&block[..len], self.quotes) {
                self.begun.extend_from_slice(&block[end + 1..len]);
                block.truncate(end + 1);
                return Ok(block);
            }
        }
    }

    fn rest(self, left: Vec<u8>) -> Box<dyn BufRead + Send + 'a> {
        let begun = Cursor::new(self.begun);
        Box::new(BufReader::new(Cursor::new(left).chain(begun).chain(Failing(self.failed)).chain(self.reader)))
    }
}

/// Reads until a room is full or nothing comes any more; how many bytes came. (`read_to_end` begins with small pieces,
/// which go through buffers.)
fn fill(reader: &mut dyn Read, room: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < room.len() {
        match reader.read(&mut room[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// The last line end, outside of quotes if they count.
fn last_end(block: &[u8], quotes: bool) -> Option<usize> {
    let mut ends = memrchr_iter(b'\n', block);
    if !quotes {
        return ends.next();
    }
    // a block begins outside of quotes, so an odd number of them means inside; a quote that is just a character misleads,
    // and must not make blocks without end
    if block.len() > 8 * BLOCK {
        return ends.next();
    }
    let mut inside = memchr_iter(b'"', block).count() % 2 == 1;
    let mut after = block.len();
    ends.find(|&end| {
        inside ^= memchr_iter(b'"', &block[end..after]).count() % 2 == 1;
        after = end;
        !inside
    })
}

/// Nothing, or an error once.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
