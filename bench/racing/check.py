"""What an answer is worth: its objective and its test error, by the same code for every side.

    python check.py FOLDER --task svc|svr|linear --c C … (--answer FILE.npz | --answer FILE.json | --model M --pred CSV)

Everything is computed in f64 from the coefficients:

    svc     ½ ΣΣ β β' κ − Σ|β|, summed over all pairs of classes
    svr     ½ ΣΣ β β' κ − zᵀβ + ε Σ|β|
    linear  ½ (‖w‖² + b²) + C Σ loss, summed over the machines of one against the rest
"""

import argparse
import json
from pathlib import Path

import numpy as np
import sets
from scipy import sparse

BLOCK = 1000
TYPES = {"F64": np.float64, "F32": np.float32, "U64": np.uint64, "U32": np.uint32, "U8": np.uint8}


def kernel(a, b, gamma):
    """exp(−γ‖x − y‖²) between the rows of two matrices, dense or sparse."""
    product = a @ b.T
    product = product.toarray() if sparse.issparse(product) else product
    squares = [np.asarray(m.multiply(m).sum(axis=1)).ravel() if sparse.issparse(m) else np.einsum("ij,ij->i", m, m)
               for m in (a, b)]  # fmt: skip
    product *= -2.0
    product += squares[0][:, None]
    product += squares[1]
    np.maximum(product, 0.0, out=product)
    product *= -gamma
    return np.exp(product, out=product)


def quadratic(x, beta, gamma):
    """Σ over columns of βᵀKβ, by blocks of rows."""
    total = 0.0
    for start in range(0, len(beta), BLOCK):
        part = slice(start, start + BLOCK)
        total += float(np.sum(beta[part] * (kernel(x[part], x, gamma) @ beta)))
    return total


def pairs(dual, places, count):
    """One column of coefficients for each pair of classes, from LIBSVM's compact form."""
    columns = []
    for i in range(count):
        for j in range(i + 1, count):
            columns.append(np.where(places == i, dual[j - 1], np.where(places == j, dual[i], 0.0)))
    return np.stack(columns, axis=1)


def classify(x, dual, places, count, gamma):
    beta = pairs(dual, places, count)
    return 0.5 * quadratic(x, beta, gamma) - float(np.abs(beta).sum())


def regress(x, beta, z, gamma, epsilon):
    return 0.5 * quadratic(x, beta[:, None], gamma) - float(z @ beta) + epsilon * float(np.abs(beta).sum())


def linear(x, y, weights, bias, order, c, loss):
    """The primal objective: the bias is the weight of a constant feature, so it is punished too."""
    # the last features of a file may be missing from its training part, and so from the weights
    scores = np.asarray(x[:, : len(weights)] @ weights) + bias
    norms = 0.5 * (np.sum(weights**2) + np.sum(np.square(bias)))

    def losses(signs):
        slack = np.maximum(0.0, 1.0 - signs * scores)
        return c * float(np.sum(slack if loss == "hinge" else slack**2))

    if scores.shape[1] > 1:
        return float(norms) + losses(np.where(y[:, None] == np.asarray(order)[None, :], 1.0, -1.0))
    signs = np.where(y == np.max(y), 1.0, -1.0)[:, None]
    # with two classes the libraries disagree about which one is positive; the wrong one gives a far worse objective
    return float(norms) + min(losses(signs), losses(-signs))


# ---------------------------------------------------------------------------------------------------- mercer's model file


def safetensors(path):
    """The arrays of a safetensors file, and its document."""
    data = Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        kind = np.dtype(TYPES[entry["dtype"]]).newbyteorder("<")
        arrays[name] = np.frombuffer(data[8 + length + begin : 8 + length + end], kind).reshape(entry["shape"])
    document = next((json.loads(v) for v in metadata.values() if v.startswith("{")), {})
    return arrays, document


def stored_rows(arrays, width):
    """The examples that the model kept."""
    values = arrays["view.0.values"]
    if "view.0.starts" not in arrays:
        return values.astype(float)
    parts = (values.astype(float), arrays["view.0.indices"].astype(np.int64), arrays["view.0.starts"].astype(np.int64))
    return sparse.csr_matrix(parts, shape=(len(parts[2]) - 1, width))


def targets_of(rows, beta, x, y):
    """The targets of a regression's support vectors, which a model file does not keep: found by their inputs.

    Where inputs repeat, the coefficient never falls as the target rises, by the optimality conditions: the coefficients
    in order, with 0 for rows that are no support vectors, belong to the targets in order.
    """
    single = rows.dtype if rows.dtype == np.float32 else np.float64
    def key(row):
        return (row.astype(single) + 0.0).tobytes()
    known, wanted = {}, {}
    for row, target in zip(x, y, strict=True):
        known.setdefault(key(row), []).append(target)
    for place, row in enumerate(rows):
        wanted.setdefault(key(row), []).append(place)
    z = np.empty(len(beta))
    for row, places in wanted.items():
        targets = sorted(known.get(row, []))
        if len(targets) < len(places):
            raise SystemExit("the model holds a row that is not in the training file")
        entries = [(beta[p], p) for p in places] + [(0.0, -1)] * (len(targets) - len(places))
        for (_, place), target in zip(sorted(entries), targets, strict=True):
            if place >= 0:
                z[place] = target
    return z


def of_mercer(args, x, y):
    arrays, document = safetensors(args.model)
    if args.task == "linear":
        scale = document["coefficients"]["primal"]["scale"]
        order = np.unique(y)
        return linear(x, y, scale * arrays["weights"], arrays["offsets"], order, args.c, args.loss), None
    rows = stored_rows(arrays, x.shape[1])[arrays["points"].astype(np.int64)]
    alpha = arrays["alpha"].astype(float)
    if args.task == "svr":
        beta = alpha[:, 0]
        z = targets_of(rows, beta, x, y)
        return regress(rows, beta, z, args.gamma, args.epsilon), len(beta)
    places = arrays["classes"] if "classes" in arrays else (alpha[:, 0] > 0).astype(int)
    return classify(rows, alpha.T, places, alpha.shape[1] + 1, args.gamma), len(alpha)


def of_peer(args, answer, x, y):
    if args.task == "linear":
        order = answer["order"]
        return linear(x, y, answer["weights"], answer["bias"], order, args.c, args.loss), None
    support, dual = np.asarray(answer["support"], dtype=np.int64), np.atleast_2d(np.asarray(answer["dual"], dtype=float))
    if args.task == "svr":
        return regress(x[support], dual[0], y[support], args.gamma, args.epsilon), len(support)
    order = list(np.asarray(answer["order"], dtype=float))
    places = np.array([order.index(label) for label in y[support]])
    return classify(x[support], dual, places, len(order), args.gamma), len(support)


def first_column(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")[1:]
    return np.array([float(line.split(",")[0].strip('"')) for line in lines if line])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", required=True)
    parser.add_argument("--c", type=float)
    parser.add_argument("--gamma", type=float)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--loss")
    parser.add_argument("--answer", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--pred")
    parser.add_argument("--error-only", action="store_true")
    args = parser.parse_args()
    objective = support = None
    if args.answer:
        json_file = args.answer.suffix == ".json"
        answer = json.loads(args.answer.read_text()) if json_file else dict(np.load(args.answer))
        predicted = np.asarray(answer["pred"], dtype=float)
    else:
        predicted = first_column(args.pred)
    if not args.error_only:
        x, y = sets.read(args.folder, "train")
        objective, support = of_peer(args, answer, x, y) if args.answer else of_mercer(args, x, y)
    _, truth = sets.read(args.folder, "test")
    if len(predicted) != len(truth):
        raise SystemExit(f"{len(predicted)} predictions for {len(truth)} test rows")
    wrong = np.sqrt(np.mean((predicted - truth) ** 2)) if args.task == "svr" else np.mean(predicted != truth)
    print(json.dumps({"objective": objective, "support": support, "error": float(wrong)}))


if __name__ == "__main__":
    main()
