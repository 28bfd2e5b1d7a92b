//! Feature maps from outside: a map is fitted, writes coordinates, and another machine learns from them.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, read_npy};

fn iris() -> Place {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place
}

#[test]
fn coordinates_whose_inner_products_are_the_kernel_are_written_and_read_again() {
    let place = iris();
    place.run("gram iris.csv --kernel 'rbf(gamma=0.3)' -o K.npy").ok();
    let k = read_npy(&place.bytes("K.npy")).1;
    for (machine, within) in
        [("whitened_map --tolerance 0", 1e-6), ("incomplete_cholesky --components 150 --tolerance 1e-9", 1e-7)]
    {
        let told = place.json(&format!("fit iris.csv --machine {machine} --kernel 'rbf(gamma=0.3)' -o map"));
        let rank = told["notes"]["rank"].as_f64().unwrap() as usize;
        assert!(told["notes"]["residual_trace"].as_f64().unwrap() < 1e-8, "{told}");
        place.run("predict map iris.csv -o z.npy").ok();
        let (header, z) = read_npy(&place.bytes("z.npy"));
        assert!(header.contains(&format!("'shape': (150, {rank})")), "{header}");
        let inner = |i: usize, j: usize| (0..rank).map(|t| z[i * rank + t] * z[j * rank + t]).sum::<f64>();
        let products: Vec<f64> = (0..150 * 150).map(|p| inner(p / 150, p % 150)).collect();
        close(&products, &k, within);
    }
}

#[test]
fn a_linear_machine_on_coordinates_is_the_kernel_machine() {
    let place = iris();
    place.run("fit iris.csv --machine whitened_map --kernel 'rbf(gamma=0.3)' -o map").ok();
    let said = place.run("predict map iris.csv --with-target -o z.csv").ok().out;
    assert!(said.contains("z.csv"), "{said}");
    assert!(place.read("z.csv").lines().next().unwrap().ends_with(",species"), "{}", place.read("z.csv"));
    place.run("fit z.csv --machine svc --kernel linear --scale none --tolerance 1e-6 -o two").ok();
    place.run("fit iris.csv --machine svc --kernel 'rbf(gamma=0.3)' --tolerance 1e-6 -o one").ok();
    let scores = |model: &str, data: &str| -> Vec<f64> {
        let said = place.run(&format!("predict {model} {data} --scores")).ok();
        said.lines()[1..]
            .iter()
            .flat_map(|l| l.split(',').skip(1).map(|c| c.parse().unwrap()).collect::<Vec<f64>>())
            .collect()
    };
    close(&scores("two", "z.csv"), &scores("one", "iris.csv"), 1e-3);
    // numbers that are predicted have their target beside them too
    place.write("line.csv", "x,y\n0,1.50\n1,2\n2,3\n");
    place.run("fit line.csv --machine ridge -o r").ok();
    let lines = place.run("predict r line.csv --with-target").ok();
    assert!(lines.lines()[0] == "prediction,y" && lines.lines()[1].ends_with(",1.50"), "{lines:?}");
    place.write("bare.csv", "x\n0\n1\n");
    place.run("predict r bare.csv --with-target").fails(3, &["no target", "--with-target"]);
}

#[test]
fn kernel_values_are_coordinates_and_files_that_cannot_be_are_refused() {
    let place = iris();
    place.run("fit iris.csv --machine empirical_map --examples 0 --kernel 'rbf(gamma=0.3)' -o map").ok();
    place.run("predict map iris.csv -o z.npy").ok();
    place.run("gram iris.csv --kernel 'rbf(gamma=0.3)' -o K.npy").ok();
    close(&read_npy(&place.bytes("z.npy")).1, &read_npy(&place.bytes("K.npy")).1, 1e-12);
    place.run("evaluate map iris.csv").fails(2, &["empirical_map has no target"]);
    place.run("predict map iris.csv --with-target -o t.npy").fails(2, &["NPY"]);
    place.run("fit iris.csv --machine svc -o m").ok();
    place.run("predict m iris.csv -o p.npy").fails(2, &["NPY", "FILE.csv"]);
    assert!(!place.has("p.npy") && !place.has("t.npy"));
}

#[test]
fn the_share_of_every_position_adds_up_to_the_score() {
    let place = Place::with(&[("s.csv", "s,y\nAAAT,a\nAATA,a\nAAAA,a\n\"G,CG\",g\nGCGG,g\nGGGG,g\n")]);
    for machine in ["svc", "linear_svc"] {
        place.run(&format!("fit s.csv --machine {machine} --kernel 'spectrum(length=2)' --text s -o m")).ok();
        place.run("predict m s.csv --profile -o p.csv").ok();
        let table = place.read("p.csv");
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].starts_with("row,position,character,share_a"), "{}", lines[0]);
        assert!(lines.len() == 25 && lines[1].starts_with("1,1,A,") && lines[14].starts_with("4,2,\",\","), "{table}");
        let share = |line: &&str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
        let sums: Vec<f64> = lines[1..].chunks(4).map(|example| example.iter().map(share).sum()).collect();
        // scores are these sums and an offset, which is the same for all
        let said = place.run("predict m s.csv --scores").ok();
        let scores: Vec<f64> =
            said.lines()[1..].iter().map(|l| l.split(',').next_back().unwrap().parse().unwrap()).collect();
        let sign = if (scores[0] - scores[5]) * (sums[0] - sums[5]) < 0.0 { -1.0 } else { 1.0 };
        let apart: Vec<f64> = scores.iter().zip(&sums).map(|(s, p)| s - sign * p).collect();
        close(&apart, &[apart[0]; 6], 1e-9);
    }
    place.run("fit s.csv --machine svc --kernel 'spectrum(length=2) + exact_match' --text s -o m").ok();
    place.run("predict m s.csv --profile -o q.csv").fails(2, &["single positions"]);
    place.run("predict m s.csv --profile --json").fails(2, &["single positions"]);
    assert!(!place.has("q.csv"));
}
