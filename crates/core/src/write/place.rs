//! The place of an output: standard output, something that is open already or is no regular file, or a file.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The place of an output.
pub(super) enum Place {
    /// Standard output, called `-` or by its name in the system.
    StandardOutput,
    /// A pipe, a device or an open file: there is nothing to replace.
    Open(PathBuf),
    /// A regular file, or none yet; symbolic links have been followed.
    File {
        /// The file itself.
        path: PathBuf,
        /// Facts about the file that will be replaced.
        old: Option<Metadata>,
    },
}

/// Symbolic links that are followed one after another; more of them are a circle (Linux has the same number).
const MAX_LINKS: usize = 40;

impl Place {
    /// The place that a path names.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::StandardOutput);
        }
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            match descriptor(&path) {
                Some(1) => return Ok(Self::StandardOutput),
                Some(_) => return Ok(Self::Open(path)),
                None => {}
            }
            match fs::read_link(&path) {
                // an absolute target takes the place of the whole path
                Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
                Err(_) => return Self::without_links(path),
            }
        }
        Err(io::Error::other("too many symbolic links lead on from here; give the name of the file itself"))
    }

    fn without_links(path: PathBuf) -> io::Result<Self> {
        let old = match fs::metadata(&path) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.file_name().is_none() || ends_in_separator(&path) {
                    return Err(io::Error::other("is not the name of a file"));
                }
                return Ok(Self::File { path, old: None });
            }
            Err(error) => return Err(error),
        };
        if old.is_dir() {
            return Err(io::Error::other("is a directory"));
        }
        if is_block_device(&old) {
            return Err(io::Error::other("is a whole disk; give the name of a file"));
        }
        if old.is_file() { Ok(Self::File { path, old: Some(old) }) } else { Ok(Self::Open(path)) }
    }
}

/// True if a path ends in a separator, as only folders do.
fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(char::from(b)))
}

/// The number of an open file that a path names: `/dev/stdout` is 1.
fn descriptor(path: &Path) -> Option<u32> {
    if !cfg!(unix) {
        return None;
    }
    match path.to_str()? {
        "/dev/stdin" => return Some(0),
        "/dev/stdout" => return Some(1),
        "/dev/stderr" => return Some(2),
        _ => {}
    }
    let own = format!("/proc/{}/fd", std::process::id());
    let folder = path.parent()?;
    let open = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd", own.as_str()];
    if !open.iter().any(|name| folder == Path::new(name)) {
        return None;
    }
    path.file_name()?.to_str()?.parse().ok()
}

#[cfg(unix)]
fn is_block_device(about: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    about.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_block_device(_: &Metadata) -> bool {
    false
}

/// True if an output goes to standard output: `-`, or the system's name for it.
pub fn is_standard_output(path: &Path) -> bool {
    matches!(Place::of(path), Ok(Place::StandardOutput))
}

/// True if two paths name the same file, through links of either kind, or will do so once it is written; `-` is standard
/// input or standard output by the access. Devices, which keep nothing, are never the same.
pub fn same_file(read: &Path, written: &Path) -> bool {
    match (identity(read, Access::Read), identity(written, Access::Written)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => to_be(read).is_some_and(|a| to_be(written) == Some(a)),
        _ => false,
    }
}

/// True if a path is read from or written to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Written,
}

/// Device and inode: they tell a file from all others while it exists.
#[cfg(unix)]
fn identity(path: &Path, access: Access) -> Option<(u64, u64)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    if path == Path::new("-") {
        let open = match access {
            Access::Read => rustix::fs::fstat(io::stdin()),
            Access::Written => rustix::fs::fstat(io::stdout()),
        };
        let open = open.ok()?;
        let regular = rustix::fs::FileType::from_raw_mode(open.st_mode).is_file();
        // the types of these fields differ between systems
        #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
        return regular.then_some((open.st_dev as u64, open.st_ino as u64));
    }
    let about = fs::metadata(path).ok()?;
    let keeps = about.is_file() || about.file_type().is_fifo();
    keeps.then(|| (about.dev(), about.ino()))
}

/// The full path: it tells a file from all others while it exists.
#[cfg(not(unix))]
fn identity(path: &Path, _: Access) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|whole| whole.is_file())
}

/// The full path of a file that is not there yet.
fn to_be(path: &Path) -> Option<PathBuf> {
    let Ok(Place::File { path, old: None }) = Place::of(path) else { return None };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

/// An output as messages name it.
pub fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard output".to_owned() } else { path.display().to_string() }
}
