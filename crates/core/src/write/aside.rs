//! Files aside: written beside the file that they will become, under a name that nobody can guess, and locked for as long as
//! somebody writes them. What a killed run left is therefore told from what is being written, and removed by a later run.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files aside of this process; whoever makes, renames or removes one holds the lock.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn open_files() -> MutexGuard<'static, Vec<PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files aside of this process, which must end now: whoever begins another waits for ever.
pub fn abandon() {
    let mut open = open_files();
    for path in open.drain(..) {
        // best effort: a later run clears what stays
        let _ = fs::remove_file(path);
    }
    std::mem::forget(open);
}

/// A file aside; it is removed unless it is renamed.
pub(super) struct Aside {
    file: File,
    path: PathBuf,
    renamed: bool,
}

/// Names that are tried before the folder is given up.
const ATTEMPTS: usize = 16;

impl Aside {
    /// Makes a file beside another, which others may not read before the old one's rights are known to allow it.
    pub(super) fn beside(path: &Path, old: Option<&Metadata>) -> io::Result<Self> {
        if old.is_some() {
            // a file that may not be written may not be replaced either
            fs::OpenOptions::new().append(true).open(path)?;
        }
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if old.is_some() {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        for _ in 0..ATTEMPTS {
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(|e| io::Error::other(format!("no random name could be made: {e}")))?;
            let mut name = prefix(path)?;
            name.push(format!("{:016x}{SUFFIX}", u64::from_le_bytes(random)));
            let aside = path.with_file_name(name);
            let mut open = open_files();
            let file = match options.open(&aside) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // a run that clears leftovers may have come between the two steps; then another name is needed
            let alone = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if alone && fs::symlink_metadata(&aside).is_ok() {
                open.push(aside.clone());
                return Ok(Self { file, path: aside, renamed: false });
            }
        }
        Err(io::Error::other("no file can be kept beside it, since something else removes them"))
    }

    /// Puts the file, with all its bytes on the disk, in the place of another and with its rights.
    pub(super) fn rename(mut self, path: &Path, old: Option<&Metadata>) -> io::Result<()> {
        if let Some(old) = old {
            pass_on_rights(&self.file, old)?;
        }
        tolerate_unknown(self.file.sync_all())?;
        {
            let mut open = open_files();
            fs::rename(&self.path, path)?;
            open.retain(|other| *other != self.path);
            self.renamed = true;
        }
        sync_folder(path);
        Ok(())
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.renamed {
            let mut open = open_files();
            // best effort: the first error is the one to tell
            let _ = fs::remove_file(&self.path);
            open.retain(|other| *other != self.path);
        }
    }
}

/// Owner, group and mode of the old file for the new one. Where the group cannot be kept, it may do what everybody may.
#[cfg(unix)]
fn pass_on_rights(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let now = file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if now.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        mode = (mode & !0o070) | ((mode & 0o007) << 3);
    }
    if now.uid() != old.uid() {
        // only the superuser may; the mode is right for whoever owns the file now
        let _ = fchown(file, Some(old.uid()), None);
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn pass_on_rights(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// A file system that cannot promise to keep bytes is no reason not to write them.
fn tolerate_unknown(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => Ok(()),
        other => other,
    }
}

/// Has the system write the folder's list of names to the disk, where it lets folders be opened.
fn sync_folder(path: &Path) {
    if cfg!(unix) {
        // the file is whole under either name
        let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The end of the names of files aside.
const SUFFIX: &str = ".part";

/// The beginning of the names of all files aside of one output: its own name may be as long as the system allows, so it
/// stands there as a hash.
fn prefix(path: &Path) -> io::Result<OsString> {
    let name = path.file_name().ok_or_else(|| io::Error::other("is not the name of a file"))?;
    Ok(OsString::from(format!(".mercer.{:016x}.", hash(name))))
}

/// FNV-1a of the bytes of a name: the same in every version.
fn hash(name: &OsStr) -> u64 {
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Removes what killed runs left beside an output: files aside that nobody has locked.
pub(super) fn clear_leftovers(path: &Path) {
    let (Ok(prefix), Ok(items)) = (prefix(path), fs::read_dir(folder(path))) else { return };
    for item in items.flatten() {
        let name = item.file_name();
        let name = name.as_encoded_bytes();
        let ours = name.starts_with(prefix.as_encoded_bytes()) && name.ends_with(SUFFIX.as_bytes());
        if !ours || !item.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = fs::OpenOptions::new().append(true).open(item.path()) else { continue };
        if file.try_lock().is_ok() {
            // best effort; names are never used twice, so no other file can be meant
            let _ = fs::remove_file(item.path());
        }
    }
}
