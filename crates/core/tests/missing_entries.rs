//! Missing entries that are kept: from the file through the kernel that takes them to the saved model, and refused by all
//! other kernels.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::data::Missing;
use mercer::data::read::{ReadOptions, read};
use mercer::prelude::*;

fn table(text: &str) -> mercer::data::Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gaps.csv");
    std::fs::write(&path, text).unwrap();
    read(&path, &ReadOptions::default()).unwrap()
}

/// Two classes that either coordinate tells apart, with a third of the entries missing.
fn training() -> String {
    let mut random = Seed(2).stream("gaps");
    let mut text = "a,b,y\n".to_owned();
    for i in 0..60 {
        let centre = f64::from(i % 2) * 4.0;
        let mut cell = |gap: i32| {
            let value = centre + 0.5 * random.normal();
            if i % 3 == gap { String::new() } else { format!("{value:.3}") }
        };
        let (a, b) = (cell(0), cell(1));
        text += &format!("{a},{b},{}\n", if i % 2 == 0 { "low" } else { "high" });
    }
    text
}

#[test]
fn a_model_of_kept_gaps_is_learned_saved_and_read() {
    let options = SchemaOptions { missing: Missing::Keep, ..SchemaOptions::default() };
    let (schema, data) = Schema::learn_and_apply(&table(&training()), &options).unwrap();
    let kernel: Formula = "missing_gaussian".parse().unwrap();
    let model = Svc::default().fit(&kernel, &data).unwrap();
    assert!(model.kernel().takes_gaps() && model.kernel().to_string().contains("gaps=given"), "{}", model.kernel());
    let truth: Vec<&str> = (0..60).map(|i| if i % 2 == 0 { "low" } else { "high" }).collect();
    assert_eq!(model.predict(&data).unwrap().labels(), truth);

    let new = schema.apply(&table("a,b\n0.1,\n,4.2\n3.9,4.0\n,0.3\n")).unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap(), "gaps").unwrap();
    let predicted = again.predict(&new).unwrap();
    assert_eq!(predicted, model.predict(&new).unwrap());
    assert_eq!(predicted.labels(), ["low", "high", "high", "low"]);
    let refused = model.to_onnx().err().unwrap().to_string();
    assert!(refused.contains("missing_gaussian is not a kernel that can be written as ONNX"), "{refused}");
}

#[test]
fn kernels_that_take_no_gaps_say_so_also_where_no_matrix_is_asked_for() {
    let options = SchemaOptions { missing: Missing::Keep, ..SchemaOptions::default() };
    let (_, data) = Schema::learn_and_apply(&table(&training()), &options).unwrap();
    for told in [
        Svc::default().fit(&rbf(0.5), &data).err().unwrap().to_string(),
        LinearSvc::default().fit(&linear(), &data).err().unwrap().to_string(),
        Ridge::default().fit(&linear(), &data).err().unwrap().to_string(),
    ] {
        assert!(told.contains("cannot compare missing entries, but example 1 has none at coordinate 1"), "{told}");
    }
    assert!(!rbf(0.5).takes_gaps());
}
