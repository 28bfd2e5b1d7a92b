//! Writing files whole: aside first, then renamed, so that nothing half-written is ever found under the name.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole, or not at all.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    streamed(path, |out| out.write_all(bytes))
}

/// Writes a file whole, or not at all, from a function that writes.
pub fn streamed(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let aside = name_aside(path)?;
    let attempt = || -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 18, fs::File::create(&aside)?);
        write(&mut out)?;
        out.flush()?;
        fs::rename(&aside, path)
    };
    attempt().inspect_err(|_| {
        // best effort: the first error is the one to tell
        let _ = fs::remove_file(&aside);
    })
}

/// The system's words without its error number.
pub fn words(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_owned()
}

fn name_aside(path: &Path) -> io::Result<PathBuf> {
    if path.is_dir() {
        return Err(io::Error::other("is a directory"));
    }
    let name = path.file_name().ok_or_else(|| io::Error::other("is not the name of a file"))?;
    let mut aside = std::ffi::OsString::from(".");
    aside.push(name);
    aside.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(aside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        whole(&path, b"old").unwrap();
        assert!(streamed(&path, |out| out.write_all(b"new").and(Err(io::Error::other("broken")))).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
