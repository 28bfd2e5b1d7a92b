#!/usr/bin/env bash
# Damaged and made-up input for everything in mercer that reads: data files, models, formulas.
#
#   ./fuzz.sh TARGET SECONDS         for a time; TARGET is `all` or one that `./fuzz.sh list` names
#   ./fuzz.sh TARGET --inputs N      for a number of inputs; --seed K makes other inputs
#   ./fuzz.sh TARGET --replay FILE   one finding again
#
# Findings are panics, broken laws, aborts, a second for a KB, and memory beyond a bound; they are kept in target/fuzz/TARGET, and
# the exit code is 1. The table that is printed says what was tried. FUZZ_PROFILE=dev also catches whole numbers that overflow.
set -euo pipefail
cd "$(dirname "$0")"
if [ $# -eq 0 ]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
fi
if [[ "${2:-}" =~ ^[0-9.]+$ ]]; then
    set -- "$1" --seconds "${@:2}"
fi
exec cargo run --quiet --profile "${FUZZ_PROFILE:-release}" --package mercer-fuzz -- "$@"
