"""A converter for skl2onnx: pipelines that end with mercer's estimators become ONNX files."""

from __future__ import annotations

from typing import Any

import numpy as np

# types of numbers in ONNX files
_FLOAT, _INT64, _DOUBLE = 1, 7, 11


def register_skl2onnx() -> None:
    """Tells skl2onnx how mercer's estimators are written, so that ``skl2onnx.to_onnx(pipeline, X)`` takes them.

    A classifier has the outputs `label` and `probabilities`; these are the scores of :meth:`mercer.SVC.to_onnx` where no
    probabilities were learned. A detector has `label` (1 or −1) and `scores`, any other estimator the output `variable`.
    Probabilities of more than two classes are not taken. Numbers are computed in double precision, and given in the precision of the input.

    Examples
    --------
    >>> import mercer
    >>> mercer.register_skl2onnx()                                                         # doctest: +SKIP
    >>> file = skl2onnx.to_onnx(make_pipeline(StandardScaler(), mercer.SVC()).fit(X, y), X)  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("skl2onnx is not installed; estimators are written without it by their method to_onnx") from error
    import mercer
    from mercer._base import Machine

    for name in mercer.__all__:
        kind = getattr(mercer, name)
        if isinstance(kind, type) and issubclass(kind, Machine):
            update_registered_converter(kind, f"Mercer{kind.__name__}", _shapes, _convert, overwrite=True)


def _shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_tensor_type

    estimator = operator.raw_operator
    given = operator.inputs[0].type
    rows = given.shape[0] if given.shape else None
    numbers = guess_tensor_type(given)
    if len(operator.outputs) == 1:
        operator.outputs[0].type = type(numbers)([rows, None])
        return
    classes = getattr(estimator, "classes_", np.zeros(0, dtype=np.int64))
    label = Int64TensorType if classes.dtype.kind in "biu" else StringTensorType
    operator.outputs[0].type = label([rows])
    operator.outputs[1].type = type(numbers)([rows, None])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    import onnx

    estimator = operator.raw_operator
    graph = onnx.load_from_string(estimator.to_onnx()).graph
    if len(graph.input) != 1:
        raise ValueError(f"{type(estimator).__name__} looks at several views, which a pipeline of skl2onnx does not have; use to_onnx")
    if any(node.op_type == "Loop" for node in graph.node):
        # skl2onnx sorts nodes by names, and does not see those that a loop takes from outside
        raise ValueError(f"the probabilities of {len(estimator.classes_)} classes are coupled by a loop, which skl2onnx cannot take into "
                         "a pipeline: fit with probability=False, or write the last step by its method to_onnx")  # fmt: skip
    new = _Nodes(scope, container)
    names = {graph.input[0].name: new("Cast", [operator.inputs[0].full_name], to=_DOUBLE)}

    def named(name: str) -> str:
        if name and name not in names:
            names[name] = scope.get_unique_variable_name(f"mercer_{name}")
        return names.get(name, name)

    for constant in graph.initializer:
        constant.name = named(constant.name)
        container.initializers.append(constant)
    for node in graph.node:
        node.name = scope.get_unique_operator_name(f"mercer_{node.op_type}")
        node.input[:] = [named(name) for name in node.input]
        node.output[:] = [named(name) for name in node.output]
        container.nodes.append(node)
    container.node_domain_version_pair_sets.add(("", 17))
    of = {output.name: names[output.name] for output in graph.output}
    _answer(estimator, operator, of, new)


class _Nodes:
    """Adds nodes to a file, each with one output."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def __call__(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        output = output or self.scope.get_unique_variable_name("mercer_value")
        name = self.scope.get_unique_operator_name("mercer_node")
        self.container.add_node(kind, inputs, [output], name=name, **attributes)
        return output

    def constant(self, values: Any, kind: int) -> str:
        name = self.scope.get_unique_variable_name("mercer_constant")
        values = np.asarray(values)
        self.container.add_initializer(name, kind, list(values.shape), values.ravel().tolist())
        return name


def _answer(estimator: Any, operator: Any, of: dict[str, str], new: _Nodes) -> None:
    """What scikit-learn calls the answer, made of what mercer's file says."""
    from skl2onnx.common.data_types import DoubleTensorType

    outputs = [output.full_name for output in operator.outputs]
    precision = _DOUBLE if isinstance(operator.outputs[-1].type, DoubleTensorType) else _FLOAT
    if len(outputs) == 1:
        values = of["values"]
        if hasattr(estimator, "_signs"):
            # the columns that are kept, with the signs that they have in Python, and those beyond the rank
            values = new("Gather", [values, new.constant(estimator._keep, _INT64)], axis=1)
            values = new("Mul", [values, new.constant(estimator._signs, _DOUBLE)])
            values = new("Pad", [values, new.constant([0, 0, 0, estimator._beyond], _INT64)])
        new("Cast", [values], outputs[0], to=precision)
        return
    code = new("Cast", [of["code"]], to=_INT64)
    classes = getattr(estimator, "classes_", np.array([1, -1]))
    whole = classes.dtype.kind in "biu"
    known = [int(c) for c in classes] if whole else [str(c).encode() for c in classes.tolist()]
    new("Gather", [_labels(new, known, whole), new("Reshape", [code, new.constant([-1], _INT64)])], outputs[0])
    new("Cast", [of.get("probabilities", of["scores"])], outputs[1], to=precision)


def _labels(new: _Nodes, known: list[Any], whole: bool) -> str:
    import onnx

    name = new.scope.get_unique_variable_name("mercer_classes")
    kind = onnx.TensorProto.INT64 if whole else onnx.TensorProto.STRING
    new.container.add_initializer(name, kind, [len(known)], known)
    return name
