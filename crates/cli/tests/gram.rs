//! `gram`: the kernel matrix, number for number.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, read_npy};

const POINTS: [[f64; 2]; 3] = [[0.0, 1.0], [2.0, 0.5], [-1.0, 3.0]];

fn place() -> Place {
    Place::with(&[("a.csv", "a,b,y\n0,1,u\n2,0.5,v\n-1,3,u\n")])
}

fn check(kernel: &str, value: impl Fn(&[f64; 2], &[f64; 2]) -> f64) {
    let place = place();
    place.run(&format!("gram a.csv --scale none --kernel '{kernel}' -o K.npy")).ok();
    let (header, got) = read_npy(&place.bytes("K.npy"));
    assert!(header.contains("'descr': '<f8'") && header.contains("'shape': (3, 3)"), "{header}");
    let wanted: Vec<f64> = POINTS.iter().flat_map(|x| POINTS.iter().map(|y| value(x, y)).collect::<Vec<_>>()).collect();
    close(&got, &wanted, 1e-13);
}

fn squared(x: &[f64; 2], y: &[f64; 2]) -> f64 {
    (x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)
}

fn inner(x: &[f64; 2], y: &[f64; 2]) -> f64 {
    x[0] * y[0] + x[1] * y[1]
}

#[test]
fn the_gaussian_has_three_spellings() {
    check("rbf(gamma=0.3)", |x, y| (-0.3 * squared(x, y)).exp());
    check("rbf(0.3)", |x, y| (-0.3 * squared(x, y)).exp());
    check("rbf(sigma=1.5)", |x, y| (-squared(x, y) / (2.0 * 1.5 * 1.5)).exp());
    check("rbf(width=4)", |x, y| (-squared(x, y) / 4.0).exp());
}

#[test]
fn ard_divides_each_coordinate_by_its_length() {
    check("ard(lengths=[0.5, 2])", |x, y| {
        (-0.5 * (((x[0] - y[0]) / 0.5).powi(2) + ((x[1] - y[1]) / 2.0).powi(2))).exp()
    });
    check("ard(lengths=[2])", |x, y| (-0.5 * squared(x, y) / 4.0).exp());
}

#[test]
fn other_kernels_are_their_formulas() {
    check("linear", inner);
    check("polynomial(degree=2, gamma=0.5, offset=1)", |x, y| (0.5 * inner(x, y) + 1.0).powi(2));
    check("laplacian(gamma=0.7)", |x, y| (-0.7 * ((x[0] - y[0]).abs() + (x[1] - y[1]).abs())).exp());
    check("sigmoid(gamma=0.1, offset=0.2)", |x, y| (0.1 * inner(x, y) + 0.2).tanh());
    check("matern(nu=0.5, length=2)", |x, y| (-squared(x, y).sqrt() / 2.0).exp());
    check("distance(beta=1)", |x, y| -squared(x, y).sqrt());
}

#[test]
fn sums_products_powers_and_functions_combine() {
    check("2*linear + rbf(gamma=1)", |x, y| 2.0 * inner(x, y) + (-squared(x, y)).exp());
    check("linear * rbf(gamma=1)", |x, y| inner(x, y) * (-squared(x, y)).exp());
    check("(linear + 1)^3", |x, y| (inner(x, y) + 1.0).powi(3));
    check("exp(0.1*linear)", |x, y| (0.1 * inner(x, y)).exp());
    check("normalise(linear)", |x, y| inner(x, y) / (inner(x, x) * inner(y, y)).sqrt());
    check("rbf(linear, gamma=0.5)", |x, y| (-0.5 * squared(x, y)).exp());
    check("centre(linear)", |x, y| {
        let mean = [1.0 / 3.0, 1.5];
        inner(&[x[0] - mean[0], x[1] - mean[1]], &[y[0] - mean[0], y[1] - mean[1]])
    });
    check("linear + noise(variance=0.5)", |x, y| inner(x, y) + if x == y { 0.5 } else { 0.0 });
}

#[test]
fn words_for_gamma_become_numbers_in_the_report() {
    let place = place();
    let kernel = |word: &str| {
        let report = place.json(&format!("gram a.csv --scale none --kernel 'rbf(gamma={word})' -o K.npy"));
        let text = report["kernel"].as_str().unwrap().to_owned();
        text.strip_prefix("rbf(gamma=").unwrap().strip_suffix(')').unwrap().parse::<f64>().unwrap()
    };
    close(&[kernel("1/d")], &[0.5], 1e-15);
    // the variance of all six entries
    let entries = POINTS.concat();
    let mean = entries.iter().sum::<f64>() / 6.0;
    let variance = entries.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 6.0;
    close(&[kernel("scale")], &[1.0 / (2.0 * variance)], 1e-14);
    assert!(kernel("median") > 0.0);
}

#[test]
fn the_target_is_left_aside_unless_there_is_none() {
    let place = Place::with(&[("a.csv", "a,b\n1,2\n3,4\n")]);
    place.run("gram a.csv --scale none --kernel linear -o K.npy").ok();
    assert_eq!(read_npy(&place.bytes("K.npy")).1, [1.0, 3.0, 3.0, 9.0]);
    place.run("gram a.csv --scale none --kernel linear --target none -o K.npy").ok();
    assert_eq!(read_npy(&place.bytes("K.npy")).1, [5.0, 11.0, 11.0, 25.0]);
}

#[test]
fn any_threads_give_the_same_bytes_and_any_memory_the_same_numbers() {
    let place = Place::with_banana(400);
    for kernel in ["rbf(gamma=scale)", "rbf(gamma=median) + 0.5*matern(nu=1.5, length=2)", "normalise(polynomial)"] {
        let gram = format!("gram banana.csv --kernel '{kernel}'");
        place.run(&format!("{gram} --threads 1 -o a.npy")).ok();
        place.run(&format!("{gram} --threads 2 -o b.npy")).ok();
        place.run(&format!("{gram} --threads 2 --memory 100K -o c.npy")).ok();
        assert!(place.bytes("a.npy") == place.bytes("b.npy"), "{kernel}: threads");
        // strips of rows round a few last digits differently
        close(&read_npy(&place.bytes("a.npy")).1, &read_npy(&place.bytes("c.npy")).1, 1e-13);
    }
}

#[test]
fn single_precision_is_half_the_bytes() {
    let place = place();
    let report = place.json("gram a.csv --precision f32 --scale none --kernel 'rbf(gamma=0.3)' -o K.npy");
    assert_eq!((&report["bytes"], &report["precision"]), (&36.into(), &"f32".into()));
    let bytes = place.bytes("K.npy");
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("'<f4'"));
    let got: Vec<f64> = bytes[bytes.len() - 36..]
        .chunks_exact(4)
        .map(|c| f64::from(f32::from_le_bytes(c.try_into().unwrap())))
        .collect();
    close(&got[..2], &[1.0, (-0.3 * squared(&POINTS[0], &POINTS[1])).exp()], 1e-6);
}

#[test]
fn too_little_memory_for_a_strip_is_told() {
    let place = Place::with_banana(400);
    place.run("gram banana.csv --memory 1000 -o K.npy").fails(4, &["KiB", "1000 B", "--memory"]);
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn the_diagonal_is_exact_whatever_the_memory_and_values_are_finite() {
    let place = Place::new();
    place.run("data banana --n 700 -o a.csv").ok();
    place.run("gram a.csv --kernel distance(beta=1) -o K.npy").ok();
    let whole = read_npy(&place.bytes("K.npy")).1;
    assert!((0..700).all(|i| whole[i * 701] == 0.0));
    place.run("gram a.csv --kernel distance(beta=1) --memory 1M -o L.npy").ok();
    assert!(place.bytes("K.npy") == place.bytes("L.npy"), "strips give the same bytes");
    let place = Place::with(&[("b.csv", "x,y\n0,1\n3e160,2\n5e160,3\n")]);
    place.run("gram b.csv --scale none -o K.npy").fails(4, &["not finite"]);
    assert_eq!(place.files(), ["b.csv"]);
}

/// Four points whose sigmoid matrix has a negative eigenvalue, as the test of `measure` knows.
fn indefinite() -> (Place, &'static str) {
    let place = Place::with(&[("d.csv", "a,b\n1,2\n-1,0.5\n2,-2\n0.3,1\n")]);
    (place, "gram d.csv --scale none --target none --kernel 'sigmoid(gamma=1, offset=-1)'")
}

#[test]
fn a_repair_is_told_and_leaves_no_negative_eigenvalue() {
    let (place, gram) = indefinite();
    place.run(&format!("{gram} -o K.npy")).ok();
    let plain = read_npy(&place.bytes("K.npy")).1;
    for way in ["clip", "flip", "shift"] {
        let said = place.json(&format!("{gram} --repair {way} -o R.npy"));
        assert!(said["change"].as_str().unwrap().contains("of 4 eigenvalues were below zero"), "{said}");
        let mended = read_npy(&place.bytes("R.npy")).1;
        let rows: Vec<String> = mended.chunks(4).map(|r| format!("{},{},{},{}", r[0], r[1], r[2], r[3])).collect();
        place.write("R.csv", rows.join("\n") + "\n");
        let told = place.json("measure R.csv --kernel precomputed --scale none --target none --header false");
        let smallest = told["spectrum"]["values"].as_array().unwrap().last().unwrap().as_f64().unwrap();
        assert!(smallest > -1e-12, "{way}: {smallest}");
        if way == "shift" {
            assert!((0..16).filter(|p| p % 5 != 0).all(|p| mended[p] == plain[p]));
        }
    }
    // what needs no repair is left alone, which is told too
    let said = place.run("gram d.csv --scale none --target none --kernel linear --repair clip -o R.npy").ok().out;
    assert!(said.contains("nothing was changed"), "{said}");
}

#[test]
fn functions_of_the_matrix_are_written() {
    let place = place();
    let of = |flags: &str| {
        place.run(&format!("gram a.csv --scale none --kernel 'rbf(gamma=0.3)' {flags} -o K.npy")).ok();
        read_npy(&place.bytes("K.npy")).1
    };
    let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..9).map(|p| (0..3).map(|k| a[p / 3 * 3 + k] * b[k * 3 + p % 3]).sum()).collect()
    };
    let k = of("");
    let (root, half, whole) = (of("--function 'power(0.5)'"), of("--function 'exp(0.5)'"), of("--function exp(1)"));
    close(&product(&root, &root), &k, 1e-12);
    close(&product(&half, &half), &whole, 1e-12);
    // (K + μ) f(K) = K
    let resolvent = of("--function resolvent(0.2)");
    let shifted: Vec<f64> = (0..9).map(|p| k[p] + if p % 4 == 0 { 0.2 } else { 0.0 }).collect();
    close(&product(&shifted, &resolvent), &k, 1e-12);
    for wrong in ["log(2)", "power", "power(0)", "resolvent(-1)", "exp(x)", "exp(1"] {
        let line = format!("gram a.csv --kernel linear --function '{wrong}' -o L.npy");
        place.run(&line).fails(2, &["power(P)", "resolvent(MU)"]);
    }
    place.run("gram a.csv --kernel linear --repair clip --function exp(1) -o L.npy").fails(2, &["cannot be used with"]);
    place.run("gram a.csv --kernel linear --repair clip --memory 100 -o L.npy").fails(4, &["memory"]);
    assert!(!place.has("L.npy"));
}
