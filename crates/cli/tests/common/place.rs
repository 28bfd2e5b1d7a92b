//! A folder, and a program run in it: shared by the tests of all programs of mercer, whose `main.rs` names the `PROGRAM`.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder in which the program runs.
pub(crate) struct Place {
    folder: TempDir,
}

/// The output of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Place {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with text files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    /// A folder with the banana set (two classes in the plane) as `banana.csv`.
    pub(crate) fn with_banana(n: usize) -> Self {
        let place = Self::new();
        place.run(&format!("data banana --n {n} -o banana.csv")).ok();
        place
    }

    /// The path of a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// The text of a file.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// True if there is a file or folder of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names of all files, sorted, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path()).unwrap().map(name).collect();
        names.sort();
        names
    }

    /// The program, not yet started, with the words of a line; single quotes hold words together.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.command_of(Path::new(crate::PROGRAM), line)
    }

    /// Another program, likewise.
    pub(crate) fn command_of(&self, program: &Path, line: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).args(words(line)).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with the words of a line. It must never panic.
    pub(crate) fn run(&self, line: &str) -> Ran {
        ran(line, self.command(line).output().unwrap())
    }

    /// Runs a verb that must end well, with `--json`.
    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(&format!("{line} --json")).ok().document()
    }

    /// Fits, and gives the predictions (without the header) of a file.
    pub(crate) fn fitted(&self, fit: &str, data: &str) -> Vec<String> {
        self.run(&format!("fit {fit} -o fitted.mercer")).ok();
        self.run(&format!("predict fitted.mercer {data}")).ok().out.lines().skip(1).map(str::to_owned).collect()
    }
}

/// The output of a finished process.
pub(crate) fn ran(line: &str, output: Output) -> Ran {
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains("panicked"), "mercer {line}\n{err}");
    Ran { code: output.status.code(), out: String::from_utf8(output.stdout).unwrap(), err }
}

impl Ran {
    /// It ended well.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self
    }

    /// It failed with that code and a sentence on standard error, after notes and warnings at most; all these parts are there.
    pub(crate) fn fails(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        let remark = |line: &&str| line.starts_with("note: ") || line.starts_with("warning: ");
        let sentence = self.err.lines().find(|line| !remark(line)).unwrap_or_default();
        assert!(sentence.starts_with("error: "), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "\"{part}\" is not in: {}", self.err);
        }
        self
    }

    /// Standard output as one JSON document.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }

    /// The lines of standard output.
    pub(crate) fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }
}

/// Splits a line at blanks; single quotes hold words together and may be empty.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quoted, mut begun) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    all.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            other => {
                word.push(other);
                begun = true;
            }
        }
    }
    if begun {
        all.push(word);
    }
    all
}

/// Bytes compressed by gzip.
pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    use std::io::Write;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes.as_ref()).unwrap();
    out.finish().unwrap()
}

/// A file of the folder with real data, if there is one; a line says so where there is none.
pub(crate) fn real_data(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("MERCER_DATA").map(|folder| Path::new(&folder).join(name)).filter(|p| p.exists());
    if path.is_none() {
        eprintln!("skipped: {name} is not there (set MERCER_DATA to the folder with real data)");
    }
    path
}
