//! What the name of an output promises: its format, and whether it is compressed.

use mercer::data::read::FORMATS;
use mercer::data::write::{WRITERS, as_named};
use mercer_terminal::Failure;
use std::io::{self, Write};
use std::path::Path;

/// Endings that promise a format which is neither read nor written, or none that anybody could read by its name.
const OTHERS: [&str; 23] = [
    "zst", "zstd", "xz", "bz2", "zip", "7z", "xlsx", "xls", "ods", "arff", "dat", "yaml", "xml", "html", "md", "pkl",
    "mat", "h5", "hdf5", "sav", "dta", "rds", "mercer",
];

/// Refuses a name that promises another format than those that are written, before any work; a name that promises nothing is taken.
pub(crate) fn check(path: &Path, written: &[&'static str]) -> Result<(), Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let Some((_, end)) = stem.rsplit_once('.') else { return Ok(()) };
    let promised = FORMATS.iter().any(|format| format.extensions.contains(&end))
        || WRITERS.iter().any(|writer| writer.extensions.contains(&end))
        || OTHERS.contains(&end);
    if !promised || written.contains(&end) {
        return Ok(());
    }
    let ends: Vec<String> = written.iter().map(|end| format!(".{end}")).collect();
    Err(Failure::usage(format!(
        "{}: the name promises {end}, which is not written here; end it in {}, and .gz behind that compresses it",
        mercer::write::shown(path),
        ends.join(" or ")
    )))
}

/// Writes a file, in gzip if its name ends so.
pub(crate) fn write(path: &Path, print: impl FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    as_named(path, print).map_err(|error| Failure::file(path, &error))
}

/// True if a name, `.gz` left out, ends in an extension.
pub(crate) fn ends_in(path: &Path, extension: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.').is_some_and(|(_, end)| end == extension)
}
