#!/usr/bin/env bash
# The Rust tests on other processors, by qemu's emulation of programs (Debian: apt-get install qemu-user).
#
#   ./emulate.sh                                every test on each of max, Haswell and Nehalem
#   ./emulate.sh Nehalem                        on one model (`qemu-x86_64 -cpu help` lists them)
#   ./emulate.sh Nehalem --lib                  what follows the model selects tests as for `cargo test`
#   ./emulate.sh Nehalem --package mercer --test main -- laws_of_
#
# Loops are compiled for several instruction sets and chosen when the program runs: Nehalem has none beyond SSE4.2, Haswell AVX2 and
# FMA, and max all that qemu knows (AVX-512 is not among them). An instruction that a model lacks ends the tests with SIGILL.
# Programs that the tests start are emulated as well. EMULATE_PROFILE=dev takes the quicker compilation and the slower tests.
set -euo pipefail
cd "$(dirname "$0")"
case "${1:-}" in
-h | --help)
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit
    ;;
"" | -*) models=(max Haswell Nehalem) ;;
*)
    models=("$1")
    shift
    ;;
esac
if ! command -v qemu-x86_64 > /dev/null; then
    echo "$0: qemu-x86_64 is not installed; apt-get install qemu-user" >&2
    exit 2
fi
if [ "$(uname -m)" != x86_64 ]; then
    echo "$0: the tests are compiled for $(uname -m), and only those for x86_64 are emulated here" >&2
    exit 2
fi

selection=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    selection+=("$1")
    shift
done
if [ $# -gt 0 ]; then
    shift
fi
profile="${EMULATE_PROFILE:-release}"

# A folder of its own, since the programs in it are replaced.
export CARGO_TARGET_DIR="${EMULATE_TARGET:-$PWD/target/emulate}"
case "$profile" in dev) folder="$CARGO_TARGET_DIR/debug" ;; *) folder="$CARGO_TARGET_DIR/$profile" ;; esac
# what earlier calls put in the place of a program is no program for cargo
for program in mercer mercer-reproduce mercer-fuzz; do
    rm -f "$folder/$program" "$folder/$program.emulated"
done
built="$(cargo test --no-run --profile "$profile" --message-format json "${selection[@]}")"
# folder of the package and test executable, one pair a line
tests="$(echo "$built" | sed -n 's/.*"manifest_path":"\([^"]*\)\/Cargo.toml".*"test":true}.*"executable":"\([^"]*\)".*/\1 \2/p' |
    grep '/deps/' | sort -u)"
if [ -z "$tests" ]; then
    echo "$0: cargo built no tests for ${selection[*]}" >&2
    exit 2
fi

status=0
for model in "${models[@]}"; do
    for program in mercer mercer-reproduce mercer-fuzz; do
        if [ -f "$folder/$program.emulated" ] || [ -f "$folder/$program" ]; then
            [ -f "$folder/$program.emulated" ] || mv "$folder/$program" "$folder/$program.emulated"
            printf '#!/bin/sh\nexec qemu-x86_64 -cpu %s -0 "$0" "%s.emulated" "$@"\n' "$model" "$folder/$program" > "$folder/$program"
            chmod +x "$folder/$program"
        fi
    done
    while read -r package test; do
        echo "== $model: $(basename "$package"), $(basename "$test")"
        # cargo starts tests in the folder of their package
        (cd "$package" && CARGO_MANIFEST_DIR="$package" qemu-x86_64 -cpu "$model" "$test" "$@") || {
            echo "== $model: $(basename "$test") failed" >&2
            status=1
        }
    done <<< "$tests"
done
exit "$status"
