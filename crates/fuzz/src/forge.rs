//! Inputs that are right in their outer form: arrays with a header that fits, packed texts, model files with their checksum.

use crate::damage::{REAL, WHOLE, change_bytes, damaged, one};
use crate::formulas;
use mercer::seed::Random;
use serde_json::{Map, Value, json};
use std::io::Write as _;

/// Packs bytes with gzip, sometimes in several members.
pub fn gzip(bytes: &[u8], members: usize) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts(bytes, members) {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        // a vector takes every byte
        let packed = member.write_all(part).and_then(|()| member.finish());
        all.extend(packed.unwrap_or_default());
    }
    all
}

/// Packs bytes with Zstandard, sometimes in several frames.
pub fn zstd(bytes: &[u8], frames: usize) -> Vec<u8> {
    let pack = |part| ruzstd::encoding::compress_to_vec(part, ruzstd::encoding::CompressionLevel::Fastest);
    parts(bytes, frames).flat_map(pack).collect()
}

fn parts(bytes: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(bytes.len().div_ceil(count.max(1)).max(1))
}

/// An NPY file with another header of the right length; none if it is no NPY file.
pub fn npy(seed: &[u8], words: &[&str], random: &mut Random) -> Option<Vec<u8>> {
    let len = usize::from(u16::from_le_bytes([*seed.get(8)?, *seed.get(9)?]));
    let (header, data) = (seed.get(10..10 + len)?, seed.get(10 + len..)?);
    let mut header = damaged(header, &[], words, random);
    if random.below(4) > 0 {
        header.retain(|&b| b != b'\n');
        header.push(b'\n');
    }
    let mut data = data.to_vec();
    if random.below(3) == 0 {
        change_bytes(&mut data, &[], random);
    }
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header);
    file.extend(data);
    Some(file)
}

/// An archive of arrays.
pub fn npz(arrays: &[&[u8]], words: &[&str], random: &mut Random) -> Option<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for place in 0..random.below(4) {
        let array = one(arrays, random);
        let array = if random.below(2) == 0 { npy(array, words, random)? } else { array.to_vec() };
        let name = one(&["X", "y", "label", "arr_0", "../x", "", "a/b", "Ж"], random);
        let again = if random.below(4) == 0 { String::new() } else { place.to_string() };
        let end = one(&[".npy", ".npy", ".npy", ""], random);
        // two of one name are refused by the writer, not by our reader
        zip.start_file(format!("{name}{again}{end}"), zip::write::SimpleFileOptions::default()).ok()?;
        zip.write_all(&array).ok()?;
    }
    Some(zip.finish().ok()?.into_inner())
}

/// An array of a model file.
struct Array {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    data: Vec<u8>,
}

/// A model file with one to four changes of its document and its arrays, and a checksum that fits; none if it is no model file.
pub fn model(seed: &[u8], words: &[&str], random: &mut Random) -> Option<Vec<u8>> {
    let len = u64::from_le_bytes(*seed.first_chunk()?);
    let end = usize::try_from(len).ok()?.checked_add(8)?;
    let header: Value = serde_json::from_slice(seed.get(8..end)?).ok()?;
    let mut document: Value = serde_json::from_str(header["__metadata__"]["mercer"].as_str()?).ok()?;
    let mut arrays = Vec::new();
    for (name, entry) in header.as_object()?.iter().filter(|(name, _)| *name != "__metadata__") {
        let place = |k: usize| usize::try_from(entry["data_offsets"][k].as_u64()?).ok()?.checked_add(end);
        let shape: Option<Vec<u64>> = entry["shape"].as_array()?.iter().map(Value::as_u64).collect();
        let (dtype, data) = (entry["dtype"].as_str()?.to_owned(), seed.get(place(0)?..place(1)?)?.to_vec());
        arrays.push(Array { name: name.clone(), dtype, shape: shape?, data });
    }
    for _ in 0..=random.below(4) {
        match random.below(8) {
            0 => {
                let kernel = Value::String(formulas::formula(2, random));
                if let Some(old) = document.get_mut("kernel") {
                    *old = kernel;
                }
            }
            1..=4 => {
                let copy = node(&mut document.clone(), random).clone();
                let more = random.below(3);
                change(node(&mut document, random), copy, words, more, random);
            }
            _ => {
                if !arrays.is_empty() {
                    change_array(&mut arrays, random);
                }
            }
        }
    }
    Some(assembled(&document.to_string(), &mut arrays))
}

/// A file of a document and arrays, with the checksum over both.
fn assembled(document: &str, arrays: &mut [Array]) -> Vec<u8> {
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(document.as_bytes());
    let (mut header, mut data) = (Map::new(), Vec::new());
    for Array { name, dtype, shape, data: values } in arrays {
        hasher.update(format!("\n{name} {dtype} {shape:?}\n").as_bytes());
        hasher.update(values);
        let offsets = [data.len(), data.len() + values.len()];
        header.insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": offsets}));
        data.extend_from_slice(values);
    }
    let checksum = format!("{:08x}", hasher.finalize());
    header.insert("__metadata__".to_owned(), json!({"mercer": document, "checksum": checksum}));
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend(data);
    file
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Any value inside of a value, itself included.
fn node<'a>(root: &'a mut Value, random: &mut Random) -> &'a mut Value {
    let mut left = random.below(count(root));
    let mut at = root;
    while left > 0 {
        left -= 1;
        let inner: Vec<&mut Value> = match at {
            Value::Array(items) => items.iter_mut().collect(),
            Value::Object(fields) => fields.values_mut().collect(),
            _ => Vec::new(),
        };
        let mut next = None;
        for value in inner {
            let size = count(value);
            if left < size {
                next = Some(value);
                break;
            }
            left -= size;
        }
        match next {
            Some(value) => at = value,
            None => unreachable!("the place is below the number of values"),
        }
    }
    at
}

/// Another value of the same type, mostly.
fn change(value: &mut Value, copy: Value, words: &[&str], more: usize, random: &mut Random) {
    if random.below(12) == 0 {
        *value = if random.below(3) == 0 { Value::Null } else { copy };
        return;
    }
    match value {
        Value::Null => *value = copy,
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => {
            *value = match (random.below(3), number.as_u64()) {
                (0, Some(n)) => json!(if random.below(2) == 0 { n.wrapping_add(1) } else { n.saturating_sub(1) }),
                (1, _) => json!(WHOLE[random.below(WHOLE.len())]),
                _ => json!(REAL[random.below(REAL.len())]),
            }
        }
        Value::String(text) => {
            *text = match random.below(3) {
                0 => one(words, random).to_owned(),
                1 => formulas::formula(1, random),
                _ => String::from_utf8_lossy(&damaged(text.as_bytes(), &[], words, random)).into_owned(),
            }
        }
        Value::Array(items) => {
            let at = random.below(items.len() + 1);
            match random.below(4) {
                0 => items.truncate(at),
                1 if at < items.len() => drop(items.remove(at)),
                2 if at < items.len() => {
                    let again = items[at].clone();
                    items.splice(at..at, std::iter::repeat_n(again, 1 + more));
                }
                _ => items.insert(at, copy),
            }
        }
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            if names.is_empty() || random.below(4) == 0 {
                fields.insert(one(words, random).to_owned(), copy);
            } else {
                let name = &names[random.below(names.len())];
                if random.below(2) == 0 {
                    fields.remove(name);
                } else {
                    fields[name] = copy;
                }
            }
        }
    }
}

fn change_array(arrays: &mut Vec<Array>, random: &mut Random) {
    let (at, other) = (random.below(arrays.len()), random.below(arrays.len()));
    match random.below(10) {
        0 => drop(arrays.remove(at)),
        1 => {
            let data = arrays[other].data.clone();
            arrays[at].data = data;
        }
        2 => arrays[at].shape.reverse(),
        3 => {
            if let Some(size) = arrays[at].shape.first_mut() {
                *size = WHOLE[random.below(WHOLE.len())];
            }
        }
        4 => one(&["F64", "F32", "U64", "U32", "U8", "I64"], random).clone_into(&mut arrays[at].dtype),
        // one row more or less, in shape and in data
        5 => {
            let array = &mut arrays[at];
            if let [size, ..] = array.shape.as_mut_slice()
                && let Some(row) = array.data.len().checked_div(usize::try_from(*size).unwrap_or(0)).filter(|&r| r > 0)
            {
                if random.below(2) == 0 {
                    array.data.extend_from_within(..row);
                    *size += 1;
                } else {
                    array.data.truncate(array.data.len() - row);
                    *size -= 1;
                }
            }
        }
        _ => {
            let array = &mut arrays[at];
            for _ in 0..=random.below(3) {
                let value = match array.dtype.as_str() {
                    "F64" => REAL[random.below(REAL.len())].to_le_bytes().to_vec(),
                    "F32" => (REAL[random.below(REAL.len())] as f32).to_le_bytes().to_vec(),
                    "U64" => WHOLE[random.below(WHOLE.len())].to_le_bytes().to_vec(),
                    "U32" => (WHOLE[random.below(WHOLE.len())] as u32).to_le_bytes().to_vec(),
                    _ => vec![random.bits() as u8],
                };
                let places = array.data.len() / value.len();
                if places > 0 {
                    let start = random.below(places) * value.len();
                    array.data[start..start + value.len()].copy_from_slice(&value);
                }
            }
        }
    }
}
