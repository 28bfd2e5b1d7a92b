//! The crate libsvm-rs in the race: one fit and one prediction, timed, one JSON line on standard output.
//!
//! `race-libsvm-rs FOLDER --task svc|svr --c C --gamma G --epsilon E --tolerance T --cache MB --out FILE.json`
//!
//! FOLDER holds train and test as .npy (f64, with the targets in .y.npy) or .svm. Zeros are left out, as LIBSVM does.

use libsvm_rs::{KernelType, SvmNode, SvmParameter, SvmProblem, SvmType, predict::predict, train::svm_train};
use serde_json::json;
use std::{env, error::Error, fs, io::BufReader, path::Path, time::Instant};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn flag(name: &str) -> Fallible<String> {
    let words: Vec<String> = env::args().collect();
    let place = words.iter().position(|w| w == name).ok_or(format!("{name} is missing"))?;
    Ok(words.get(place + 1).ok_or(format!("{name} has no value"))?.clone())
}

fn number(name: &str) -> Fallible<f64> {
    Ok(flag(name)?.parse()?)
}

fn load(folder: &Path, part: &str) -> Fallible<SvmProblem> {
    let dense = folder.join(format!("{part}.npy"));
    if dense.exists() {
        let labels = npy(&folder.join(format!("{part}.y.npy")))?.concat();
        let nodes = |row: &Vec<f64>| {
            let kept = row.iter().zip(1..).filter(|(v, _)| **v != 0.0);
            kept.map(|(&value, index)| SvmNode { index, value }).collect()
        };
        return Ok(SvmProblem { labels, instances: npy(&dense)?.iter().map(nodes).collect() });
    }
    let file = BufReader::new(fs::File::open(folder.join(format!("{part}.svm")))?);
    let options = libsvm_rs::io::LoadOptions::trusted_input();
    Ok(libsvm_rs::io::load_problem_from_reader_with_options(file, &options)?)
}

/// The rows of an array of f64, as the race writes it.
fn npy(path: &Path) -> Fallible<Vec<Vec<f64>>> {
    let bytes = fs::read(path)?;
    if bytes.len() < 10 || bytes[6] != 1 {
        return Err("not an NPY file of version 1".into());
    }
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..start]).into_owned();
    if !header.contains("'<f8'") || !header.contains("False") {
        return Err("not f64 in the order of rows".into());
    }
    let shape = header.split("'shape': (").nth(1).and_then(|s| s.split(')').next()).ok_or("no shape")?;
    let width: usize = shape.split(',').nth(1).map_or("", str::trim).parse().unwrap_or(1);
    let value = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    let rows = bytes[start..].chunks_exact(8 * width);
    Ok(rows.map(|row| row.chunks_exact(8).map(value).collect()).collect())
}

fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() -> Fallible<()> {
    let folder = env::args().nth(1).ok_or("FOLDER is missing")?;
    let (folder, out) = (Path::new(&folder), flag("--out")?);
    let svm_type = if flag("--task")? == "svc" { SvmType::CSvc } else { SvmType::EpsilonSvr };
    let parameter = SvmParameter {
        svm_type,
        kernel_type: KernelType::Rbf,
        gamma: number("--gamma")?,
        c: number("--c")?,
        p: number("--epsilon")?,
        eps: number("--tolerance")?,
        cache_size: number("--cache")?,
        ..SvmParameter::default()
    };
    let problem = load(folder, "train")?;
    fs::write(Path::new(&out).with_extension("started"), "")?;
    let start = Instant::now();
    let model = svm_train(&problem, &parameter);
    let fit = start.elapsed().as_secs_f64();
    let mut answer = json!({"fit": fit, "peak_mb": peak_mb()});
    fs::write(Path::new(&out).with_extension("fitted"), answer.to_string())?;

    let test = load(folder, "test")?;
    let start = Instant::now();
    let predicted: Vec<f64> = test.instances.iter().map(|x| predict(&model, x)).collect();
    answer["predict"] = json!(start.elapsed().as_secs_f64());
    let support: Vec<usize> = model.sv_indices.iter().map(|i| i - 1).collect();
    let order = if svm_type == SvmType::CSvc { &model.label[..] } else { &[] };
    let result = json!({"support": support, "dual": model.sv_coef, "order": order, "pred": predicted});
    fs::write(&out, result.to_string())?;
    println!("{answer}");
    Ok(())
}
