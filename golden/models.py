"""Write model files with a mercer binary, as fixtures: later releases must read them and predict the same.

Run from the root of the repository with the binary of the release that the files are to come from, then let a test
write what this release predicts:

    cargo build --release
    python3 golden/models.py target/release/mercer
    cargo test --release --package mercer --test saved_fixtures -- --ignored

Files that are there already are left alone: fixtures of an earlier release stay what that release wrote. With a second
argument everything is written to that folder instead. Nothing but Python's own library is needed.
"""

import json
import math
import random
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "crates" / "core" / "tests" / "fixtures" / "models"

# ------------------------------------------------------------------------------------------------------------- data

# sets that come with the program: name, training examples, new examples; new ones are drawn with another seed
BUILT_IN = {
    "banana": ("banana", 36, 6),
    "iris": ("iris", 36, 6),
    "moons": ("two_moons", 20, 6),
    "sinc": ("noisy_sinc", 24, 6),
    "dna": ("dna_motifs", 20, 6),
}


def cells(rows):
    """Lines of a CSV file; an empty cell where something is missing."""
    return "".join(",".join("" if c is None else str(c) for c in row) + "\n" for row in rows)


def spread(generator, n, d):
    return [[round(generator.gauss(0, 1), 3) for _ in range(d)] for _ in range(n)]


def outputs(generator, n):
    """Three coordinates, two numbers to predict, and how much each example counts."""
    rows = [["a", "b", "c", "first", "second", "weight"]]
    for a, b, c in spread(generator, n, 3):
        first = round(math.sin(a) + 0.1 * generator.gauss(0, 1), 3)
        second = round(a * b - c + 0.1 * generator.gauss(0, 1), 3)
        rows.append([a, b, c, first, second, round(generator.uniform(0.5, 2), 2)])
    return cells(rows)


def people(generator, n):
    """Numbers and words, both with gaps, and digits that are words; the class is a word."""
    rows = [["height", "eyes", "floor", "shoes", "club"]]
    for i in range(n):
        height, shoes = round(generator.gauss(170, 9), 1), generator.choice([38, 40, 42, 44])
        eyes, floor = ["blue", "brown", "green, or grey"][i % 3], i % 4
        club = "chess" if height + 4 * (i % 3) + generator.gauss(0, 4) > 173 else "rowing"
        row = [height, f'"{eyes}"', floor, shoes, club]
        if i % 5 == 3:
            row[i // 5 % 2] = None
        rows.append(row)
    return cells(rows)


def dropped(generator, n):
    """The same; new examples must have no gaps where training examples with gaps were left out."""
    lines = people(generator, n).splitlines(keepends=True)
    return "".join(line for line in lines if n > 20 or not (line.startswith(",") or ",," in line))


def gappy(generator, n):
    rows = [["u", "v", "w", "y"]]
    for i, (u, v, w) in enumerate(spread(generator, n, 3)):
        row = [u, v, w, round(u - v + 0.1 * w, 3)]
        if i % 4 == 2:
            row[i % 3] = None
        rows.append(row)
    return cells(rows)


TOPICS = {
    "sea": ["the boat", "a sailor", "the harbour", "waves", "salted wind", "old nets", "the tide", "fishing boats"],
    "town": ["the street", "a tram", "the market", "windows", "stone walls", "old clocks", "the square", "new trams"],
}


def texts(generator, n):
    """Sentences of two topics."""
    rows = [["text", "topic"]]
    for i in range(n):
        topic = ["sea", "town"][i % 2]
        parts = [generator.choice(TOPICS[topic]) for _ in range(4)] + [generator.choice(TOPICS["sea"])]
        generator.shuffle(parts)
        rows.append([" and ".join(parts), topic])
    return cells(rows)


def lists(generator, n):
    """Sets of short strings in one column, and a number."""
    rows = [["tags", "y"]]
    for _ in range(n):
        tags = ["".join(generator.choice("abc") for _ in range(3)) for _ in range(generator.randint(1, 4))]
        rows.append(["|".join(tags), round(sum(t.count("a") for t in tags) + 0.1 * generator.gauss(0, 1), 3)])
    return cells(rows)


def views(generator, n):
    """Columns of three kinds beside each other."""
    rows = [["lat", "lon", "size", "note", "y"]]
    for lat, lon, size in spread(generator, n, 3):
        note = "".join(generator.choice("xyz") for _ in range(7))
        rows.append([lat, lon, size, note, round(lat * lon + size + 0.3 * note.count("x"), 3)])
    return cells(rows)


def histograms(generator, n):
    """Shares that sum to one, some of them zero."""
    rows = [["h1", "h2", "h3", "h4", "y"]]
    for _ in range(n):
        h = [max(0.0, generator.gauss(0.3, 0.4)) for _ in range(4)]
        h = [round(v / (sum(h) or 1.0), 3) for v in h]
        rows.append([*h, round(h[0] - h[2] + 0.05 * generator.gauss(0, 1), 3)])
    return cells(rows)


def codes(generator, n):
    """Categories as whole numbers."""
    rows = [["p", "q", "r", "y"]]
    for _ in range(n):
        p, q, r = generator.randrange(2), generator.randrange(3), generator.randrange(4)
        rows.append([p, q, r, "yes" if (p + q + r) % 3 or generator.random() < 0.1 else "no"])
    return cells(rows)


def images(generator, n):
    """Images of 4 × 4 pixels with a bar that stands or lies."""
    rows = [[f"p{k}" for k in range(16)] + ["bar"]]
    for i in range(n):
        place = generator.randrange(4)
        lit = [(k % 4 if i % 2 else k // 4) == place for k in range(16)]
        rows.append([round(v + generator.uniform(0, 0.2), 2) for v in lit] + ["stands" if i % 2 else "lies"])
    return cells(rows)


def rare(generator, n):
    """Four classes, the last with a single example."""
    rows = [["x1", "x2", "kind"]]
    for i in range(n):
        kind = 3 if i == 5 else i % 3
        rows.append([round(c + generator.gauss(0, 0.4), 3) for c in (kind % 2, kind // 2)] + ["abcd"[kind]])
    return cells(rows)


def sparse(generator, n):
    """LIBSVM text of 400 columns, most of them empty, of which an example has four."""
    lines = []
    for i in range(n):
        label = [-1, 1, 3][i % 3]
        own = sorted(
            {generator.randrange(1 + label % 4, 41, 4) for _ in range(2)}
            | {generator.randrange(1, 41) for _ in range(2)}
        )
        lines.append(" ".join([str(label)] + [f"{10 * k}:{round(generator.uniform(0.2, 2), 2)}" for k in own]) + "\n")
    return "".join(lines)


def fasta(generator, n):
    lines = []
    for i in range(n):
        letters = "".join(generator.choice("ACGT" if i % 2 else "AACGT") for _ in range(18))
        lines.append(f">s{i} {['rich', 'even'][i % 2]}\n{letters}\n")
    return "".join(lines)


def arrays(generator, n):
    """JSON lines with an array of numbers in each."""
    lines = []
    for x in spread(generator, n, 3):
        lines.append(json.dumps({"x": x, "y": round(x[0] * x[1] + x[2], 3)}) + "\n")
    return "".join(lines)


def plain(generator, n):
    """Numbers without names, the first of a row to be predicted."""
    return cells([round(a - b * c, 3), a, b, c] for a, b, c in spread(generator, n, 3))


def npy(generator, n):
    """A NumPy array of f32 with three columns."""
    return array([v for row in spread(generator, n, 3) for v in row], "f4")


def holes(generator, n):
    """A NumPy array of f64 with three columns and a few gaps."""
    return array([math.nan if k % 7 == 4 else v for k, v in enumerate(sum(spread(generator, n, 3), []))], "f8")


def array(numbers, kind):
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(numbers) // 3}, 3), }}".ljust(117) + "\n"
    content = struct.pack(f"<{len(numbers)}{'f' if kind == 'f4' else 'd'}", *numbers)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content


# sets that are written here: file, how, training examples, new examples
OWN = {
    "outputs": ("csv", outputs, 24, 6),
    "people": ("csv", people, 40, 6),
    "dropped": ("csv", dropped, 40, 6),
    "gappy": ("csv", gappy, 24, 6),
    "texts": ("csv", texts, 20, 6),
    "lists": ("csv", lists, 20, 6),
    "views": ("csv", views, 24, 6),
    "histograms": ("csv", histograms, 20, 6),
    "codes": ("csv", codes, 24, 6),
    "images": ("csv", images, 20, 6),
    "rare": ("csv", rare, 22, 6),
    "sparse": ("svm", sparse, 30, 6),
    "sequences": ("fasta", fasta, 16, 5),
    "arrays": ("jsonl", arrays, 20, 6),
    "plain": ("csv", plain, 20, 6),
    "narrow": ("npy", npy, 20, 6),
    "holes": ("npy", holes, 20, 6),
}


def write_data(mercer, training, inputs):
    """Training files into one folder, new examples into another."""
    for name, (built_in, n, m) in BUILT_IN.items():
        known = run(mercer, "data", built_in, "--n", n, "--seed", 1).splitlines()
        more = run(mercer, "data", built_in, "--n", 5 * m, "--seed", 2).splitlines()
        # an example that was trained on would be as strange as itself, and rounding would decide
        new = [line for line in more[1:] if line not in known]
        new = [new[i * len(new) // m] for i in range(m)]  # some sets come class by class
        (training / f"{name}.csv").write_text("\n".join(known) + "\n")
        (inputs / f"{name}.csv").write_text("\n".join([known[0], *new]) + "\n")
    for name, (kind, make, n, m) in OWN.items():
        for folder, count, seed in ((training, n, 1), (inputs, m, 2)):
            content = make(random.Random(f"{name} {seed}"), count)
            data = content if isinstance(content, bytes) else content.encode()
            (folder / f"{name}.{kind}").write_bytes(data)
    # the rows of a kernel matrix, with those of new examples beside the training examples
    labels = [line.rsplit(",", 1)[1] for line in (training / "banana.csv").read_text().split()[1:]]
    points = [
        [[float(c) for c in line.split(",")[:2]] for line in (folder / "banana.csv").read_text().split()[1:]]
        for folder in (training, inputs)
    ]
    for folder, rows in ((training, points[0]), (inputs, points[1])):
        gram = [[round(math.exp(-0.5 * math.dist(x, z) ** 2), 6) for z in points[0]] for x in rows]
        table = [[f"k{j}" for j in range(len(points[0]))]] + gram
        (folder / "gram.csv").write_text(cells(table))
    (training / "gram_labels.csv").write_text("class\n" + "\n".join(labels) + "\n")
    # numbers for arrays, noise, changed copies and further points for the machines that take them
    generator = random.Random("beside")
    (training / "numbers.csv").write_text("y\n" + "".join(f"{round(generator.gauss(0, 1), 3)}\n" for _ in range(20)))
    moons = [line.split(",") for line in (training / "moons.csv").read_text().split()]
    moved = [moons[0]] + [[round(float(a) + 0.1, 6), round(float(b) - 0.05, 6), c] for a, b, c in moons[1:]]
    (training / "moons_moved.csv").write_text(cells(moved))
    (training / "moons_noise.csv").write_text(cells([["x1", "x2"], *spread(generator, 6, 2)]))
    (training / "moons_points.csv").write_text(cells([["x1", "x2"], *spread(generator, 5, 2)]))


# ----------------------------------------------------------------------------------------------------------- models

# every machine of the catalogue as it comes, and with settings that change what the file holds
MACHINES = """
svc                            banana.csv   --machine svc
svc_hard                       banana.csv   --machine svc --c inf --kernel 'rbf(gamma=8)'
svc_squared_without_bias       banana.csv   --machine svc --loss squared_hinge --bias false
svc_one_vs_one                 iris.csv     --machine svc --c 10
svc_one_vs_rest                iris.csv     --machine svc --strategy one_vs_rest --class-weight balanced
svc_classes_weighed            banana.csv   --machine svc --class-weight 1:2,-1:0.5
nu_svc                         banana.csv   --machine nu_svc
nu_svc_three_classes           iris.csv     --machine nu_svc --nu 0.3
linear_svc                     banana.csv   --machine linear_svc
linear_svc_hinge               iris.csv     --machine linear_svc --loss hinge --bias false
linear_svc_logistic            iris.csv     --machine linear_svc --loss logistic --bias-scale 2 --class-weight balanced
linear_svc_polynomial          banana.csv   --machine linear_svc --kernel 'polynomial(degree=2)'
linear_svc_sparse              sparse.svm   --machine linear_svc --c 0.5
linear_svc_hashed              sequences.fasta --machine linear_svc --kernel 'spectrum(6)'
nearest_mean                   iris.csv     --machine nearest_mean
perceptron                     banana.csv   --machine perceptron
perceptron_averaged            iris.csv     --machine perceptron --average true --passes 20
perceptron_budget              banana.csv   --machine perceptron --budget 8 --permutations 3
pac_bayes                      banana.csv   --machine pac_bayes
parzen                         banana.csv   --machine parzen
parzen_equal                   iris.csv     --machine parzen --prior equal
adatron                        banana.csv   --machine adatron
regularised_fisher             banana.csv   --machine regularised_fisher
regularised_fisher_means       banana.csv   --machine regularised_fisher --numerator means --lambda 0.1
kfd                            banana.csv   --machine kfd
kfd_three_classes              iris.csv     --machine kfd --lambda loo --penalty norm
kfd_one_vs_one                 iris.csv     --machine kfd --strategy one_vs_one --threshold gaussian
kfd_greedy                     banana.csv   --machine kfd --solver greedy --points 6 --threshold errors
kfd_subset                     banana.csv   --machine kfd --solver subset --points 7 --threshold shared_gaussian --shift 0.1
robust_kfd                     banana.csv   --machine robust_kfd
huber_kfd                      banana.csv   --machine huber_kfd
sparse_kfd                     banana.csv   --machine sparse_kfd
linear_sparse_kfd              banana.csv   --machine linear_sparse_kfd
linear_sparse_kfd_pairs        iris.csv     --machine linear_sparse_kfd --strategy one_vs_one
lp_machine                     banana.csv   --machine lp_machine
lp_boost                       banana.csv   --machine lp_boost
kernel_logistic                banana.csv   --machine kernel_logistic
kernel_logistic_sparse         iris.csv     --machine kernel_logistic --penalty sparse --lambda 0.2
programme                      banana.csv   --machine programme
programme_epsilon              banana.csv   --machine programme --loss epsilon_insensitive --penalty coefficients --bias false
invariant_kfd                  moons.csv    --machine invariant_kfd
knn                            banana.csv   --machine knn
knn_distance                   iris.csv     --machine knn --k 3 --weighting distance
ridge                          sinc.csv     --machine ridge
ridge_loo                      sinc.csv     --machine ridge --lambda loo --kernel 'rbf(gamma=median)'
ridge_primal                   outputs.csv  --machine ridge --solver primal --kernel linear --target first,second
ridge_several_outputs          outputs.csv  --machine ridge --lambda 0.1,2 --target first,second
svr                            sinc.csv     --machine svr
svr_squared_without_bias       sinc.csv     --machine svr --loss squared_epsilon_insensitive --bias false
svr_several_outputs            outputs.csv  --machine svr --target first,second
nu_svr                         sinc.csv     --machine nu_svr
linear_svr                     outputs.csv  --machine linear_svr --target first
linear_svr_squared             outputs.csv  --machine linear_svr --loss squared_epsilon_insensitive --target first,second
quantile                       sinc.csv     --machine quantile
quantile_upper                 sinc.csv     --machine quantile --tau 0.9 --c 5
expectile                      sinc.csv     --machine expectile
knn_regression                 sinc.csv     --machine knn_regression
knn_regression_distance        outputs.csv  --machine knn_regression --k 2 --weighting distance --target first,second
robust_regression              sinc.csv     --machine robust_regression
huber_regression               sinc.csv     --machine huber_regression
sparse_regression              sinc.csv     --machine sparse_regression
linear_sparse_regression       sinc.csv     --machine linear_sparse_regression
programme_regression           sinc.csv     --machine programme_regression
programme_regression_sparse    sinc.csv     --machine programme_regression --loss huber --penalty sparse --lambda 0.1
kernel_pca                     moons.csv    --machine kernel_pca
kernel_pca_not_centred         iris.csv     --machine kernel_pca --centre false --components 3 --solver full
oriented_kpca                  moons.csv    --machine oriented_kpca
kda                            iris.csv     --machine kda
incomplete_cholesky            moons.csv    --machine incomplete_cholesky
incomplete_cholesky_few        iris.csv     --machine incomplete_cholesky --components 4
whitened_map                   moons.csv    --machine whitened_map
whitened_map_few               iris.csv     --machine whitened_map --examples 5
empirical_map                  moons.csv    --machine empirical_map
empirical_map_few              iris.csv     --machine empirical_map --examples 4
one_class                      moons.csv    --machine one_class
svdd                           moons.csv    --machine svdd
centre_of_mass                 moons.csv    --machine centre_of_mass
centre_of_mass_plain           moons.csv    --machine centre_of_mass --guarantee false
parzen_density                 moons.csv    --machine parzen_density
kernel_k_means                 moons.csv    --machine kernel_k_means
kernel_k_means_three           iris.csv     --machine kernel_k_means --clusters 3 --target none --categorical species
spectral_clustering            moons.csv    --machine spectral_clustering --kernel 'rbf(gamma=4)'
spectral_clustering_three      iris.csv     --machine spectral_clustering --clusters 3
adaboost                       banana.csv   --machine adaboost --rounds 30
adaboost_three_classes         iris.csv     --machine adaboost --rounds 6
adaboost_networks              banana.csv   --machine adaboost --learner rbf_network --rounds 3 --centres 4 --regularisation 0.5
logistic_regression            banana.csv   --machine logistic_regression
logistic_regression_three      iris.csv     --machine logistic_regression --lambda 0.1
linear_fisher                  banana.csv   --machine linear_fisher
linear_fisher_three            iris.csv     --machine linear_fisher --gamma 0.2 --priors equal
quadratic_discriminant         banana.csv   --machine quadratic_discriminant
quadratic_discriminant_three   iris.csv     --machine quadratic_discriminant --lambda 0.3 --gamma 0.1
rbf_network                    banana.csv   --machine rbf_network
rbf_network_three              iris.csv     --machine rbf_network --centres 5 --widths cluster
linear_regression              outputs.csv  --machine linear_regression --target first
linear_regression_two          outputs.csv  --machine linear_regression --target first,second
rbf_network_regression         sinc.csv     --machine rbf_network_regression --centres 8
rbf_network_regression_two     outputs.csv  --machine rbf_network_regression --centres 4 --target first,second
"""

# every part of a file beside the machine: curves, regions, schemas, what kernels learned, kinds of examples, companions
PARTS = """
platt                          banana.csv   --machine svc --probabilities platt
platt_three_classes            iris.csv     --machine svc --probabilities platt --calibration-folds 3
platt_one_vs_rest              iris.csv     --machine kfd --probabilities platt
isotonic                       banana.csv   --machine svc --probabilities isotonic
isotonic_three_classes         iris.csv     --machine linear_svc --probabilities isotonic
gaussian                       banana.csv   --machine kfd --probabilities gaussian
gaussian_three_classes         iris.csv     --machine svc --probabilities gaussian
split_margins                  iris.csv     --machine svc --conformal split
split_probabilities            iris.csv     --machine svc --conformal split --probabilities platt
split_mondrian                 banana.csv   --machine svc --conformal split --conformal-share 0.5 --mondrian
split_residuals                sinc.csv     --machine svr --conformal split --conformal-share 0.4
split_novelty                  moons.csv    --machine one_class --conformal split --conformal-share 0.5
cross_margins                  iris.csv     --machine svc --conformal cross --conformal-folds 3
cross_known_numbers            banana.csv   --machine svc --conformal cross --conformal-folds 4 --scale none --kernel 'rbf(gamma=1)'
cross_mondrian                 iris.csv     --machine kfd --conformal cross --conformal-folds 3 --mondrian
cross_rare_class               rare.csv     --machine svc --conformal cross --conformal-folds 4 --scale none --kernel 'rbf(gamma=1)'
cross_rare_class_votes         rare.csv     --machine kernel_logistic --conformal cross --conformal-folds 4 --scale none --kernel 'rbf(gamma=1)'
cross_residuals                outputs.csv  --machine svr --target first,second --conformal cross --conformal-folds 3
cross_primal                   iris.csv     --machine linear_svc --conformal cross --conformal-folds 3
cross_neighbours               banana.csv   --machine knn --conformal cross --conformal-folds 3
cross_committee                banana.csv   --machine adaboost --rounds 5 --conformal cross --conformal-folds 3
cross_networks                 sinc.csv     --machine rbf_network_regression --centres 4 --conformal cross --conformal-folds 3
cross_ball                     moons.csv    --machine svdd --conformal cross --conformal-folds 3
cross_centred                  sinc.csv     --machine ridge --kernel 'centre(rbf(gamma=2))' --conformal cross --conformal-folds 3
cross_words                    texts.csv    --machine svc --kernel 'normalise(bag_of_words(weighting=tfidf))' --conformal cross --conformal-folds 3
jackknife                      sinc.csv     --machine ridge --conformal jackknife
jackknife_several_outputs      outputs.csv  --machine ridge --target first,second --conformal jackknife --conformal-share 0.5
jackknife_classes              banana.csv   --machine kfd --conformal jackknife
jackknife_retrained            rare.csv     --machine svc --conformal jackknife --conformal-retrain --scale none --kernel 'rbf(gamma=1)'
full                           sinc.csv     --machine ridge --conformal full
full_known_numbers             sinc.csv     --machine ridge --conformal full --scale none --kernel 'rbf(gamma=2)'
full_centred                   sinc.csv     --machine ridge --conformal full --kernel 'centre(rbf(gamma=2))'
full_features                  outputs.csv  --machine ridge --kernel linear --target first --conformal full
words_and_gaps                 people.csv   --machine svc --missing mean --categorical floor
words_dropped                  dropped.csv   --machine kfd --missing drop --categorical floor
words_scaled_minmax            people.csv   --machine ridge --target shoes --missing mean --scale minmax --categorical floor
scaled_to_unit_length          iris.csv     --machine svc --scale unit
not_scaled                     iris.csv     --machine svc --scale none
columns_by_place               plain.csv    --machine svr --target 1
weighed_examples               outputs.csv  --machine svr --target second --weights weight
certified                      banana.csv   --machine svc --certified
gaps_kept                      gappy.csv    --machine ridge --missing keep --kernel missing_gaussian
gaps_filled                    gappy.csv    --machine svr --missing mean
block                          arrays.jsonl --machine ridge --target y
block_with_gaps                holes.npy    --machine ridge --labels numbers.csv --missing mean --scale minmax
block_narrow                   narrow.npy   --machine ridge --labels numbers.csv
block_narrow_raw               narrow.npy   --machine svr --labels numbers.csv --scale none --kernel 'laplacian + 0.1*linear'
sparse_columns                 sparse.svm   --machine svc --kernel 'rbf(gamma=0.2)'
sparse_unit_length             sparse.svm   --machine svc --scale unit --kernel linear
sparse_weights                 sparse.svm   --machine kernel_logistic --kernel linear
sparse_centred                 sparse.svm   --machine kfd --kernel 'centre(polynomial(degree=2)) + centre(normalise(linear))'
precomputed                    gram.csv     --machine svc --kernel precomputed --labels gram_labels.csv
precomputed_centred            gram.csv     --machine kfd --kernel 'centre(precomputed)' --labels gram_labels.csv
precomputed_cross              gram.csv     --machine svc --kernel precomputed --labels gram_labels.csv --conformal cross --conformal-folds 3
centred                        sinc.csv     --machine svr --kernel 'centre(rbf(gamma=scale))'
centred_components             moons.csv    --machine kernel_pca --kernel 'centre(rbf(gamma=median) * linear)'
normalised                     iris.csv     --machine svc --kernel 'normalise(polynomial(degree=2, offset=0.5))'
rbf_of_a_kernel                iris.csv     --machine svc --kernel 'rbf(normalise(linear), gamma=scale)'
sums_and_products              sinc.csv     --machine ridge --kernel '2*rbf(gamma=1) + linear*rbf(gamma=0.5) + (0.5 + linear)^2'
series_and_exp                 iris.csv     --machine svc --kernel 'series(linear, [1, 0.5, 0.25]) + exp(0.1*linear)'
set_of_strings                 lists.csv    --machine ridge --kernel 'set(spectrum(2), separator="|")'
set_of_strings_mean            lists.csv    --machine ridge --kernel 'rbf(set(spectrum(1), separator="|", mean=true), gamma=scale)'
set_of_vectors                 gappy.csv    --machine ridge --kernel 'set(rbf(gamma=scale), columns=1, mean=true)'
views_of_three_kinds           views.csv    --machine ridge --view place=lat,lon --kernel 'rbf(gamma=scale)@place * linear@size + 0.2*spectrum(2)@note'
views_direct_sum               views.csv    --machine svr --view place=1-2 --text note --kernel 'direct_sum(rbf@place, rbf@size)'
views_tensor_product           views.csv    --machine ridge --view place=lat,lon --kernel 'tensor_product(rbf@place, normalise(spectrum(2))@note)' --conformal jackknife
oriented_noise                 moons.csv    --machine oriented_kpca --unwanted 'noise + 0.01*norm' --noise moons_noise.csv
oriented_copies                moons.csv    --machine oriented_kpca --unwanted 'tangent + 0.1*coefficients' --copies moons_moved.csv --expansion all
kda_companions                 moons.csv    --machine kda --components 1 --unwanted 'within + 0.1*norm + 0.01*tangent(moons_moved)' --copies moons_moved.csv --expansion 8
kda_points                     iris.csv     --machine kda --unwanted 'within + 0.01*norm' --expansion points --centre-points 5
invariant_points               moons.csv    --machine invariant_kfd --expansion points --expansion-points moons_points.csv
invariant_images               images.csv   --machine invariant_kfd --unwanted 'within + 0.001*coefficients + 0.001*tangent' --transform shift_x=1,rotate=5 --image 4x4
"""

# every kernel of the catalogue; most of what they are is in the formula
KERNELS = """
kernel_ard                     iris.csv     --machine svc --kernel 'ard(lengths=[0.5, 1, 2, 4])'
kernel_mahalanobis             iris.csv     --machine svc --kernel 'mahalanobis(metric=inverse_covariance, length=2)'
kernel_mahalanobis_shrunken    iris.csv     --machine svc --kernel 'mahalanobis(metric=shrunken)'
kernel_matern                  sinc.csv     --machine ridge --kernel 'matern(nu=0.5) + matern(nu=1.5) + matern(nu=2.5)'
kernel_matern_general          sinc.csv     --machine ridge --kernel 'matern(nu=0.8, length=0.7)'
kernel_rational_quadratic      sinc.csv     --machine ridge --kernel 'rational_quadratic(alpha=0.7)'
kernel_cauchy                  sinc.csv     --machine ridge --kernel 'cauchy(sigma=0.5)'
kernel_inverse_multiquadric    sinc.csv     --machine ridge --kernel inverse_multiquadric
kernel_multiquadric            sinc.csv     --machine svr --kernel multiquadric
kernel_wendland                iris.csv     --machine svc --kernel 'wendland(smoothness=2, support=3)'
kernel_distance                sinc.csv     --machine svr --kernel 'distance(beta=1.3)'
kernel_polynomial              iris.csv     --machine svc --kernel 'polynomial(degree=3, gamma=scale, offset=1)'
kernel_sigmoid                 banana.csv   --machine svc --kernel 'sigmoid(offset=-0.5)'
kernel_cosine                  iris.csv     --machine svc --kernel cosine
kernel_arc_cosine              iris.csv     --machine svc --kernel 'arc_cosine(degree=0) + arc_cosine(degree=2)'
kernel_laplacian               iris.csv     --machine svc --kernel laplacian
kernel_periodic                sinc.csv     --machine ridge --kernel 'periodic(period=2)'
kernel_chi2                    histograms.csv --machine ridge --scale none --kernel chi2
kernel_exponential_chi2        histograms.csv --machine ridge --scale none --kernel exponential_chi2
kernel_histogram_intersection  histograms.csv --machine ridge --scale none --kernel histogram_intersection
kernel_spline                  histograms.csv --machine ridge --scale none --kernel spline
kernel_all_subsets             histograms.csv --machine ridge --scale none --kernel all_subsets
kernel_anova                   histograms.csv --machine ridge --scale none --kernel 'anova(degree=2)'
kernel_exact_match             lists.csv    --machine ridge --kernel 'exact_match + spectrum(1)'
kernel_spectrum                dna.csv      --machine svc --kernel 'normalise(spectrum(length=3))'
kernel_blended_spectrum        dna.csv      --machine svc --kernel 'normalise(blended_spectrum(length=3, decay=0.7))'
kernel_mismatch                sequences.fasta --machine svc --kernel 'normalise(mismatch(length=3))'
kernel_mismatch_dna            sequences.fasta --machine svc --kernel 'normalise(mismatch(length=3, alphabet=dna))'
kernel_subsequence             sequences.fasta --machine svc --kernel 'normalise(subsequence(length=2, decay=0.5))'
kernel_weighted_degree         sequences.fasta --machine svc --kernel 'weighted_degree(degree=4)'
kernel_weighted_degree_shifts  sequences.fasta --machine svc --kernel 'weighted_degree_shifts(degree=3, shift=2)'
kernel_bag_of_words            texts.csv    --machine svc --kernel 'bag_of_words(ngram=2, stem=english, weighting=log)'
kernel_bag_of_words_tfidf      texts.csv    --machine linear_svc --kernel 'normalise(bag_of_words(weighting=tfidf, stop_words=english))'
kernel_latent_semantic         texts.csv    --machine svc --kernel 'latent_semantic(rank=4, weighting=tfidf)'
kernel_co_occurrence           texts.csv    --machine svc --kernel 'normalise(co_occurrence(weighting=tfidf))'
kernel_diffusion               codes.csv    --machine svc --scale none --kernel 'diffusion(categories=[2, 3, 4])'
kernel_image_blocks            images.csv   --machine svc --scale none --kernel 'image_blocks(width=4, block=3)'
kernel_rank_one                outputs.csv  --machine ridge --target second --kernel 'rank_one(f=coordinate, index=2) + rank_one(f=norm)'
kernel_noise                   sinc.csv     --machine ridge --kernel 'rbf + noise(0.1)'
"""


def run(mercer, *words):
    done = subprocess.run([str(mercer), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"mercer {shlex.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def cases():
    """Name, verb, training file and flags of every model."""
    for line in (MACHINES + PARTS + KERNELS).splitlines():
        if line:
            name, training, *flags = shlex.split(line)
            yield name, "fit", training, flags
    yield "selected", "select", "banana.csv", ["--machine", "svc", "--grid", "c=1|10,gamma=0.1|1", "--folds", "3"]


# models that go through LIBSVM's file: which, as it is read there and as it is when it comes back
LIBSVM = {
    "svc_three_classes": ["--machine", "svc", "--kernel", "rbf(gamma=0.2)", "--probabilities", "platt"],
    "nu_svr": ["--machine", "nu_svr", "--kernel", "polynomial(degree=2, gamma=0.5, offset=1)"],
    "one_class": ["--machine", "one_class", "--kernel", "sigmoid(gamma=0.1, offset=0.2)"],
}


# models of data in memory, which the test fits and writes itself
IN_MEMORY = {"memory_narrow.mercer": "narrow.npy", "memory_sparse.mercer": "sparse.svm"}


def main(mercer, folder):
    inputs = folder / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    index = folder / "index.json"
    document = {"newer": {"machines": [], "kernels": []}, "models": {}}
    if index.exists():
        document = json.loads(index.read_text())
    models = document["models"]
    with tempfile.TemporaryDirectory() as place:
        training, fresh = Path(place) / "training", Path(place) / "inputs"
        training.mkdir()
        fresh.mkdir()
        write_data(mercer, training, fresh)

        def add(file, data, verb, words):
            """Notes a model and keeps the new examples it is judged on."""
            if not (inputs / data).exists():
                (inputs / data).write_bytes((fresh / data).read_bytes())
            models[file] = {"input": data, "written": shlex.join([verb, *words]) if words else verb}

        for name, verb, data, flags in cases():
            file = f"{name}.mercer"
            if not (folder / file).exists():
                files = [training / w if (training / w).exists() else w for w in flags]
                run(mercer, verb, training / data, *files, "--threads", 1, "-o", folder / file)
                add(file, data, verb, [data, *flags])
        for name, flags in LIBSVM.items():
            there, back = f"libsvm_{name}.model", f"libsvm_{name}_back.mercer"
            if not (folder / there).exists():
                fitted = Path(place) / "fitted.mercer"
                run(mercer, "fit", training / "sparse.svm", *flags, "--threads", 1, "-o", fitted)
                run(mercer, "export", fitted, "--format", "libsvm", "-o", folder / there)
                run(mercer, "export", folder / there, "--format", "mercer", "-o", folder / back)
                add(there, "sparse.svm", "fit", ["sparse.svm", *flags, "and export"])
                add(back, "sparse.svm", "export", [there])
        for file, data in IN_MEMORY.items():
            if file not in models:
                add(file, data, "in memory", [])
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(models[name])}" for name in sorted(models))
    newer = json.dumps(document["newer"])
    index.write_text(f'{{\n  "newer": {newer},\n  "models": {{\n{lines}\n  }}\n}}\n')


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]) if len(sys.argv) == 3 else FOLDER)
