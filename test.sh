#!/usr/bin/env bash
# Every test of mercer: formatting, lints, unit, law, golden, black-box and documentation tests.
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
cargo test --release --workspace
RUSTDOCFLAGS="--deny warnings" cargo doc --release --workspace --no-deps --quiet
echo "all tests passed"
