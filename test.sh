#!/usr/bin/env bash
# Every test of mercer: formatting, lints, unit, law, golden, black-box and documentation tests, and those of the Python
# package in an environment of its own.
# One build profile, so that the dependencies compile once. With MERCER_DATA set to a folder of real data sets, more is
# tested, and the output says what.
set -euo pipefail
cd "$(dirname "$0")"

if [ -n "${MERCER_DATA:-}" ]; then
    echo "real data: $MERCER_DATA"
else
    echo "real data: none (set MERCER_DATA to test on more)"
fi

cargo fmt --all --check
cargo clippy --release --workspace --all-targets --quiet -- --deny warnings
cargo test --release
RUSTDOCFLAGS="--deny warnings" cargo doc --release --no-deps --quiet

# PYTHON chooses the interpreter, 3.9 or newer
python="$PWD/target/python-env/bin/python"
"${PYTHON:-python3}" -m venv target/python-env
"$python" -m pip install --quiet --disable-pip-version-check '.[test]'
"$python" python/generate.py --check
"$python" -m ruff check --quiet python bench
"$python" -m mypy --strict python/examples
"$python" -m pytest --quiet
echo "all tests passed"
