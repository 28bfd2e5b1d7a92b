"""`python -m mercer script.py [arguments]`: runs a script with mercer in the place of scikit-learn's estimators."""

import runpy
import sys

from mercer._patch import patch_sklearn


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    patch_sklearn()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
