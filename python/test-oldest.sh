#!/usr/bin/env bash
# The tests of the Python package with the oldest versions that it supports, in an environment of its own.
# PYTHON chooses the interpreter; the oldest one is 3.9.
set -euo pipefail
cd "$(dirname "$0")/.."

python="$PWD/target/python-oldest-env/bin/python"
"${PYTHON:-python3.9}" -m venv target/python-oldest-env
"$python" -m pip install --quiet --disable-pip-version-check --requirement python/oldest.txt .
"$python" -c "import sys, sklearn, numpy; print('Python', sys.version.split()[0], 'scikit-learn', sklearn.__version__, 'numpy', numpy.__version__)"
"$python" -m pytest --quiet
echo "all tests passed with the oldest versions"
