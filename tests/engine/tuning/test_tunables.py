"""Tunable parameters of a file, and changes of them that leave the rest as it is."""

from __future__ import annotations

import pytest

from engine.errors import UsageError
from engine.tuning.tunables import configurations, tunables_of, variants

KERNEL = b"""\
import triton

BLOCK = 1_024  # elements  \xe2\x86\x92 a program
SCALE = 0.5
NAMES: tuple[int, ...] = (1, 2)


def f(x, n):
    add[(1,)](x, n, BLOCK=BLOCK, num_warps=4)
    mul[(1,)](
        x, n,  # both
        BLOCK=BLOCK, num_warps=8,
    )
"""
TUNED = b"""\
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=4),  # small
        triton.Config({"BLOCK": 256}, num_warps=8, num_stages=2),
    ],
    key=["n"],
)
@triton.jit
def k(x, n, BLOCK: tl.constexpr): ...
"""


def shown(source: bytes) -> list[tuple[str, str | None, int]]:
    return [(tunable.name, tunable.value, tunable.line) for tunable in tunables_of(source)]


def test_constants_launch_options_and_missing_options_are_tunable() -> None:
    assert shown(KERNEL) == [("BLOCK", "1_024", 3), ("num_warps", "4", 9), ("num_stages", None, 9)]


@pytest.mark.parametrize(
    "source",
    [b"", b"x = True\n", b"x = -1\n", b"x = 1.0\n", b"f(num_warps=4)\n", b"def f():\n    x = 1\n", b"a.b = 1\n"],
)
def test_value_other_than_named_integer_is_not_tunable(source: bytes) -> None:
    assert shown(source) == []


def test_options_possibly_in_mapping_are_not_added() -> None:
    assert shown(b"k[g](x, **options)\n") == []


def test_options_are_not_added_to_autotuned_launches() -> None:
    assert shown(TUNED + b"k[g](x, n)\n") == []


def test_every_combination_is_made_the_first_name_slowest() -> None:
    made = variants(KERNEL, {"BLOCK": (64, 128), "num_warps": (4, 8)})
    assert [variant.name for variant in made] == [
        "BLOCK=64 num_warps=4",
        "BLOCK=64 num_warps=8",
        "BLOCK=128 num_warps=4",
        "BLOCK=128 num_warps=8",
    ]


def test_only_the_values_change() -> None:
    (made,) = variants(KERNEL, {"BLOCK": (64,), "num_warps": (2,)})
    assert made.source == KERNEL.replace(b"1_024", b"64").replace(b"=4)", b"=2)").replace(b"=8,", b"=2,")


def test_missing_option_is_added_after_last_argument() -> None:
    (made,) = variants(KERNEL, {"num_stages": (3,)})
    expected = KERNEL.replace(b"num_warps=4)", b"num_warps=4, num_stages=3)")
    assert made.source == expected.replace(b"num_warps=8,", b"num_warps=8, num_stages=3,")


def test_line_ends_of_windows_stay() -> None:
    source = KERNEL.replace(b"\n", b"\r\n")
    (made,) = variants(source, {"BLOCK": (64,)})
    assert made.source == source.replace(b"1_024", b"64")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"BLOK": (1,)}, r"'BLOK' is not tunable: .* this file has BLOCK, num_warps, num_stages"),
        ({"BLOCK": ()}, "BLOCK has no value to try; give some: BLOCK=64,128"),
        ({"BLOCK": tuple(range(257))}, "257 variants are too many for one grid of 256"),
        ({"BLOCK": range(9999), "num_warps": range(9999), "num_stages": range(9999)}, "999,700,029,999 variants"),
    ],
)
def test_a_grid_that_cannot_be_made_is_refused(values: dict[str, tuple[int, ...]], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        variants(KERNEL, values)


def test_each_autotuner_configuration_is_a_variant() -> None:
    made = configurations(TUNED)
    assert [variant.name for variant in made] == ["BLOCK=128 num_warps=4", "BLOCK=256 num_warps=8 num_stages=2"]
    assert made[0].source == (
        b'@triton.autotune(\n    configs=[triton.Config({"BLOCK": 128}, num_warps=4)],\n    key=["n"],\n)\n'
        b"@triton.jit\ndef k(x, n, BLOCK: tl.constexpr): ...\n"
    )


def test_a_list_with_a_name_is_found_too() -> None:
    source = b"CONFIGS = [Config({'B': 1}), Config({'B': 2})]\n@autotune(CONFIGS, key=[])\ndef k(): ...\n"
    assert [variant.name for variant in configurations(source)] == ["B=1", "B=2"]


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"@triton.jit\ndef k(): ...\n",
        b"@triton.autotune(configs=[Config({})], key=[])\ndef k(): ...\n",
        b"@triton.autotune(configs=make(), key=[])\ndef k(): ...\n",
    ],
)
def test_single_configuration_gives_no_variants(source: bytes) -> None:
    assert configurations(source) == ()


@pytest.mark.parametrize(
    ("source", "words"), [(b"#" * 70_000, "has 70,000 bytes"), (b"x = " + b"-" * 50_000 + b"1", "nested too deep")]
)
def test_slow_to_parse_file_is_refused(source: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tunables_of(source)
