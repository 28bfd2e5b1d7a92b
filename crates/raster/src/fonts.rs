//! The fonts of PNG pictures: our own two, and those of the system for letters that ours lack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use ttf_parser::{Face, GlyphId};

const PLAIN: &[u8] = include_bytes!("fonts/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("fonts/DejaVuSans-Bold.ttf");

/// Larger files are no fonts.
const LARGEST_FONT: u64 = 64 << 20;

/// A font that has been read.
#[derive(Clone)]
pub(crate) struct Font<'a> {
    pub(crate) face: Face<'a>,
}

impl<'a> Font<'a> {
    fn read(bytes: &'a [u8], index: u32) -> Option<Self> {
        Face::parse(bytes, index).ok().filter(|face| face.units_per_em() > 0).map(|face| Self { face })
    }

    /// The number of its units in the size of a text.
    pub(crate) fn units(&self) -> f32 {
        f32::from(self.face.units_per_em())
    }

    /// The width of a letter, by which it moves the next one, in sizes of the text.
    pub(crate) fn width_of(&self, letter: GlyphId) -> f32 {
        f32::from(self.face.glyph_hor_advance(letter).unwrap_or(0)) / self.units()
    }
}

/// All fonts that the words of a picture need.
pub(crate) struct Fonts {
    /// Fonts of the system with the letters that they are there for.
    of_system: Vec<(Vec<u8>, u32, BTreeSet<char>)>,
}

impl Fonts {
    /// Our own, and others for the letters in `text` that ours lack, as far as the system has them.
    pub(crate) fn for_words(text: &str) -> Self {
        let own = Font::read(PLAIN, 0);
        let is_lacking =
            |c: &char| !c.is_control() && own.as_ref().is_none_or(|own| own.face.glyph_index(*c).is_none());
        let lacking: BTreeSet<char> = text.chars().filter(is_lacking).collect();
        Self { of_system: if lacking.is_empty() { Vec::new() } else { with_letters(lacking, &folders()) } }
    }

    /// A letter and its font; a letter that no font has is the box that our own font keeps for it.
    pub(crate) fn letter(&self, c: char, bold: bool) -> (Font<'_>, GlyphId) {
        let others = self.of_system.iter().filter(|(_, _, letters)| letters.contains(&c));
        let own = if bold { [BOLD, PLAIN] } else { [PLAIN, BOLD] };
        let all = own.into_iter().map(|bytes| (bytes, 0)).chain(others.map(|(bytes, index, _)| (&bytes[..], *index)));
        let mut last_resort = None;
        for font in all.filter_map(|(bytes, index)| Font::read(bytes, index)) {
            match font.face.glyph_index(c) {
                Some(letter) => return (font, letter),
                None => last_resort = last_resort.or(Some(font)),
            }
        }
        #[expect(clippy::expect_used, reason = "our own fonts are part of the program, and a test reads them")]
        (last_resort.expect("our own font can be read"), GlyphId(0))
    }
}

/// Fonts below `folders` that have the letters, until each letter has one or all fonts were looked at.
fn with_letters(mut letters: BTreeSet<char>, folders: &[PathBuf]) -> Vec<(Vec<u8>, u32, BTreeSet<char>)> {
    let mut found = Vec::new();
    for path in files(folders) {
        if letters.is_empty() {
            break;
        }
        let Ok(bytes) = std::fs::read(&path) else { continue };
        for index in 0..ttf_parser::fonts_in_collection(&bytes).unwrap_or(1) {
            let Some(font) = Font::read(&bytes, index) else { continue };
            let here: BTreeSet<char> =
                letters.iter().copied().filter(|c| font.face.glyph_index(*c).is_some()).collect();
            if !here.is_empty() {
                letters.retain(|c| !here.contains(c));
                found.push((bytes.clone(), index, here));
            }
        }
    }
    found
}

/// Files of fonts, in the order of their names; upright ones of usual weight first.
fn files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut left = folders.to_vec();
    let mut found: BTreeMap<(bool, String), PathBuf> = BTreeMap::new();
    while let Some(folder) = left.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            // a link to a folder may lead round in a circle and is not followed
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(path),
                Ok(_) if is_font(&path) => {
                    let name = path.to_string_lossy().to_lowercase();
                    let is_special =
                        ["bold", "italic", "oblique", "mono", "light"].iter().any(|word| name.contains(word));
                    found.insert((is_special, name), path);
                }
                _ => {}
            }
        }
    }
    found.into_values().collect()
}

fn is_font(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    matches!(extension.as_deref(), Some("ttf" | "otf" | "ttc" | "otc"))
        && std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST_FONT)
}

/// Folders where systems keep their fonts.
fn folders() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let windows = std::env::var_os("WINDIR").map(|folder| PathBuf::from(folder).join("Fonts"));
    let of_home = [".fonts", ".local/share/fonts", "Library/Fonts"];
    let of_all = ["/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"];
    let own = home.iter().flat_map(|home| of_home.map(|folder| home.join(folder)));
    own.chain(of_all.map(PathBuf::from)).chain(windows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_fonts_have_the_letters_of_their_list() {
        let letters: String = (' '..='~').chain('\u{a0}'..='\u{17f}').chain("αγσλΣ∂ж₁²−→∈≤⟨".chars()).collect();
        let fonts = Fonts::for_words(&letters);
        assert!(fonts.of_system.is_empty(), "nothing is looked for in the system");
        for c in letters.chars() {
            for bold in [false, true] {
                assert_ne!(fonts.letter(c, bold).1, GlyphId(0), "{c}, bold {bold}");
            }
        }
    }

    #[test]
    fn letters_that_ours_lack_come_from_a_folder_of_fonts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        std::fs::write(folder.path().join("below/a.ttf"), PLAIN).unwrap();
        std::fs::write(folder.path().join("b-Bold.ttf"), BOLD).unwrap();
        std::fs::write(folder.path().join("broken.otf"), &PLAIN[..200]).unwrap();
        std::fs::write(folder.path().join("notes.txt"), "no font").unwrap();
        let found = with_letters(BTreeSet::from(['x', 'y', '漢']), &[folder.path().to_owned()]);
        assert_eq!(found.len(), 1, "one font is enough for both letters, none has the third");
        assert_eq!((&found[0].0[..], &found[0].2), (PLAIN, &BTreeSet::from(['x', 'y'])));
        let fonts = Fonts { of_system: found };
        assert_eq!(fonts.letter('漢', false).1, GlyphId(0));
    }
}
