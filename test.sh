#!/usr/bin/env bash
# The tests of mercer.
#
#   ./test.sh fast   formatting, lints, unit tests and laws, for the daily loop: only what changed is compiled again
#   ./test.sh        every test: also golden files, the command line, documentation, and the Python package in an
#                    environment of its own
#   ./test.sh all    and the reading of Parquet and Arrow, whose crates take minutes to compile
#
# The build, the tests and the wheel have one profile and ask for the same features, so that each crate compiles once. With
# MERCER_DATA set to a folder of real data sets, more is tested, and the output says what.
set -euo pipefail
cd "$(dirname "$0")"
extent="${1:-usual}"
case "$extent" in
fast | usual | all) ;;
*) echo "$0: $extent is none of fast and all" >&2; exit 2 ;;
esac

# The crates of the library with their features, as a selection of packages compiles them.
features() {
    cargo tree --locked --prefix none --format '{p} {f}' --edges "$@" | sed 's/ (\*)//' | grep -F "$library" | sort -u
}

# Whether the wheel and the tests link the library that the build has compiled.
one_library() {
    library="$(cargo tree --locked --prefix none --format '{p} ' --package mercer --edges normal,build | sort -u)"
    local build tests wheel
    build="$(features normal,build --package mercer-cli)"
    tests="$(features normal,build,dev --package mercer --package mercer-plot --package mercer-raster \
        --package mercer-terminal --package mercer-cli --package mercer-experiments --package mercer-fuzz)"
    wheel="$(features normal,build --package mercer-python --features extension-module)"
    for other in "$tests" "$wheel"; do
        if ! diff <(echo "$build") <(echo "$other"); then
            echo "the library would compile again with these features: name them all in crates/core/Cargo.toml" >&2
            return 1
        fi
    done
}

# The oldest compiler that Cargo.toml promises is the present one, or is there to be tried.
oldest_compiler() {
    local promised present
    promised="$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"
    present="$(rustc --version | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')"
    if [ "$present" = "$promised" ]; then
        return
    fi
    if cargo "+$promised" --version > /dev/null 2>&1; then
        cargo "+$promised" check --quiet --target-dir target/oldest-compiler
    else
        echo "Rust $promised, which Cargo.toml promises to be enough, is not installed: not tested"
    fi
}

cargo fmt --all --check
if [ "$extent" = fast ]; then
    cargo clippy --workspace --all-targets --quiet -- --deny warnings
    cargo test --lib --bins
    cargo test --package mercer --test main -- laws_of_ layers:: catalogue:: every_file
    echo "the fast tests passed"
    exit
fi

if [ -n "${MERCER_DATA:-}" ]; then
    echo "real data: $MERCER_DATA"
else
    echo "real data: none (set MERCER_DATA to test on more)"
fi
one_library
oldest_compiler

# the code that reads columns is always checked; its tests are run with `all`
cargo clippy --release --workspace --all-targets --features mercer/parquet --quiet -- --deny warnings
cargo test --release
RUSTDOCFLAGS="--deny warnings" cargo doc --release --no-deps --features mercer/parquet --quiet
if [ "$extent" = all ]; then
    cargo test --release --package mercer --features parquet --test main -- columns::
fi

# PYTHON chooses the interpreter, 3.9 or newer
python="$PWD/target/python-env/bin/python"
"${PYTHON:-python3}" -m venv target/python-env
"$python" -m pip install --quiet --disable-pip-version-check '.[test]'
"$python" python/generate.py --check
"$python" -m ruff check --quiet python bench
"$python" -m mypy --strict python/examples
"$python" -m pytest --quiet
echo "all tests passed"
