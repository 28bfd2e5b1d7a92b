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
# files and arrays beyond this size are left as they are: to compress them takes longer than to write them
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
    return (text, b"".join(cut), [len(piece) for piece in cut], len(places), bytes(chosen), zlib.compress(soft, 9), bytes(hard))


def unpacked(held: tuple[Any, ...]) -> _native.Model:
    """The model again."""
    text, cut, lengths, count, chosen, soft, hard = held
    swell = zlib.decompressobj(-15, zdict=WORDS)
    pieces = (swell.decompress(text) + swell.flush()).split(b"\0")
    header, taken = pieces[0], 0
    for length, piece in zip(lengths, pieces[1:]):
        header += cut[taken : taken + length].hex().encode() + piece
        taken += length
    halves, ends = (hard, zlib.decompress(soft)), [0, 0]
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
    return (kind, array.shape, mask, zlib.compress(soft, 9), bytes(hard))


def unpacked_array(held: tuple[Any, ...]) -> Any:
    """The array again."""
    kind, shape, mask, soft, hard = held
    halves = (hard, zlib.decompress(soft))
    numbers = _restored(kind, len(halves[0]) + len(halves[1]), mask, halves, [0, 0])
    return np.frombuffer(bytearray(numbers), dtype={"F64": "<f8", "F32": "<f4"}[kind]).reshape(shape)


def _sort(kind: str, part: bytes, soft: bytearray, hard: bytearray, try_it: bool) -> int:
    """Puts the planes of an array to those that are compressed or to the others; which of them are, as bits."""
    mask = 0
    for place, plane in enumerate(_planes(kind, part)):
        worth = try_it and len(zlib.compress(plane, 6)) < _WORTH * len(plane)
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
