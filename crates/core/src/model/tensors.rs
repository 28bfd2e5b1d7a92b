//! Arrays in a model file, by name: packed for writing, checked in reading.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Arrays to be written.
#[derive(Default)]
pub(super) struct Packer {
    arrays: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
    /// The prefix of every name.
    prefix: String,
}

macro_rules! numbers {
    ($put:ident, $get:ident, $type:ty, $dtype:ident) => {
        impl Packer {
            /// Adds an array.
            pub(super) fn $put(&mut self, name: impl Into<String>, shape: &[usize], values: &[$type]) {
                let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                let name = format!("{}{}", self.prefix, name.into());
                self.arrays.insert(name, (Dtype::$dtype, shape.to_vec(), bytes));
            }
        }

        impl Unpacker<'_> {
            /// The array of a name and its shape; an error in words if it is missing or of another type.
            pub(super) fn $get(&self, name: &str) -> Result<(Vec<usize>, Vec<$type>), String> {
                let view = self.view(name, Dtype::$dtype)?;
                let (chunks, _) = view.data().as_chunks();
                Ok((view.shape().to_vec(), chunks.iter().map(|c| <$type>::from_le_bytes(*c)).collect()))
            }
        }
    };
}

numbers!(f64s, get_f64s, f64, F64);
numbers!(f32s, get_f32s, f32, F32);
numbers!(u64s, get_u64s, u64, U64);
numbers!(u32s, get_u32s, u32, U32);

impl Packer {
    /// Adds bytes.
    pub(super) fn bytes(&mut self, name: impl Into<String>, values: Vec<u8>) {
        let name = format!("{}{}", self.prefix, name.into());
        self.arrays.insert(name, (Dtype::U8, vec![values.len()], values));
    }

    /// Adds arrays whose names all start with a prefix.
    pub(super) fn within<T>(&mut self, prefix: &str, add: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.prefix.len();
        self.prefix.push_str(prefix);
        let added = add(self);
        self.prefix.truncate(outer);
        added
    }

    /// The first number that is not finite, infinite ones first since others may stand for gaps: its array, its place and itself.
    pub(super) fn first_not_finite(&self) -> Option<(&str, usize, f64)> {
        let found = |wrong: fn(f64) -> bool| {
            self.arrays.iter().find_map(|(name, (dtype, _, bytes))| {
                let place = match dtype {
                    Dtype::F64 => {
                        bytes.as_chunks().0.iter().map(|c| f64::from_le_bytes(*c)).enumerate().find(|p| wrong(p.1))
                    }
                    Dtype::F32 => {
                        let numbers = bytes.as_chunks().0.iter().map(|c| f64::from(f32::from_le_bytes(*c)));
                        numbers.enumerate().find(|p| wrong(p.1))
                    }
                    _ => None,
                };
                place.map(|(place, value)| (name.as_str(), place, value))
            })
        };
        found(f64::is_infinite).or_else(|| found(f64::is_nan))
    }

    /// The whole file: arrays, and the document with a checksum over everything.
    pub(super) fn finish(&self, document: &str) -> Result<Vec<u8>, String> {
        let mut views = BTreeMap::new();
        for (name, (dtype, shape, bytes)) in &self.arrays {
            let view = TensorView::new(*dtype, shape.clone(), bytes).map_err(|e| e.to_string())?;
            views.insert(name.clone(), view);
        }
        let sum = checksum(document, views.iter().map(|(name, view)| (name.as_str(), view)));
        // written here and not by the library, whose map of metadata has another order in every run: equal models are
        // equal files
        let mut header = serde_json::Map::new();
        header.insert(
            "__metadata__".to_owned(),
            serde_json::json!({(CHECKSUM): format!("{sum:08x}"), (DOCUMENT): document}),
        );
        // wide numbers first, so that every array starts at a multiple of its width
        let mut order: Vec<(&String, &TensorView<'_>)> = views.iter().collect();
        order.sort_by_key(|(_, view)| std::cmp::Reverse(view.dtype().bitsize()));
        let mut data = Vec::new();
        for (name, view) in order {
            let start = data.len();
            data.extend_from_slice(view.data());
            let entry =
                serde_json::json!({"dtype": view.dtype(), "shape": view.shape(), "data_offsets": [start, data.len()]});
            header.insert(name.clone(), entry);
        }
        let mut header = serde_json::to_string(&header).map_err(|e| e.to_string())?;
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.append(&mut data);
        Ok(file)
    }
}

/// The key of the document in the file's metadata.
pub(super) const DOCUMENT: &str = "mercer";
/// The key of the checksum.
pub(super) const CHECKSUM: &str = "checksum";

/// A checksum over the document and every array with its name, type and shape.
pub(super) fn checksum<'a, 'b: 'a>(document: &str, arrays: impl Iterator<Item = (&'a str, &'a TensorView<'b>)>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(document.as_bytes());
    for (name, view) in arrays {
        hasher.update(format!("\n{name} {:?} {:?}\n", view.dtype(), view.shape()).as_bytes());
        hasher.update(view.data());
    }
    hasher.finalize()
}

/// Arrays of a file that was read.
pub(super) struct Unpacker<'a> {
    arrays: Arc<BTreeMap<String, TensorView<'a>>>,
    /// The prefix of every name.
    prefix: String,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(file: &SafeTensors<'a>) -> Self {
        Self { arrays: Arc::new(file.tensors().into_iter().collect()), prefix: String::new() }
    }

    /// The arrays whose names start with a prefix.
    pub(super) fn within(&self, prefix: &str) -> Self {
        Self { arrays: Arc::clone(&self.arrays), prefix: format!("{}{prefix}", self.prefix) }
    }

    pub(super) fn checksum(&self, document: &str) -> u32 {
        checksum(document, self.arrays.iter().map(|(name, view)| (name.as_str(), view)))
    }

    fn view(&self, name: &str, dtype: Dtype) -> Result<&TensorView<'a>, String> {
        let name = format!("{}{name}", self.prefix);
        let view = self.arrays.get(&name).ok_or_else(|| format!("array {name} is missing"))?;
        if view.dtype() != dtype {
            return Err(format!("array {name} holds {:?} instead of {dtype:?}", view.dtype()));
        }
        Ok(view)
    }

    /// The bytes of a name.
    pub(super) fn get_bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        Ok(self.view(name, Dtype::U8)?.data().to_vec())
    }
}
