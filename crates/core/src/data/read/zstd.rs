//! Zstandard: frames that follow each other, decoded block by block.
//!
//! A frame may name a window of up to 128 MiB, but memory grows only with what has really been decoded; and whatever
//! swells more than deflate could is taken for damaged or hostile.

use super::open::MAX_COMPRESSION_RATIO;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// The first bytes of a frame.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Number of bytes that every file may unpack to, however small it is.
const MIN_ALLOWED_BYTES: u64 = 1 << 20;

/// The content of all frames of a stream.
pub(super) struct Frames<R> {
    source: R,
    frame: Option<FrameDecoder>,
    left: u64,
}

impl<R: BufRead> Frames<R> {
    /// Of a stream of so many bytes.
    pub(super) fn new(source: R, stored: u64) -> Self {
        Self { source, frame: None, left: stored.saturating_mul(MAX_COMPRESSION_RATIO).max(MIN_ALLOWED_BYTES) }
    }

    /// Begins the next frame; `false` at the end of the stream. Frames to be skipped are skipped.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            // a fresh decoder for each frame: one that is used again reserves the window that the frame claims
            let mut frame = FrameDecoder::new();
            match frame.init(&mut self.source) {
                Ok(()) => {
                    self.frame = Some(frame);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                }
                // the decoder's own words are for whoever mends the decoder
                Err(_) => return Err(io::Error::other("the header of a frame cannot be read")),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(frame) = &mut self.frame else {
                if self.begin()? {
                    continue;
                }
                return Ok(0);
            };
            while frame.can_collect() == 0 && !frame.is_finished() {
                frame
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|_| io::Error::other("a block cannot be read"))?;
            }
            let count = frame.read(out)?;
            if count > 0 {
                self.left = self
                    .left
                    .checked_sub(count as u64)
                    .ok_or_else(|| io::Error::other("it swells more than a thousandfold"))?;
                return Ok(count);
            }
            let promised = frame.get_checksum_from_data();
            if promised.is_some() && promised != frame.get_calculated_checksum() {
                return Err(io::Error::other("the checksum differs"));
            }
            self.frame = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Frames::new(bytes, bytes.len() as u64).read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn frames_follow_each_other_and_some_are_skipped() {
        let mut all = compress_to_vec(&b"1,2\n"[..], CompressionLevel::Fastest);
        all.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
        all.extend(compress_to_vec(&b"3,4\n"[..], CompressionLevel::Fastest));
        assert_eq!(unpack(&all).unwrap(), b"1,2\n3,4\n");
        let cut = &all[..all.len() - 5];
        assert!(unpack(cut).is_err());
    }

    #[test]
    fn what_swells_without_measure_is_refused() {
        // one frame without checksum: 64 KiB window, then blocks of one byte repeated 64 Ki times
        let mut bomb = MAGIC.to_vec();
        bomb.extend([0, 6 << 3]);
        for k in 0..400_u32 {
            let header = (65536 << 3) | (1 << 1) | u32::from(k == 399);
            bomb.extend(&header.to_le_bytes()[..3]);
            bomb.push(b'0');
        }
        assert!(unpack(&bomb).unwrap_err().to_string().contains("thousandfold"));
    }
}
