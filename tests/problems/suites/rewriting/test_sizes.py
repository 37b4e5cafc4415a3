"""Size constants of a reference: which there are, and a text with others."""

from __future__ import annotations

import pytest

from engine.errors import UsageError
from problems.suites.rewriting.sizes import constants_of, resized

TEXT = """import torch
batch = 128
dim = 1024 * 16
half = dim // 2
long: int = 1 << 20
cube = 8**3
huge = 2**200
shape = (
    3,
    4000,
)
ratio = 0.5
twice = 1
twice = 2
flag = True


def get_inputs():
    return [torch.rand(batch, dim)]
"""


def test_constants_literals_and_their_arithmetic() -> None:
    assert constants_of(TEXT) == {
        "batch": 128,
        "dim": 16384,
        "half": 8192,
        "long": 1 << 20,
        "cube": 512,
        "shape": (3, 4000),
    }


def test_constants_of_broken_text_none() -> None:
    assert constants_of("a = (") == {}


def test_cap_changes_only_larger_sizes() -> None:
    after = resized(TEXT, cap=256)

    changed = {"dim": (16384, 256), "half": (8192, 128), "shape": ((3, 4000), (3, 256))}
    assert after.changed == changed | {"long": (1 << 20, 256), "cube": (512, 256)}
    assert constants_of(after.text) == {
        "batch": 128,
        "dim": 256,
        "half": 128,
        "long": 256,
        "cube": 256,
        "shape": (3, 256),
    }
    assert "half = dim // 2" in after.text


def test_lines_keep_their_numbers() -> None:
    assert resized(TEXT, cap=256).text.splitlines().index("ratio = 0.5") == TEXT.splitlines().index("ratio = 0.5")


def test_chosen_size_is_kept_above_the_cap() -> None:
    assert constants_of(resized(TEXT, cap=8, chosen={"dim": 512}).text)["dim"] == 512


def test_unknown_constant_refused_with_names() -> None:
    with pytest.raises(
        UsageError, match=r"no size constant 'dimm'.*its constants: batch, dim, half, long, cube, shape"
    ):
        resized(TEXT, chosen={"dimm": 2})


def test_form_feed_ends_no_line() -> None:
    assert resized('"""a\x0cb\u2028c"""\nN = 4096\n', cap=8).text == '"""a\x0cb\u2028c"""\nN = 8\n'
