"""Runs a script, a module or a command with mercer in the place of scikit-learn's estimators.

    python -m mercer script.py [arguments]
    python -m mercer -m module [arguments]
    python -m mercer -c command [arguments]

A folder or an archive with a __main__.py is a script, too, and - is one that is read from standard input.
"""

import os
import runpy
import sys
import types

from mercer._patch import patch_sklearn


def _run_text(text: str, name: str) -> None:
    """Runs a program as the module `__main__`."""
    main = types.ModuleType("__main__")
    # classes and functions of the program are looked up there when they are pickled
    sys.modules["__main__"] = main
    vars(main)["__builtins__"] = __builtins__
    exec(compile(text, name, "exec"), vars(main))


def main() -> None:
    """What `python -m mercer` does: the arguments are those of `python` itself."""
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    what, rest = arguments[0], arguments[1:]
    if what in ("-h", "--help"):
        print(__doc__)
        return
    # python takes -mmodule and -ccommand in one word as well
    if what[:2] in ("-m", "-c") and len(what) > 2:
        what, rest = what[:2], [what[2:], *rest]
    if what in ("-m", "-c") and not rest:
        sys.exit(f"python -m mercer: argument expected for the {what} option")
    if what.startswith("-") and what not in ("-m", "-c", "-"):
        sys.exit(f"python -m mercer: there is no option {what}; there are -m, -c and -, or the path of a script{__doc__.partition('.')[2]}")
    patch_sklearn()
    if what == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.argv = ["-c", *rest[1:]]
        _run_text(rest[0], "<string>")
    elif what == "-":
        sys.argv = ["-", *rest]
        _run_text(sys.stdin.read(), "<stdin>")
    else:
        sys.argv = [what, *rest]
        if os.path.isfile(what):
            # modules beside the script come before those of the working folder, which python -m has put there
            sys.path[0] = os.path.dirname(os.path.realpath(what))
        runpy.run_path(what, run_name="__main__")


if __name__ == "__main__":
    main()
