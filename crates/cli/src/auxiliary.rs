//! Flags about what stands beside the training data: noise, copies, and points of expansions.

use crate::arguments;
use crate::input;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::data::{DataError, Dataset, Preparation, Rows, SparseRows, Transform, Values, View};
use mercer::job::AuxiliaryExamples;
use mercer::machines::{self, MachineEntry};
use mercer_terminal::Failure;
use std::path::{Path, PathBuf};

/// The flags.
pub(crate) fn flags(command: Command) -> Command {
    let file = |id: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name("FILE").value_parser(value_parser!(PathBuf)).hide_short_help(true).help(help)
    };
    command
        .next_help_heading("Examples beside the data (for oriented_kpca, kda and invariant_kfd)")
        .arg(file("noise", "Examples of noise, with the columns of the data"))
        .arg(
            file("copies", "Changed copies of all examples, in their order; may be repeated")
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("transform")
                .long("transform")
                .hide_short_help(true)
                .value_name("NAME=STEP,…")
                .requires("image")
                .help("Copies of images after shift_x=PIXELS, shift_y=PIXELS, rotate=DEGREES or thicken=T (-1 to 1); columns are not scaled"),
        )
        .arg(
            Arg::new("image")
                .long("image")
                .hide_short_help(true)
                .value_name("WIDTHxHEIGHT")
                .requires("transform")
                .help("The size of the images, whose pixels are the columns row by row, e.g. 16x16"),
        )
        .arg(file("expansion-points", "Points that expansion = points may use, with the columns of the data"))
        .arg(
            Arg::new("centre-points")
                .long("centre-points")
                .hide_short_help(true)
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .help("Such points by k means, of the examples and all copies together"),
        )
}

const ALL: [&str; 5] = ["noise", "copies", "transform", "expansion-points", "centre-points"];

/// True if one of the flags is given.
fn given(flags: &ArgMatches) -> bool {
    ALL.iter().any(|id| flags.contains_id(id) && flags.value_source(id).is_some())
}

/// Impossible requests are refused before the data are read.
pub(crate) fn check(flags: &ArgMatches, entry: &MachineEntry) -> Result<(), Failure> {
    if !given(flags) || (entry.make)().traits().auxiliary {
        return transforms(flags).map(|_| ());
    }
    Err(Failure::usage(format!(
        "{} takes no noise, copies or points beside the data; leave them out, or use {}",
        entry.name,
        machines::alternatives(entry, |t| t.auxiliary)
    )))
}

/// The transformations with the size of the images.
fn transforms(flags: &ArgMatches) -> Result<Option<(Vec<Transform>, usize, usize)>, Failure> {
    let Some(words) = flags.get_one::<String>("transform") else { return Ok(None) };
    let size = flags.get_one::<String>("image").map_or("", String::as_str);
    let sides = size.split_once(['x', '×']).and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
    let Some((width, height)) = sides else {
        return Err(Failure::usage(format!("--image {size} is not WIDTHxHEIGHT, such as 16x16")));
    };
    if flags.get_one::<String>("scale").is_some_and(|way| way == "standard" || way == "minmax") {
        return Err(Failure::usage(
            "--transform moves pixels, whose columns must not be scaled one by one; use --scale none or unit"
                .to_owned(),
        ));
    }
    let all = words.split(',').map(str::parse).collect::<Result<_, String>>();
    all.map(|all| Some((all, width, height))).map_err(|e| Failure::usage(format!("--transform: {e}")))
}

/// Reads and makes what the flags ask for.
pub(crate) fn auxiliary(flags: &ArgMatches, data: &Dataset) -> Result<AuxiliaryExamples, Failure> {
    let mut all = AuxiliaryExamples::default();
    if let Some((transforms, width, height)) = transforms(flags)? {
        let images = images(data)?;
        for transform in transforms {
            let copies = transform.rows(&images, width, height)?;
            all = all.with_copies(&transform.to_string(), &as_held(data, copies)?)?;
        }
    }
    let Some(schema) = data.preparation().map(Preparation::schema) else {
        return Err(Failure::usage("the training examples have no schema, by which other files could be read"));
    };
    let read = |path: &Path| input::like(schema, path, flags);
    for path in flags.get_many::<PathBuf>("copies").into_iter().flatten() {
        let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        all = all.with_copies(&name, &read(path)?)?;
    }
    if let Some(path) = flags.get_one::<PathBuf>("noise") {
        all = all.with_noise(&read(path)?)?;
    }
    if let Some(path) = flags.get_one::<PathBuf>("expansion-points") {
        all = all.with_points(&read(path)?)?;
    }
    if let Some(&count) = flags.get_one::<u32>("centre-points") {
        all = all.with_centres(data, count as usize, arguments::seed(flags))?;
    }
    Ok(all)
}

/// The pixels of the only view.
fn images(data: &Dataset) -> Result<Rows<f64>, Failure> {
    match data.views() {
        [View { values: Values::Dense(rows), .. }] => Ok(rows.as_ref().clone()),
        [View { values: Values::Dense32(rows), .. }] => Ok(rows.convert()),
        [View { values: Values::Sparse(rows), .. }] => Ok(rows.to_dense()),
        [View { values: Values::Sparse32(rows), .. }] => Ok(rows.to_dense().convert()),
        _ => {
            let finding = "--transform is for data of one view, the pixels of images".to_owned();
            Err(DataError::Usage { finding }.into())
        }
    }
}

/// Rows as the only view of the data holds them.
fn as_held(data: &Dataset, rows: Rows<f64>) -> Result<Dataset, Failure> {
    let Some(view) = data.views().first() else { return Ok(Dataset::new(rows)) };
    let values = match &view.values {
        Values::Dense32(_) => Values::from(rows.convert::<f32>()),
        Values::Sparse(_) => Values::from(SparseRows::from_dense(&rows)),
        Values::Sparse32(_) => Values::from(SparseRows::from_dense(&rows.convert::<f32>())),
        _ => Values::from(rows),
    };
    Ok(Dataset::from_views(vec![View { name: view.name.clone(), values }])?)
}
