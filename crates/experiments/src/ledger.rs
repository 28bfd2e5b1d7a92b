//! The ledger of a long experiment: every part that is finished is written down at once, with the settings it was made
//! with, and taken from there when the same is asked for again.

use mercer_terminal::Failure;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The name of the file.
const FILE: &str = "ledger.json";

/// Finished parts by name.
pub(super) struct Ledger {
    path: PathBuf,
    parts: Map<String, Value>,
}

impl Ledger {
    /// Opens the ledger of a folder, which is made if need be; `afresh` leaves aside what it holds.
    pub(super) fn open(folder: &Path, afresh: bool) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
        let path = folder.join(FILE);
        if afresh || !path.exists() {
            return Ok(Self { path, parts: Map::new() });
        }
        let text = std::fs::read_to_string(&path).map_err(|e| Failure::file(&path, &e))?;
        match serde_json::from_str(&text) {
            Ok(Value::Object(parts)) => Ok(Self { path, parts }),
            _ => {
                let finding = "is no ledger of finished parts; remove it, or name another folder with -o";
                Err(Failure { message: format!("{}: {finding}", path.display()), code: 3 })
            }
        }
    }

    /// A part, if it was finished with the same settings.
    pub(super) fn take(&self, part: &str, settings: &Value) -> Option<&Value> {
        self.parts.get(part).filter(|p| p["settings"] == *settings).map(|p| &p["result"])
    }

    /// Writes down a part; the file is replaced as a whole.
    pub(super) fn keep(&mut self, part: &str, settings: &Value, result: &Value) -> Result<(), Failure> {
        self.parts.insert(part.to_owned(), json!({"settings": settings, "result": result}));
        let text = serde_json::to_string_pretty(&self.parts).unwrap_or_default();
        mercer::write::whole(&self.path, text.as_bytes()).map_err(|e| Failure::file(&self.path, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_comes_back_for_the_same_settings_only() {
        let folder = std::env::temp_dir().join(format!("mercer-ledger-{}", std::process::id()));
        let (same, other) = (json!({"seed": 1}), json!({"seed": 2}));
        let mut ledger = Ledger::open(&folder, true).map_err(|f| f.message).unwrap();
        ledger.keep("a", &same, &json!([0.1, 0.3])).map_err(|f| f.message).unwrap();
        let again = Ledger::open(&folder, false).map_err(|f| f.message).unwrap();
        assert_eq!(again.take("a", &same), Some(&json!([0.1, 0.3])));
        assert_eq!((again.take("a", &other), again.take("b", &same)), (None, None));
        assert!(Ledger::open(&folder, true).map_err(|f| f.message).unwrap().take("a", &same).is_none());
        std::fs::write(folder.join(FILE), "[]").unwrap();
        assert!(Ledger::open(&folder, false).err().unwrap().message.contains("no ledger"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
