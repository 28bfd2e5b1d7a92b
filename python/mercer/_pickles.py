"""Models in pickles: the bytes of a model file in less room, every one of them restored.

A model file is a safetensors file: the length of its header, the header, and arrays. Here the header is compressed with words that all
headers share, and its long hexadecimal numbers are bytes. Bytes that have one place in the numbers of an array, such as the exponents,
lie together and are compressed where that is worth it; whole numbers are first made differences.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer._words import WORDS

# hexadecimal numbers, of whole bytes, that are long enough to be cut out
_LONG = re.compile(rb"((?:[0-9a-f]{2}){32,})")
# types of arrays of which each number is several bytes, and whether their numbers are whole
_NUMBERS = {"F64": ("<u8", False), "F32": ("<u4", False), "U64": ("<u8", True), "U32": ("<u4", True)}
# arrays below this size are not worth it
_FEWEST_BYTES = 512
# files and arrays beyond this size are left as they are
_MOST_BYTES = 1 << 26
# what keeps so much of its size is not compressed
_WORTH = 0.97


def packed(model: _native.Model) -> tuple[Any, ...]:
    """A model in little room."""
    file, places = model.to_bytes()
    start = 8 + int.from_bytes(file[:8], "little")
    pieces = _LONG.split(file[8:start])
    cut = [bytes.fromhex(piece.decode()) for piece in pieces[1::2]]
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=WORDS)
    text = squeeze.compress(b"\0".join(pieces[::2])) + squeeze.flush()
    parts = [(kind, file[start + first : start + last]) for kind, first, last in _arrays(file[8:start])]
    chosen, soft, hard = bytearray(), bytearray(), bytearray()
    for kind, part in [*parts, ("U32", np.asarray(places, dtype="<u4").tobytes())]:
        chosen.append(_sort(kind, part, soft, hard, len(file) <= _MOST_BYTES))
    return (text, b"".join(cut), [len(piece) for piece in cut], len(places), bytes(chosen), _squeezed(soft), bytes(hard))


def unpacked(held: tuple[Any, ...]) -> _native.Model:
    """The model again."""
    text, cut, lengths, count, chosen, soft, hard = held
    swell = zlib.decompressobj(-15, zdict=WORDS)
    pieces = (swell.decompress(text) + swell.flush()).split(b"\0")
    header, taken = pieces[0], 0
    for length, piece in zip(lengths, pieces[1:]):
        header += cut[taken : taken + length].hex().encode() + piece
        taken += length
    halves, ends = (hard, zlib.decompress(soft, -15)), [0, 0]
    arrays, parts = _arrays(header), []
    sizes = [(kind, last - first) for kind, first, last in arrays]
    for mask, (kind, size) in zip(chosen, [*sizes, ("U32", 4 * count)]):
        parts.append(_restored(kind, size, mask, halves, ends))
    places = np.frombuffer(parts.pop(), dtype="<u4").tolist()
    return _native.Model.from_bytes(len(header).to_bytes(8, "little") + header + b"".join(parts), places)


def packed_array(array: Any) -> tuple[Any, ...] | None:
    """An array of many floating-point numbers in little room; None of anything else."""
    kind = {"<f8": "F64", "<f4": "F32"}.get(array.dtype.str) if type(array) is np.ndarray else None
    if kind is None or not array.flags.c_contiguous or not _FEWEST_BYTES <= array.nbytes <= _MOST_BYTES:
        return None
    soft, hard = bytearray(), bytearray()
    mask = _sort(kind, array.tobytes(), soft, hard, True)
    return (kind, array.shape, mask, _squeezed(soft), bytes(hard))


def unpacked_array(held: tuple[Any, ...]) -> Any:
    """The array again."""
    kind, shape, mask, soft, hard = held
    halves = (hard, zlib.decompress(soft, -15))
    numbers = _restored(kind, len(halves[0]) + len(halves[1]), mask, halves, [0, 0])
    return np.frombuffer(bytearray(numbers), dtype={"F64": "<f8", "F32": "<f4"}[kind]).reshape(shape)


def _squeezed(planes: bytes | bytearray) -> bytes:
    # runs and frequent bytes are all there is to find, and to look for more takes fifty times as long
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_RLE)
    return squeeze.compress(planes) + squeeze.flush()


def _sort(kind: str, part: bytes, soft: bytearray, hard: bytearray, try_it: bool) -> int:
    """Puts the planes of an array to those that are compressed or to the others; which of them are, as bits."""
    mask = 0
    for place, plane in enumerate(_planes(kind, part)):
        worth = try_it and len(_squeezed(plane)) < _WORTH * len(plane)
        (soft if worth else hard).extend(plane)
        mask |= worth << place
    return mask


def _restored(kind: str, size: int, mask: int, halves: tuple[bytes, bytes], ends: list[int]) -> bytes:
    """The next array, of so many bytes; `ends` are where the planes of the arrays before have ended."""
    width = np.dtype(_NUMBERS[kind][0]).itemsize if kind in _NUMBERS else 1
    planes = []
    for place in range(width):
        which = mask >> place & 1
        planes.append(halves[which][ends[which] : ends[which] + size // width])
        ends[which] += size // width
    return _joined(kind, planes)


def _arrays(header: bytes) -> list[tuple[str, int, int]]:
    """Type, start and end of all arrays of a file, one after the other."""
    entries = [entry for name, entry in json.loads(header).items() if name != "__metadata__"]
    return sorted(((entry["dtype"], *entry["data_offsets"]) for entry in entries), key=lambda array: array[1:])


def _planes(kind: str, part: bytes) -> list[bytes]:
    """The first bytes of all numbers, their second bytes and so on."""
    if kind not in _NUMBERS:
        return [part]
    form, whole = _NUMBERS[kind]
    numbers = np.frombuffer(part, dtype=form)
    if whole:
        # what is below zero goes round
        numbers = np.diff(numbers, prepend=numbers.dtype.type(0))
    return [plane.tobytes() for plane in numbers.view(np.uint8).reshape(len(numbers), -1).T] if len(numbers) else [b""] * numbers.itemsize


def _joined(kind: str, planes: list[bytes]) -> bytes:
    """The array that has these planes."""
    if kind not in _NUMBERS:
        return planes[0]
    form, whole = _NUMBERS[kind]
    numbers = np.ascontiguousarray(np.frombuffer(b"".join(planes), dtype=np.uint8).reshape(len(planes), -1).T).view(form).ravel()
    return (np.cumsum(numbers, dtype=form) if whole else numbers).tobytes()


def same(a: Any, b: Any) -> bool:
    """Whether two attributes are of one type and have the same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.dtype.kind != "O" and a.shape == b.shape and a.tobytes() == b.tobytes()
    if sp.issparse(a):
        return a.format == b.format == "csr" and a.shape == b.shape and all(same(getattr(a, x), getattr(b, x)) for x in ("data", "indices", "indptr"))
    # of numbers in lists and dictionaries the text has every bit
    return isinstance(a, (bool, int, float, str, list, dict, tuple, type(None))) and repr(a) == repr(b)


class PickledMixin:
    """Estimators whose pickles have the model, and of their attributes what it does not tell."""

    # the attribute with examples that the model holds as well
    _examples_of_model = ""

    def __getstate__(self):
        state = dict(super().__getstate__())
        model = state.pop("_model", None)
        if model is None:
            return state
        for name, told in self._told_by_model().items():
            is_matrix = name == self._examples_of_model and sp.isspmatrix(state.get(name))
            if name in state and same(state[name], sp.csr_matrix(told) if is_matrix else told):
                del state[name]
                if is_matrix:
                    state["_matrix_in_model"] = True
        arrays = {name: packed_array(value) for name, value in state.items()}
        arrays = {name: held for name, held in arrays.items() if held is not None}
        state["_packed"] = (packed(model), arrays)
        return {name: value for name, value in state.items() if name not in arrays}

    def __setstate__(self, state):
        state = dict(state)
        held, is_matrix = state.pop("_packed", None), state.pop("_matrix_in_model", False)
        # pickles of earlier versions
        pickled, form = state.pop("_pickled", None), state.pop("_vectors_in_model", None)
        if "proof_" in state:
            state["report_"] = state.pop("proof_")
        if held is not None:
            held, arrays = held
            state.update({name: unpacked_array(array) for name, array in arrays.items()})
        super().__setstate__(state)
        if pickled is not None:
            self._model = _native.Model.from_bytes(*pickled)
        if form is not None:
            vectors = vectors_of(self._model)
            is_matrix = form == "matrix" and sp.issparse(vectors)
            setattr(self, self._examples_of_model, sp.csr_matrix(vectors) if is_matrix else vectors)
        if held is not None:
            self._model = unpacked(held)
            for name, told in self._told_by_model().items():
                if name not in state:
                    setattr(self, name, sp.csr_matrix(told) if is_matrix and name == self._examples_of_model else told)

    def _told_by_model(self):
        """Attributes that the model tells as well, so that a pickle has them once."""
        told = self._told_by_report(self._model.report)
        if self._examples_of_model and not self._is_called():
            vectors = vectors_of(self._model)
            if vectors is not None:
                told[self._examples_of_model] = vectors
        return told


def vectors_of(model):
    """The examples that a model holds, in the order of its coefficients; None where they are no table of numbers."""
    parts = model.vectors
    if parts is None or not isinstance(parts, tuple):
        return parts
    starts, indices, values, width = parts
    # as scikit-learn has them wherever they fit
    short = max(len(values), width) < 2**31
    indices, starts = (np.asarray(a, dtype=np.int32 if short else np.int64) for a in (indices, starts))
    return sp.csr_array((values, indices, starts), shape=(len(starts) - 1, width))
