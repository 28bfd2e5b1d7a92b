//! From a drawn picture to a file: SVG as it is, or PNG.

#[cfg(feature = "png")]
use mercer_raster::png;
use std::io;
use std::path::Path;

/// The file format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable: text.
    Svg,
    /// Pixels, two for each unit of the SVG in each direction.
    Png,
}

impl Format {
    /// By the extension of a file; without one, SVG.
    ///
    /// # Errors
    /// A sentence, if it is another, or one that this build does not write.
    pub fn of(path: &Path) -> Result<Self, String> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            None | Some("svg") => Ok(Self::Svg),
            Some("png") if cfg!(feature = "png") => Ok(Self::Png),
            Some("png") => {
                Err(format!("{}: this build has no PNG; write .svg, or build with the feature png", path.display()))
            }
            Some(_) => Err(format!("{}: pictures are written as .svg or .png", path.display())),
        }
    }
}

/// Writes a drawn picture, as its extension says, whole or not at all; how many bytes it has.
///
/// # Errors
/// If the extension is none of [`Format`], or the file cannot be written.
pub fn save(path: &Path, svg: &str) -> io::Result<usize> {
    let format = Format::of(path).map_err(|finding| io::Error::new(io::ErrorKind::InvalidInput, finding))?;
    let bytes = match format {
        Format::Svg => svg.as_bytes().to_vec(),
        Format::Png => png(svg)?,
    };
    mercer::write::whole(path, &bytes)?;
    Ok(bytes.len())
}

#[cfg(not(feature = "png"))]
fn png(_: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this build has no PNG; write .svg, or build with the feature png"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_choose_the_format_and_others_are_refused() {
        assert_eq!(Format::of(Path::new("a.svg")), Ok(Format::Svg));
        assert_eq!(Format::of(Path::new("a")), Ok(Format::Svg));
        let wrong = Format::of(Path::new("a.pdf")).unwrap_err();
        assert!(wrong.contains("a.pdf") && wrong.contains(".svg or .png"), "{wrong}");
        let folder = tempfile::tempdir().unwrap();
        assert!(save(&folder.path().join("a.jpg"), "<svg/>").unwrap_err().to_string().contains(".svg or .png"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
