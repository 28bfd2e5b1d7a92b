//! `mercer export`: a model in the words of another program, and back.

use crate::{Verb, arguments, report};
use clap::{Arg, ArgMatches, Command};
use mercer::model::Model;
use mercer_terminal::Failure;
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    Command::new("export")
        .about("Write a model as a LIBSVM model file or an ONNX graph, or a LIBSVM model as a file of mercer")
        .after_help(
            "Examples:\n  mercer export model.mercer -o svm.model --format libsvm\n  \
             mercer export model.mercer -o model.onnx\n  \
             mercer export svm.model -o model.mercer --format mercer\n\n\
             Every verb that takes a model also takes a LIBSVM model file as it is. LIBSVM has the kernels linear,\n\
             polynomial, rbf and sigmoid on one view of vectors; it scales nothing, so its data must be scaled before.\n\n\
             An ONNX graph (opset 17) computes in double precision and scales its inputs itself. It has an input for each\n\
             view of vectors, and the outputs values, or scores, code, label and, where learned, probabilities. Kernels on\n\
             strings and precomputed matrices cannot be written.",
        )
        .arg(arguments::path("MODEL", "Model file, of mercer or of LIBSVM"))
        .arg(arguments::output("FILE", "Model file to write").required(true))
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("NAME")
                .value_parser(["libsvm", "mercer", "onnx"])
                .help("What to write [default: mercer for a file called .mercer, onnx for .onnx, libsvm otherwise]"),
        )
        .arg(arguments::json())
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let (Some(path), Some(target)) = (flags.get_one::<PathBuf>("MODEL"), arguments::target(flags)?) else {
        return Err(Failure::usage("MODEL and -o FILE are needed"));
    };
    let model = Model::load(path)?;
    let format = match flags.get_one::<String>("format") {
        Some(format) => format.as_str(),
        None => match target.extension().and_then(|e| e.to_str()) {
            Some("mercer") => "mercer",
            Some("onnx") => "onnx",
            _ => "libsvm",
        },
    };
    let write = |bytes: &[u8]| mercer::write::whole(target, bytes).map_err(|e| Failure::file(target, &e));
    let notes = match format {
        "mercer" => {
            model.save(target)?;
            Vec::new()
        }
        "onnx" => {
            let file = model.to_onnx()?;
            write(&file.bytes)?;
            file.notes
        }
        _ => {
            let file = model.to_libsvm()?;
            write(file.text.as_bytes())?;
            file.notes
        }
    };
    notes.iter().for_each(|note| report::warn(note));
    if flags.get_flag("json") {
        report::print_json(&json!({
            "machine": model.machine(),
            "kernel": model.kernel().to_string(),
            "format": format,
            "output": target.display().to_string(),
            "warnings": notes,
        }));
    } else {
        report::print(&report::facts(&[
            ("machine", model.machine().to_owned()),
            ("kernel", model.kernel().to_string()),
            ("format", format.to_owned()),
            ("model", target.display().to_string()),
        ]));
    }
    Ok(())
}
