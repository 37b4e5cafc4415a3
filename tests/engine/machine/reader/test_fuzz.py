"""Mutated modules either read or are refused with one of the three errors."""

from __future__ import annotations

import contextlib
import random
import re

import pytest

from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.reader import read_module
from tests.engine.machine.reader.test_reader import SAMPLES

MUTANTS_PER_SAMPLE = 20
_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)
_STRANGE = (
    *(
        "-1",
        "9" * 30,
        "<",
        ">",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        '"',
        "%",
        "^",
        "#",
        "@",
        "\0",
        "\u00e9",
        "\u0663",
        "1e9999",
    ),
    *("0x", "dense", "tensor<1000000000xf32>", "i1", "f8E5M2", "loc", "module", "tt.func"),
)


def mutated(text: str, draw: random.Random) -> str:
    """The text after one to five random edits."""
    pieces = _PIECE.findall(text)
    for _ in range(draw.choice((1, 1, 2, 5))):
        place, other = draw.randrange(len(pieces)), draw.randrange(len(pieces))
        end = min(len(pieces), place + draw.randrange(60))
        match draw.randrange(7):
            case 0:
                del pieces[place]
            case 1:
                pieces[place] = pieces[other]
            case 2:
                pieces.insert(place, pieces[other])
            case 3:
                pieces[place] = draw.choice(_STRANGE)
            case 4:
                pieces[place:place] = pieces[place:end]
            case 5:
                del pieces[place:end]
            case _:
                characters = list(pieces[place])
                characters[draw.randrange(len(characters))] = chr(draw.randrange(32, 127))
                pieces[place] = "".join(characters)
        pieces = pieces or ["x"]
    return "".join(pieces)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.ttir")), ids=lambda path: path.stem)
def test_mutated_modules_read_or_are_refused(path) -> None:
    draw = random.Random(path.stem)
    text = path.read_text()
    for _ in range(MUTANTS_PER_SAMPLE):
        with contextlib.suppress(MachineError, UnsupportedError):
            read_module(mutated(text, draw))
