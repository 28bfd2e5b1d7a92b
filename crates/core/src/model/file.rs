//! Model files: one safetensors file whose metadata hold one versioned JSON document.
//!
//! Arrays are plain numbers that any safetensors reader can open; nothing in the file is ever executed. A checksum covers
//! the document and every array, and everything is checked again in reading, so that a damaged or made-up file gives an
//! error and never a panic.

use super::tensors::{CHECKSUM, DOCUMENT, Packer, Unpacker};
use super::{FileError, Model, Origin, is_libsvm, members, weights};
use crate::calibrate::Calibration;
use crate::data::{Coordinate, Dataset, Rows, Scalar, Schema, SparseRows, Values, View};
use crate::formula::{Formula, Learned};
use crate::gram::views::Centring;
use crate::machines::{Coefficients, Expansion, Fitted, Proof, Readout};
use crate::params::Setting;
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The latest version that is read. Files that an older reader understands are written in its version.
const VERSION: u64 = 2;

#[derive(Serialize, Deserialize)]
struct Document {
    format: u64,
    written_by: String,
    machine: String,
    settings: Vec<(String, Stored)>,
    kernel: String,
    readout: Readout,
    proof: Proof,
    coefficients: Kind,
    centrings: usize,
    /// How many kernels had something to learn beside their parameters.
    #[serde(default, skip_serializing_if = "is_zero")]
    learned: usize,
    views: Vec<StoredView>,
    schema: Option<Schema>,
    trained_on: usize,
    candidates: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    /// Files of models without probabilities, and those written before there were any, do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
}

/// A parameter as JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Switch(bool),
    Number(f64),
    Numbers(Vec<f64>),
    Word(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Dual,
    Ball,
    Pairwise { count: usize },
    Primal(weights::StoredWeights),
    Neighbours(members::StoredNeighbours),
    Committee(members::StoredCommittee),
}

#[derive(Serialize, Deserialize)]
struct StoredView {
    name: String,
    kind: String,
    len: usize,
    width: usize,
}

impl Model {
    /// Writes the model to a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let fail = |reason: String| FileError::Io { file: path.display().to_string(), reason };
        let bytes = self.to_bytes().map_err(fail)?;
        crate::write::whole(path, &bytes).map_err(|e| fail(crate::write::words(&e)))
    }

    /// The file as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let kernel = self.kernel.to_string();
        if kernel.parse::<Formula>().map_or(true, |read| read != self.kernel) {
            return Err(format!("the kernel {kernel} is not one that can be read back, so it is not written"));
        }
        let mut pack = Packer::default();
        let outputs = self.fitted.expansion.outputs();
        pack.f64s("offsets", &[outputs], &self.fitted.expansion.offsets);
        let points = |pack: &mut Packer, points: &[usize]| {
            pack.u64s("points", &[points.len()], &points.iter().map(|&p| p as u64).collect::<Vec<_>>());
        };
        let coefficients = match &self.fitted.expansion.coefficients {
            Coefficients::Dual { points: places, alpha } => {
                points(&mut pack, places);
                pack.f64s("alpha", &[places.len(), outputs], alpha);
                Kind::Dual
            }
            Coefficients::Pairwise { points: places, classes, alpha, count } => {
                points(&mut pack, places);
                pack.u32s("classes", &[places.len()], classes);
                pack.f64s("alpha", &[places.len(), count - 1], alpha);
                Kind::Pairwise { count: *count }
            }
            Coefficients::Ball { points: places, alpha } => {
                points(&mut pack, places);
                pack.f64s("alpha", &[places.len(), outputs], alpha);
                Kind::Ball
            }
            Coefficients::Primal { weights, width, scale } => {
                Kind::Primal(weights::pack(&mut pack, weights, outputs, *width, *scale))
            }
            Coefficients::Neighbours(neighbours) => {
                points(&mut pack, &neighbours.points);
                Kind::Neighbours(members::pack_neighbours(&mut pack, neighbours, outputs))
            }
            Coefficients::Committee(committee) => Kind::Committee(members::pack_committee(&mut pack, committee)),
        };
        let centrings = self.kernel.centrings();
        for (i, centring) in centrings.iter().enumerate() {
            pack.f64s(format!("centring.{i}"), &[centring.means.len()], &centring.means);
            pack.f64s(format!("centring.{i}.total"), &[1], &[centring.total]);
        }
        let learned = self.kernel.learned();
        for (i, Learned { words, numbers }) in learned.iter().enumerate() {
            pack_words(&mut pack, &format!("learned.{i}"), words);
            pack.f64s(format!("learned.{i}.numbers"), &[numbers.len()], numbers);
        }
        let document = Document {
            // columns without weight are left out since the second version
            format: if matches!(&coefficients, Kind::Primal(stored) if stored.columns.is_some()) { VERSION } else { 1 },
            written_by: format!("mercer {}", env!("CARGO_PKG_VERSION")),
            machine: self.machine.clone(),
            settings: self.settings.iter().map(|(name, value)| (name.clone(), store(value))).collect(),
            kernel,
            readout: self.fitted.readout.clone(),
            proof: self.fitted.proof.clone(),
            coefficients,
            centrings: centrings.len(),
            learned: learned.len(),
            views: self.examples.views().iter().enumerate().map(|(i, v)| pack_view(&mut pack, i, v)).collect(),
            schema: self.schema.clone(),
            trained_on: self.trained_on,
            candidates: self.candidates,
            origin: self.origin.clone(),
            calibration: self.fitted.calibration.clone(),
        };
        pack.finish(&serde_json::to_string(&document).map_err(|e| e.to_string())?)
    }

    /// Reads a model from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let bytes =
            std::fs::read(path).map_err(|e| FileError::Io { file: file.clone(), reason: crate::write::words(&e) })?;
        Self::from_bytes(&bytes, &file)
    }

    /// Reads a model from bytes, ours or LIBSVM's by their content; `file` is its name in errors.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Self, FileError> {
        if is_libsvm(bytes) {
            return Self::from_libsvm(bytes, file);
        }
        let not_a_model = |finding: &str| FileError::NotAModel { file: file.to_owned(), finding: finding.to_owned() };
        let damaged = |finding: String| FileError::Damaged { file: file.to_owned(), finding };
        let (_, header) = SafeTensors::read_metadata(bytes)
            .map_err(|_| not_a_model("it has no safetensors header, or is cut off"))?;
        let metadata = header.metadata().as_ref().ok_or_else(|| not_a_model("its header has no metadata"))?;
        let text = metadata.get(DOCUMENT).ok_or_else(|| not_a_model("its metadata have no mercer document"))?;
        let arrays = SafeTensors::deserialize(bytes).map_err(|e| damaged(e.to_string()))?;
        let unpack = Unpacker::new(&arrays);
        let version: Version = serde_json::from_str(text).map_err(|e| damaged(format!("its document: {e}")))?;
        if version.format > VERSION {
            return Err(FileError::Version { file: file.to_owned(), found: version.format, known: VERSION });
        }
        let wanted = metadata.get(CHECKSUM).map(String::as_str);
        if wanted != Some(format!("{:08x}", unpack.checksum(text)).as_str()) {
            return Err(damaged("its checksum does not fit its contents".to_owned()));
        }
        let document: Document = serde_json::from_str(text).map_err(|e| damaged(format!("its document: {e}")))?;
        assemble(document, &unpack).map_err(damaged)
    }
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn store(value: &Setting) -> Stored {
    match value {
        // JSON has no infinity
        Setting::Number(x) if x.is_infinite() => Stored::Word(x.to_string()),
        Setting::Number(x) => Stored::Number(*x),
        Setting::Switch(b) => Stored::Switch(*b),
        Setting::Word(w) => Stored::Word(w.clone()),
        Setting::Numbers(xs) => Stored::Numbers(xs.clone()),
    }
}

fn restore(value: Stored) -> Setting {
    match value {
        Stored::Number(x) => Setting::Number(x),
        Stored::Switch(b) => Setting::Switch(b),
        Stored::Word(w) if w == "inf" => Setting::Number(f64::INFINITY),
        Stored::Word(w) => Setting::Word(w),
        Stored::Numbers(xs) => Setting::Numbers(xs),
    }
}

fn pack_view(pack: &mut Packer, place: usize, view: &View) -> StoredView {
    let name = |part: &str| format!("view.{place}.{part}");
    let (len, width) = (view.values.len(), view.values.width().unwrap_or(0));
    let kind = match &view.values {
        Values::Dense(r) => {
            pack.f64s(name("values"), &[len, width], r.values());
            "dense"
        }
        Values::Dense32(r) => {
            pack.f32s(name("values"), &[len, width], r.values());
            "dense32"
        }
        Values::Sparse(r) => {
            pack_sparse(pack, place, r);
            pack.f64s(
                name("values"),
                &[r.coordinates().len()],
                &r.coordinates().iter().map(|c| c.value).collect::<Vec<_>>(),
            );
            "sparse"
        }
        Values::Sparse32(r) => {
            pack_sparse(pack, place, r);
            pack.f32s(
                name("values"),
                &[r.coordinates().len()],
                &r.coordinates().iter().map(|c| c.value).collect::<Vec<_>>(),
            );
            "sparse32"
        }
        Values::Text(t) => {
            pack_words(pack, &format!("view.{place}"), t);
            "text"
        }
        Values::Index(t) => {
            pack.u32s(name("index"), &[t.len()], t);
            "index"
        }
    };
    StoredView { name: view.name.clone(), kind: kind.to_owned(), len, width }
}

/// Strings end to end, with where each starts.
fn pack_words(pack: &mut Packer, name: &str, words: &[String]) {
    let mut starts = vec![0_u64];
    starts.extend(words.iter().scan(0, |end, s| {
        *end += s.len() as u64;
        Some(*end)
    }));
    pack.u64s(format!("{name}.starts"), &[starts.len()], &starts);
    pack.bytes(format!("{name}.text"), words.concat().into_bytes());
}

fn pack_sparse<S: Scalar>(pack: &mut Packer, place: usize, rows: &SparseRows<S>) {
    let starts: Vec<u64> = rows.starts().iter().map(|&s| s as u64).collect();
    let indices: Vec<u32> = rows.coordinates().iter().map(|c| c.index).collect();
    pack.u64s(format!("view.{place}.starts"), &[starts.len()], &starts);
    pack.u32s(format!("view.{place}.indices"), &[indices.len()], &indices);
}

/// Checks a document against its arrays and puts the model together.
fn assemble(document: Document, unpack: &Unpacker<'_>) -> Result<Model, String> {
    let mut kernel: Formula = document.kernel.parse().map_err(|e| format!("its kernel: {e}"))?;
    let mut centrings = Vec::new();
    for i in 0..document.centrings {
        let (_, means) = finite(unpack.get_f64s(&format!("centring.{i}"))?)?;
        let (_, total) = finite(unpack.get_f64s(&format!("centring.{i}.total"))?)?;
        centrings.push(Centring { means, total: *total.first().ok_or("a centring has no total")? });
    }
    if !kernel.set_centrings(centrings) {
        return Err("its kernel has another number of centres than the file".to_owned());
    }
    let mut learned = Vec::new();
    for i in 0..document.learned {
        let (_, numbers) = finite(unpack.get_f64s(&format!("learned.{i}.numbers"))?)?;
        learned.push(Learned { words: unpack_words(unpack, &format!("learned.{i}"))?, numbers });
    }
    if !kernel.set_learned(learned) {
        return Err("what its kernel has learned does not fit it".to_owned());
    }
    if !kernel.is_resolved() {
        return Err("its kernel has a word where a number should be".to_owned());
    }
    let gaps = kernel.meets_gaps();
    let views = document
        .views
        .iter()
        .enumerate()
        .map(|(i, v)| Ok(View { name: v.name.clone(), values: unpack_view(unpack, i, v, gaps)? }))
        .collect::<Result<Vec<_>, String>>()?;
    let examples = Dataset::from_views(views).map_err(|e| e.to_string())?;
    if kernel.centrings().iter().any(|c| c.means.len() != examples.len()) {
        return Err("a centre was learned on another number of examples".to_owned());
    }
    let (_, offsets) = finite(unpack.get_f64s("offsets")?)?;
    if document.readout.outputs() != offsets.len() || offsets.is_empty() {
        return Err("its readout does not fit its outputs".to_owned());
    }
    if let Some(calibration) = &document.calibration {
        calibration.check(offsets.len())?;
        if document.readout.form().is_none() {
            return Err("it has probabilities, but predicts no classes".to_owned());
        }
    }
    let coefficients = unpack_coefficients(&document, unpack, &offsets, examples.len())?;
    if document.machine.is_empty() || crate::machines::find(&document.machine).is_none() {
        return Err(format!("there is no machine called {}", document.machine));
    }
    if let Some(schema) = &document.schema {
        schema.check(&examples)?;
    }
    Ok(Model {
        machine: document.machine,
        settings: document.settings.into_iter().map(|(name, value)| (name, restore(value))).collect(),
        kernel,
        fitted: Fitted {
            expansion: Expansion { coefficients, offsets },
            readout: document.readout,
            proof: document.proof,
            calibration: document.calibration,
            training_scores: None,
        },
        examples,
        schema: document.schema,
        trained_on: document.trained_on,
        places: Vec::new(),
        candidates: document.candidates,
        origin: document.origin,
    })
}

fn finite<T, S: Scalar>(array: (T, Vec<S>)) -> Result<(T, Vec<S>), String> {
    finite_or(false, array)
}

/// Numbers that are finite, or missing where the kernel takes gaps.
fn finite_or<T, S: Scalar>(gaps: bool, array: (T, Vec<S>)) -> Result<(T, Vec<S>), String> {
    if array.1.iter().all(|v| v.wide().is_finite() || (gaps && v.wide().is_nan())) {
        Ok(array)
    } else {
        Err("an array holds numbers that are not finite".to_owned())
    }
}

fn unpack_coefficients(
    document: &Document,
    unpack: &Unpacker<'_>,
    offsets: &[f64],
    examples: usize,
) -> Result<Coefficients, String> {
    if let Kind::Primal(stored) = &document.coefficients {
        let weights = weights::unpack(unpack, stored, offsets.len())?;
        return Ok(Coefficients::Primal { weights, width: stored.width, scale: stored.scale });
    }
    if let Kind::Committee(stored) = &document.coefficients {
        return members::unpack_committee(unpack, stored, offsets.len()).map(Coefficients::Committee);
    }
    let (_, points) = unpack.get_u64s("points")?;
    let points: Vec<usize> = points.into_iter().map(|p| usize::try_from(p).unwrap_or(usize::MAX)).collect();
    if points.iter().any(|&p| p >= examples) {
        return Err("a coefficient belongs to an example that is not in the file".to_owned());
    }
    if let Kind::Neighbours(stored) = &document.coefficients {
        return members::unpack_neighbours(unpack, stored, points, offsets.len()).map(Coefficients::Neighbours);
    }
    let (shape, alpha) = finite(unpack.get_f64s("alpha")?)?;
    match document.coefficients {
        Kind::Pairwise { count } => {
            let (_, classes) = unpack.get_u32s("classes")?;
            let fits = count >= 2
                && shape == [points.len(), count - 1]
                && classes.len() == points.len()
                && classes.iter().all(|&c| (c as usize) < count)
                && classes.windows(2).all(|p| p[0] <= p[1])
                && count.checked_mul(count - 1).is_some_and(|twice| offsets.len() == twice / 2);
            match (fits, &document.readout) {
                (true, Readout::Vote { labels }) if labels.len() == count => {
                    Ok(Coefficients::Pairwise { points, classes, alpha, count })
                }
                _ => Err("its coefficients do not fit its classes".to_owned()),
            }
        }
        Kind::Ball if shape == [points.len(), 1] && offsets.len() == 1 => Ok(Coefficients::Ball { points, alpha }),
        Kind::Dual if shape == [points.len(), offsets.len()] => Ok(Coefficients::Dual { points, alpha }),
        _ => Err("its coefficients have the wrong shape".to_owned()),
    }
}

fn unpack_view(unpack: &Unpacker<'_>, place: usize, view: &StoredView, gaps: bool) -> Result<Values, String> {
    let name = |part: &str| format!("view.{place}.{part}");
    let wrong = || format!("view {} has the wrong shape", view.name);
    let shape = [view.len, view.width];
    match view.kind.as_str() {
        "dense" => {
            let (found, values) = finite_or(gaps, unpack.get_f64s(&name("values"))?)?;
            let rows = Rows::new(values, view.len, view.width).filter(|_| found == shape);
            rows.map(Values::from).ok_or_else(wrong)
        }
        "dense32" => {
            let (found, values) = finite_or(gaps, unpack.get_f32s(&name("values"))?)?;
            let rows = Rows::new(values, view.len, view.width).filter(|_| found == shape);
            rows.map(Values::from).ok_or_else(wrong)
        }
        "sparse" => {
            let (_, values) = finite(unpack.get_f64s(&name("values"))?)?;
            unpack_sparse(unpack, place, view, &values).map(Values::from)
        }
        "sparse32" => {
            let (_, values) = finite(unpack.get_f32s(&name("values"))?)?;
            unpack_sparse(unpack, place, view, &values).map(Values::from)
        }
        "text" => {
            let strings = unpack_words(unpack, &format!("view.{place}"))?;
            if strings.len() == view.len { Ok(Values::from(strings)) } else { Err(wrong()) }
        }
        "index" => {
            let (_, index) = unpack.get_u32s(&name("index"))?;
            if index.len() == view.len { Ok(Values::Index(Arc::new(index))) } else { Err(wrong()) }
        }
        other => Err(format!("view {} is of the unknown kind {other}", view.name)),
    }
}

/// Strings that lie end to end.
fn unpack_words(unpack: &Unpacker<'_>, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("array {name}.text does not hold its strings");
    let text = String::from_utf8(unpack.get_bytes(&format!("{name}.text"))?).map_err(|_| wrong())?;
    let starts = places(unpack, &format!("{name}.starts"), text.len())?;
    let strings: Option<Vec<String>> = starts.windows(2).map(|p| text.get(p[0]..p[1]).map(str::to_owned)).collect();
    strings.ok_or_else(wrong)
}

/// Where each vector or string starts: rising places up to `end`.
fn places(unpack: &Unpacker<'_>, name: &str, end: usize) -> Result<Vec<usize>, String> {
    let (_, starts) = unpack.get_u64s(name)?;
    let starts: Vec<usize> = starts.into_iter().map(|s| usize::try_from(s).unwrap_or(usize::MAX)).collect();
    let fits = starts.first() == Some(&0) && starts.last() == Some(&end) && starts.windows(2).all(|p| p[0] <= p[1]);
    if fits { Ok(starts) } else { Err(format!("array {name} does not fit its contents")) }
}

fn unpack_sparse<S: Scalar>(
    unpack: &Unpacker<'_>,
    place: usize,
    view: &StoredView,
    values: &[S],
) -> Result<SparseRows<S>, String> {
    let wrong = || format!("view {} has the wrong shape", view.name);
    let (_, indices) = unpack.get_u32s(&format!("view.{place}.indices"))?;
    let starts = places(unpack, &format!("view.{place}.starts"), values.len())?;
    if indices.len() != values.len() || view.len.checked_add(1) != Some(starts.len()) || indices.contains(&u32::MAX) {
        return Err(wrong());
    }
    let mut rows = SparseRows::new(view.width);
    let mut row = Vec::new();
    for p in starts.windows(2) {
        row.clear();
        row.extend((p[0]..p[1]).map(|k| Coordinate { index: indices[k], value: values[k] }));
        if !rows.push(&row) || rows.width() != view.width {
            return Err(wrong());
        }
    }
    Ok(rows)
}
