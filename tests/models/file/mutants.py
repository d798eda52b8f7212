"""Model files with something wrong in them: by accident, or by somebody who knows the format."""

import hashlib
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

HUGE = (2**31, 2**40, 2**62, 2**63, 10**18, -1, 10**400)
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**30, 0.5, -2.5, 1e300, "", "x", "ü" * 50,
    "../../etc/passwd", [], [[]], {}, {"array": 0}, {"array": -1}, {"array": 10**9},
    {"strings": [0, 1]}, [0] * 40, ["a"] * 40,
)  # fmt: skip


def sealed(content: bytes) -> bytes:
    """Put the right SHA-256 at the end, as somebody would who wants the file to be read."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def flipped(content: bytes, random: Random) -> bytes:
    """Flip some bits."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(content: bytes, random: Random) -> bytes:
    """Cut off the end, leave out a piece, or put one in."""
    first, last = sorted(random.randrange(len(content)) for _ in range(2))
    return random.choice(
        (content[:first], content[:first] + content[last:], content[:last] + content[first:])
    )


def overwritten(content: bytes, random: Random) -> bytes:
    """Write over some bytes, such as numbers in an array."""
    place = random.randrange(len(content))
    piece = random.choice(
        (b"\xff" * 8, b"\x00" * 8, b"\x00\x00\xf0\x7f", random.randbytes(8), random.randbytes(1))
    )
    return (content[:place] + piece + content[place + len(piece) :])[: len(content)]


def _parts(content: bytes) -> tuple[bytes, Any, bytes]:
    first, size, rest = content.split(b"\n", 2)
    return first, json.loads(rest[: int(size)]), rest[int(size) :]


def _joined(first: bytes, document: Any, rest: bytes) -> bytes:
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    return b"%s\n%d\n%s%s" % (first, len(text), text, rest)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return every list or dictionary within a value, with every key of it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def rearranged(content: bytes, random: Random) -> bytes:
    """Swap, drop, double or replace fields of the document."""
    first, document, rest = _parts(content)
    places = list(_places(document))
    for _ in range(random.choice((1, 1, 2))):
        (one, key), (other, name) = random.choice(places), random.choice(places)
        try:
            kind = random.randrange(6)
            if kind == 0:
                one[key], other[name] = other[name], one[key]
            elif kind == 1:
                del one[key]
            elif kind == 2 and isinstance(one, dict):
                one[f"{key}2"] = one[key]
            elif kind == 3 and isinstance(one[key], int | float):
                one[key] = random.choice((one[key] + 1, -one[key], *HUGE))
            else:
                one[key] = random.choice(STRANGE)
        except (IndexError, KeyError, TypeError):  # an earlier change took the place away
            continue
    try:
        return _joined(first, document, rest)
    except ValueError:  # something was put into itself
        return content[:-1]


def resized(content: bytes, random: Random) -> bytes:
    """Claim other sizes and types of arrays, or another length of the document."""
    first, document, rest = _parts(content)
    told = document["arrays"]
    if not told or random.random() < 0.1:
        size = random.choice((0, 1, 10**6, 10**12, 10**30))
        return b"%s\n%d\n%s" % (first, size, content.split(b"\n", 2)[2])
    place = random.randrange(len(told))
    kind, *sizes = told[place]
    spot = random.randrange(len(sizes))
    sizes[spot] = random.choice((sizes[spot] + 1, max(0, sizes[spot] - 1), *HUGE[:5]))
    if random.random() < 0.3:
        kind = random.choice(("f8", "i8", "u1", "b1", "f4", "O8", "V0"))
    told[place] = [kind, *sizes]
    if random.random() < 0.3:
        other = random.randrange(len(told))
        told[place], told[other] = told[other], told[place]
    return _joined(first, document, rest)


def bloated(content: bytes, random: Random) -> bytes:
    """Nest deeply, repeat keys, or hold many small things that take much memory."""
    first, document, rest = _parts(content)
    text = json.dumps(document)[:-1]
    nested, deep = "[" * 5_000 + "]" * 5_000, '{"a":' * 2_000 + "1" + "}" * 2_000
    values = (nested, deep, f"[{','.join(['{}'] * 2_000)}]", "9" * 10_000, "NaN", "1e999")
    more = random.choice(
        (*(f'"x":{value}' for value in values), '"x":"\\ud800"', '"content":{}', '"arrays":[]')
    )
    text = f"{text},{more}}}"
    return b"%s\n%d\n%s%s" % (first, len(text), text.encode(), rest)


WAYS: tuple[Callable[[bytes, Random], bytes], ...] = (
    flipped, cut, overwritten, rearranged, rearranged, resized, bloated,
)  # fmt: skip
GREEDY = (resized, bloated)
"""Those that ask for memory."""
