//! Model files: one safetensors file whose metadata hold one versioned JSON document.
//!
//! Arrays are plain numbers that any safetensors reader can open; nothing in the file is ever executed. A checksum covers
//! the document and every array, and everything is checked again in reading, so that a damaged or made-up file gives an
//! error and never a panic.

use super::learned::{self, StoredLearned};
use super::tensors::{CHECKSUM, DOCUMENT, Packer, Unpacker};
use super::{FileError, Model, Provenance, coefficients, conformity, is_libsvm, posterior, weights};
use crate::calibrate::Calibration;
use crate::data::{Coordinate, Dataset, Rows, Scalar, Schema, SparseRows, Values, View, kinds};
use crate::formula::{Formula, State};
use crate::machines::{Fitted, Readout, SolverReport};
use crate::params::Setting;
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The latest version that is read. Files that an older reader understands are written in its version.
const VERSION: u64 = 6;

/// The most characters of a finding in a damaged file.
const MAX_FINDING: usize = 400;

#[derive(Serialize, Deserialize)]
struct Document {
    format: u64,
    written_by: String,
    machine: String,
    settings: Vec<(String, Setting)>,
    kernel: String,
    readout: Readout,
    #[serde(rename = "proof")]
    report: SolverReport,
    coefficients: coefficients::Stored,
    centrings: usize,
    /// The number of centres that were learned from a part of the examples: all or none.
    #[serde(default, skip_serializing_if = "is_zero")]
    parts: usize,
    /// The number of kernels that have learned something besides their parameters.
    #[serde(default, skip_serializing_if = "is_zero")]
    learned: usize,
    /// The landmarks of each approximation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    landmarks: Vec<Vec<StoredView>>,
    views: Vec<StoredView>,
    schema: Option<Schema>,
    trained_on: usize,
    candidates: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidate_nats: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Provenance>,
    /// Files of older versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job: Option<serde_json::Value>,
    /// Files of models without probabilities, and those written before there were any, do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    /// Only files of models that know how uncertain they are have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    posterior: Option<posterior::StoredPosterior>,
    /// Only files of models with conformal regions have it; a reader that does not know them predicts without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conformal: Option<conformity::StoredConformal>,
    /// Only files of models that were learned on columns with names, but on no file, have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<(String, Vec<String>)>,
}

/// A view as a document tells it.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredView {
    name: String,
    kind: String,
    len: usize,
    width: usize,
}

impl Model {
    /// Writes the model to a file, whole or not at all; `-` is standard output. What could not be read again is not written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let bytes = self.to_bytes()?;
        crate::write::whole(path, &bytes)
            .map_err(|e| FileError::Io { file: crate::write::shown(path), reason: crate::write::words(&e) })
    }

    /// The file as bytes, which have been read again.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let kernel = self.kernel.to_string();
        if kernel.parse::<Formula>().map_or(true, |read| read != self.kernel) {
            let finding = format!("its kernel {kernel} reads as another; give its parameters other values");
            return Err(FileError::Unreadable { finding });
        }
        let mut pack = Packer::default();
        let coefficients = coefficients::pack(&mut pack, &self.fitted.expansion);
        let learned = learned::pack(&mut pack, &self.kernel);
        let conformal = self.conformal.as_ref().map(|c| conformity::pack(&mut pack, c));
        let posterior = self.fitted.posterior.as_ref().map(|p| posterior::pack(&mut pack, p));
        let document = Document {
            // columns without weight are left out since the second version; since the third, centres may be those of a part, and
            // candidates be learned from; since the fourth, there are landmarks, posteriors, sets of labels and orders; since the fifth,
            // models of several parts; since the sixth, examples that were set apart to prepare the others
            format: match learned.parts > 0 || conformal.as_ref().is_some_and(conformity::StoredConformal::is_full) {
                _ if self.provenance.as_ref().is_some_and(|p| p.set_apart().is_some()) => VERSION,
                _ if self.fitted.readout.file_version() > 3 => self.fitted.readout.file_version(),
                _ if !learned.landmarks.is_empty() || posterior.is_some() => 4,
                true => 3,
                false if coefficients.leaves_columns_out() => 2,
                false => 1,
            },
            written_by: format!("mercer {}", env!("CARGO_PKG_VERSION")),
            machine: self.machine.clone(),
            settings: self.settings.clone(),
            kernel,
            readout: self.fitted.readout.clone(),
            report: self.fitted.report.clone(),
            coefficients,
            centrings: learned.centrings,
            parts: learned.parts,
            learned: learned.kernels,
            landmarks: learned.landmarks,
            views: pack_views(&mut pack, &self.examples),
            schema: self.schema.clone(),
            trained_on: self.trained_on,
            candidates: self.candidates,
            candidate_nats: self.candidate_nats,
            origin: self.provenance.clone(),
            job: self.job.as_ref().and_then(|job| serde_json::to_value(job.as_ref()).ok()),
            calibration: self.fitted.calibration.clone(),
            posterior,
            conformal,
            columns: self.columns.clone(),
        };
        let unreadable = |finding: String| FileError::Unreadable { finding };
        let text = serde_json::to_string(&document).map_err(|e| unreadable(e.to_string()))?;
        let bytes = pack.finish(&text).map_err(unreadable)?;
        match Self::from_bytes(&bytes, "the model") {
            Ok(_) => Ok(bytes),
            Err(FileError::Damaged { finding, .. }) => Err(unreadable(at_fault(&text, &pack).unwrap_or(finding))),
            Err(other) => Err(unreadable(other.to_string())),
        }
    }

    /// Reads a model from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        if path == Path::new("-") {
            let reason = "a model is not read from standard input; give the name of its file".to_owned();
            return Err(FileError::Io { file, reason });
        }
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
        // a parser repeats what it finds, however long that is
        let damaged = |mut finding: String| {
            if let Some((end, _)) = finding.char_indices().nth(MAX_FINDING) {
                finding.truncate(end);
                finding.push('…');
            }
            FileError::Damaged { file: file.to_owned(), finding }
        };
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
        if let coefficients::Stored::Primal(stored) = &document.coefficients {
            let outputs = unpack.get_f64s("offsets").map_or(1, |(_, offsets)| offsets.len());
            weights::room(stored, outputs)
                .map_err(|e| FileError::Io { file: file.to_owned(), reason: e.to_string() })?;
        }
        assemble(document, &unpack).map_err(damaged)
    }
}

/// The number of a model that cannot be read again because it is not finite: in its document, where JSON has no word for it,
/// or in an array.
fn at_fault(document: &str, pack: &Packer) -> Option<String> {
    let remedy =
        "numbers of the data or parameters are too large for it; scale the columns, or leave out what is so large";
    if let Err(error) = serde_json::from_str::<Document>(document) {
        let head = document.get(..error.column()).unwrap_or(document);
        let name = head.rsplit('"').nth(1).unwrap_or_default();
        return Some(format!("the number \"{name}\" is not finite; {remedy}"));
    }
    let (array, place, value) = pack.first_not_finite()?;
    Some(format!("number {} of the array {array} is {value}, which is not finite; {remedy}", place + 1))
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Adds the views of examples to a file.
pub(super) fn pack_views(pack: &mut Packer, examples: &Dataset) -> Vec<StoredView> {
    examples.views().iter().enumerate().map(|(i, v)| pack_view(pack, i, v)).collect()
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
        Values::Items(column) => {
            let texts: Vec<String> = (0..column.len()).map(|i| column.text(i)).collect();
            pack_words(pack, &format!("view.{place}"), &texts);
            column.kind().name
        }
    };
    StoredView { name: view.name.clone(), kind: kind.to_owned(), len, width }
}

/// Strings end to end, with where each starts.
pub(super) fn pack_words(pack: &mut Packer, name: &str, words: &[String]) {
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
    let learned = StoredLearned {
        centrings: document.centrings,
        parts: document.parts,
        kernels: document.learned,
        landmarks: document.landmarks,
    };
    if !kernel.set_state(learned::unpack(&learned, unpack, &kernel)?) {
        return Err("what its kernel has learned does not fit it".to_owned());
    }
    if !kernel.is_resolved() {
        return Err("its kernel has a word where a number should be".to_owned());
    }
    let gaps = kernel.meets_gaps();
    let examples = unpack_views(unpack, &document.views, gaps)?;
    let other_number = |s: &State| matches!(s, State::Centre(centring) if centring.means.len() != examples.len());
    if kernel.state().iter().any(other_number) {
        return Err("a centre was learned on another number of examples".to_owned());
    }
    if let Some(label) = document.readout.repeated() {
        return Err(format!("the label {label} stands for two of its classes"));
    }
    let sizes = (document.readout.outputs(), examples.len());
    let expansion = coefficients::unpack(&document.coefficients, unpack, &document.readout, sizes)?;
    let terms = kernel.terms().len();
    if expansion.parts().iter().any(|part| part.term >= terms) {
        return Err("one of its parts belongs to a term that its kernel does not have".to_owned());
    }
    if document.posterior.is_some() && !expansion.parts().is_empty() {
        return Err("it has several parts, to which one posterior cannot belong".to_owned());
    }
    let sizes = (expansion.points().len(), expansion.outputs());
    let posterior = document.posterior.as_ref().map(|p| posterior::unpack(p, unpack, sizes)).transpose()?;
    if let Some(calibration) = &document.calibration {
        calibration.check(expansion.outputs())?;
        if document.readout.form().is_none() {
            return Err("it has probabilities, but predicts no classes".to_owned());
        }
    }
    let conformal = match &document.conformal {
        Some(stored) => {
            let calibrated = document.calibration.is_some();
            Some(conformity::unpack(stored, unpack, &document.readout, calibrated, (examples.len(), gaps))?)
        }
        None => None,
    };
    if let Some(pool) = conformal.as_ref().and_then(|c| c.pool.as_ref()) {
        // a centre belongs to the examples of the model
        if kernel.needs_all_examples() {
            return Err("its conformal predictor has examples without a centre".to_owned());
        }
        if let Some(schema) = &document.schema {
            schema.check(pool)?;
        }
    }
    if document.machine.is_empty() || crate::machines::find(&document.machine).is_none() {
        return Err(format!("there is no machine called {}", document.machine));
    }
    if let Some(schema) = &document.schema {
        schema.check(&examples)?;
    }
    let columns = document.schema.as_ref().map(Schema::learned_bits);
    let provenance = document.origin.map(|origin| origin.completed(&kernel, columns));
    let job =
        document.job.map(serde_json::from_value).transpose().map_err(|e| format!("its job cannot be read: {e}"))?;
    let mut model = Model {
        machine: document.machine,
        settings: document.settings.into_iter().collect(),
        kernel,
        fitted: Fitted::new(expansion, document.readout, document.report)
            .with_calibration(document.calibration)
            .with_posterior(posterior),
        examples,
        schema: document.schema,
        trained_on: document.trained_on,
        places: Vec::new(),
        candidates: document.candidates,
        candidate_nats: document.candidate_nats.filter(|nats| *nats >= 0.0),
        provenance,
        job: job.map(Arc::new),
        conformal,
        columns: document.columns,
    };
    // jobs of older files do not have what the choice has cost
    model.tell_job(0);
    Ok(model)
}

/// The examples of a file.
pub(super) fn unpack_views(unpack: &Unpacker<'_>, views: &[StoredView], gaps: bool) -> Result<Dataset, String> {
    let view = |(i, v): (usize, &StoredView)| -> Result<View, String> {
        Ok(View { name: v.name.clone(), values: unpack_view(unpack, i, v, gaps)? })
    };
    let views = views.iter().enumerate().map(view).collect::<Result<Vec<_>, String>>()?;
    Dataset::from_views(views).map_err(|e| e.to_string())
}

pub(super) fn finite<T, S: Scalar>(array: (T, Vec<S>)) -> Result<(T, Vec<S>), String> {
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
        other => match kinds::find(other).and_then(|kind| kind.parse) {
            Some(parse) => {
                let texts = unpack_words(unpack, &format!("view.{place}"))?;
                let cells: Vec<&str> = texts.iter().map(String::as_str).collect();
                let values = parse(&cells).map_err(|bad| format!("view {}: {}", view.name, bad.finding))?;
                if values.len() == view.len { Ok(values) } else { Err(wrong()) }
            }
            None => Err(format!("view {} is of the unknown kind {other}", view.name)),
        },
    }
}

/// Strings that lie end to end.
pub(super) fn unpack_words(unpack: &Unpacker<'_>, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("array {name}.text does not hold its strings");
    let text = String::from_utf8(unpack.get_bytes(&format!("{name}.text"))?).map_err(|_| wrong())?;
    let starts = places(unpack, &format!("{name}.starts"), text.len())?;
    let strings: Option<Vec<String>> = starts.windows(2).map(|p| text.get(p[0]..p[1]).map(str::to_owned)).collect();
    strings.ok_or_else(wrong)
}

/// The start of each vector or string: rising places up to `end`.
pub(super) fn places(unpack: &Unpacker<'_>, name: &str, end: usize) -> Result<Vec<usize>, String> {
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
