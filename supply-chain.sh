#!/usr/bin/env bash
# The crates that mercer is built from, held against deny.toml: licences, sources, doubled versions and known weaknesses.
#
#   ./supply-chain.sh
#
# Needs cargo-deny (`cargo install cargo-deny --locked`). Where the database of advisories cannot be fetched, the output says so and the
# other checks decide.
set -euo pipefail
cd "$(dirname "$0")"

if ! cargo deny --version > /dev/null 2>&1; then
    echo "$0: cargo-deny is not installed; cargo install cargo-deny --locked" >&2
    exit 2
fi
cargo deny --locked check licenses bans sources
if ! cargo deny --locked fetch db > /dev/null 2>&1; then
    echo "advisories: not checked, since their database could not be fetched"
    exit
fi
cargo deny --locked check advisories
