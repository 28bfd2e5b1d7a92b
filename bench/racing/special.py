"""The races that are no duel on a set: a grid, time against size, a famous error, the price of probabilities."""

import statistics

from racing import catalogue, duel
from racing.duel import Course, Failed, child, ours, say


def grid(settings, book):
    """The whole search for C and γ, with the final fit: mercer select against GridSearchCV. On USPS, or on some of the drawn sets."""
    if "usps" in catalogue.SETS:
        one = catalogue.SETS["usps"]
        course = Course(settings, one, settings.cut(catalogue.GRID_QUICK), "grid")
        return grid_on(settings, book, course, catalogue.GRID_C, catalogue.GRID_GAMMA)
    for one in list(catalogue.SETS.values())[: catalogue.GRID_SHAPES]:
        course = Course(settings, one, catalogue.GRID_SHAPE_ROWS, f"grid-{one.name}")
        gammas = [float(f"{course.gamma * factor:.3g}") for factor in catalogue.GRID_SHAPE_GAMMA]
        grid_on(settings, book, course, catalogue.GRID_SHAPE_C, gammas)
    return None


def grid_on(settings, book, course, cs, gammas):
    if not settings.wants("sklearn") or book.done(course.case, "sklearn"):
        return
    say(course.case)
    cs, gammas = ([repr(v) for v in values] for values in (cs, gammas))
    words = f"{len(cs)}×{len(gammas)}, {catalogue.GRID_FOLDS} folds, C={cs[0]}…{cs[-1]}, γ={gammas[0]}…{gammas[-1]}"
    record = course.record(settings, "sklearn", setting=words)
    try:
        model, out = settings.temp / "model.mercer", settings.temp / "mercer.csv"
        common = ["--threads", settings.threads, "--json"]
        command = [settings.mercer, "select", course.train, *course.labels, "--machine", "svc", "--kernel", "rbf(gamma=1)", "--grid"]
        command += [f"c={'|'.join(cs)}, gamma={'|'.join(gammas)}", "--folds", catalogue.GRID_FOLDS, "--scale", "none"]
        command += ["--tolerance", catalogue.TOLERANCE, "--cache", catalogue.CACHE_MB, *common, "-o", model]
        answer, peak = child(command, settings.env, settings.limit)
        record |= {"our_fit": answer["seconds"]["fit"], "our_mb": peak}
        predicted = child([settings.mercer, "predict", model, course.test, *common, "-o", out], settings.env, settings.limit)
        record["our_predict"] = predicted[0]["seconds"]["predict"]
        best, score = answer["best"]["parameters"], answer["best"]["score"]
        record["our_error"] = duel.check_ours(settings, course, "--error-only")["error"]
        record |= grid_theirs(settings, course, cs, gammas, best, score)
    except Failed as error:
        record["failed"] = str(error)
    except (KeyError, TypeError) as error:
        record["failed"] = f"mercer: its output has no {error}"
    book.add([record])


def grid_theirs(settings, course, cs, gammas, best, score):
    out = settings.temp / "grid.npz"
    marks = [out.with_suffix(end) for end in (".started", ".fitted")]
    for path in marks:
        path.unlink(missing_ok=True)
    command = [settings.python, duel.HERE / "peers.py", "grid", course.folder, "--task", "svc", "--cache"]
    command += [catalogue.CACHE_MB, "--grid-c", ",".join(cs), "--grid-gamma", ",".join(gammas), "--out", out]
    command += ["--folds", catalogue.GRID_FOLDS, "--threads", settings.threads]
    try:
        answer, peak = child(command, settings.env, settings.limit)
    except duel.Stopped as late:
        found = duel.stopped(0.0, late.when, *marks)
        return {name: found[name] for name in found if name not in ("note", "wall")} | {"verdict": found["note"]}
    error = duel.check(settings, course, "--answer", out, "--error-only")["error"]
    theirs = answer["best"]
    words = f"C={best['c']:g} γ={best['gamma']:.3g} with {100 * score:.2f} % against "
    words += f"C={theirs['C']:g} γ={theirs['gamma']:.3g} with {100 * answer['score']:.2f} % in the folds"
    # the folds are drawn differently, so the errors may be apart by more than those of one problem
    near = abs(score - answer["score"]) <= 0.005
    return {
        "their_fit": answer["fit"], "their_predict": answer["predict"], "their_mb": peak, "their_error": error,
        "verdict": ("agrees: " if near else "DIFFERS: ") + words,
    }  # fmt: skip


def scaling(settings, book):
    """Time against the number of rows on MNIST; the sizes that are sets of their own are raced only once."""
    sizes = catalogue.SCALING_QUICK if settings.quick else catalogue.SCALING
    if settings.trial:
        sizes = (settings.trial // 4, settings.trial // 2, settings.trial)
    beaten = {}
    for n in sizes:
        for peer in catalogue.TAKES_PART["svc"]:
            case, one, rows = scaling_case(settings, n)
            if not settings.wants(peer) or book.done(case, peer):
                beaten |= {peer: n} if any(record.get("fit_bound") for record in book.of(case, peer)) else {}
                continue
            why = f"not tried: stopped already with {beaten[peer]} rows" if peer in beaten else settings.late()
            if why:  # before the data are prepared, which takes time as well
                book.add([duel.blank(settings, case, peer, why)])
                continue
            records = duel.duel(settings, Course(settings, one, rows, case), peer, 1)
            beaten |= {peer: n} if any(record.get("fit_bound") for record in records) else {}
            book.add(records)


def scaling_case(settings, n):
    sets = catalogue.SETS
    if settings.trial:
        return f"scaling-{n}", sets["mnist"], n
    if n == (catalogue.SCALING_QUICK[-1] if settings.quick else 20000):
        return "mnist", sets["mnist"], settings.cut(sets["mnist"].quick)
    if n == 60000:
        return "mnist60k", sets["mnist60k"], 0
    return f"scaling-{n}", sets["mnist" if n < 20000 else "mnist60k"], n


def mnist_poly9(settings, book):
    """The polynomial of degree 9 on raw pixels, whose error of 1.4 % is old and well known; mercer alone."""
    if book.done("mnist_poly9", "mercer"):
        return
    say("mnist_poly9")
    course = Course(settings, catalogue.POLY9, settings.cut(catalogue.POLY9.quick))
    record = course.record(settings, "mercer", setting="C=10, ((cos∠(x,y) + 1)/2)⁹")
    try:
        record |= ours(settings, course)
        record.pop("status")
        error = duel.check_ours(settings, course, "--error-only")["error"]
        reached = "reached" if error <= catalogue.POLY9_GOAL + 5e-4 else "missed"
        record |= {"our_error": error, "verdict": f"test error {100 * error:.2f} %, goal 1.4 %: {reached}"}
    except Failed as error:
        record["failed"] = str(error)
    book.add([record])


def probability(settings, book):
    """What probabilities cost: a fit with them divided by a plain one; mercer alone."""
    for name in catalogue.PROBABILITY:
        if book.done(f"probability-{name}", "platt"):
            continue
        course = Course(settings, catalogue.SETS[name], settings.cut(catalogue.PROBABILITY_QUICK), f"probability-{name}")
        records = []
        for k in range(settings.rounds):
            say(f"  {course.case}, round {k + 1}")
            record = course.record(settings, "platt", round=k + 1)
            records.append(record)
            try:
                plain = ours(settings, course, predict=False)
                record |= {"our_fit": plain["our_fit"], "our_mb": plain["our_mb"]}
                with_them = ours(settings, course, ["--probabilities", "platt"], predict=False)
                record |= {"their_fit": with_them["our_fit"], "their_mb": with_them["our_mb"]}
            except Failed as error:
                record["failed"] = str(error)
                break
        if all("their_fit" in r for r in records):
            price = statistics.median(r["their_fit"] / r["our_fit"] for r in records)
            records[0]["verdict"] = f"probabilities cost {price:.2f} times a plain fit"
        book.add(records)


RUN = {"grid": grid, "scaling": scaling, "mnist_poly9": mnist_poly9, "probability": probability}
