"""Products of 32 bits in addresses are found in TTIR, with the line of the kernel's own file."""

from __future__ import annotations

import pytest

from engine.compiler.offsets import line_of_narrow_offset

KERNEL = """
module {{
  tt.func public @k(%x: !tt.ptr<f32> loc("k.py":1:1), %s: i32 loc("k.py":1:1)) attributes {{noinline = false}} {{
    %c = arith.constant 64 : i32 loc("k.py":2:1)
    %pid = tt.get_program_id x : i32 loc("k.py":2:1)
    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32> loc("k.py":2:1)
{body}
    %v = tt.load %p : tensor<64x!tt.ptr<f32>> loc("k.py":9:1)
    tt.store %p, %v : tensor<64x!tt.ptr<f32>> loc("k.py":9:1)
    tt.return loc("k.py":9:1)
  }} loc("k.py":1:1)
}} loc("k.py":1:1)
"""
BASE = '    %b = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>> loc("k.py":3:1)\n'
SCALAR = (
    '    %m = arith.muli %pid, %s : i32 loc({place})\n    %o = tt.splat %m : i32 -> tensor<64xi32> loc("k.py":5:1)\n'
)
ADD = '    %p = tt.addptr %b, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32> loc("k.py":6:1)'


def kernel(body: str) -> str:
    return KERNEL.format(body=BASE + body)


@pytest.mark.parametrize(
    ("place", "line"),
    [('"k.py":4:1', 4), ('callsite("other.py":70:1 at "k.py":8:1)', 8), ('"other.py":70:1', None)],
    ids=["own line", "inlined helper", "other file"],
)
def test_program_stride_product_in_address_has_line(place: str, line: int | None) -> None:
    assert line_of_narrow_offset(kernel(SCALAR.format(place=place) + ADD), "k.py") == line


def test_product_that_is_widened_too_late_counts() -> None:
    late = (
        SCALAR.format(place='"k.py":4:1')
        + '    %w = arith.extsi %o : tensor<64xi32> to tensor<64xi64> loc("k.py":5:1)\n'
        + '    %p = tt.addptr %b, %w : tensor<64x!tt.ptr<f32>>, tensor<64xi64> loc("k.py":6:1)'
    )
    assert line_of_narrow_offset(kernel(late), "k.py") == 4


def test_pointer_repeated_for_all_lanes_counts() -> None:
    repeated = (
        '    %m = arith.muli %pid, %s : i32 loc("k.py":4:1)\n'
        '    %q = tt.addptr %x, %m : !tt.ptr<f32>, i32 loc("k.py":5:1)\n'
        '    %p = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>> loc("k.py":6:1)'
    )
    assert line_of_narrow_offset(kernel(repeated), "k.py") == 4


def test_product_of_64_bits_does_not_count() -> None:
    wide = (
        '    %w = arith.extsi %pid : i32 to i64 loc("k.py":4:1)\n'
        '    %s64 = arith.extsi %s : i32 to i64 loc("k.py":4:1)\n'
        '    %m = arith.muli %w, %s64 : i64 loc("k.py":4:1)\n'
        '    %o = tt.splat %m : i64 -> tensor<64xi64> loc("k.py":5:1)\n'
        '    %p = tt.addptr %b, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi64> loc("k.py":6:1)'
    )
    assert line_of_narrow_offset(kernel(wide), "k.py") is None


def test_product_of_constants_and_ranges_does_not_count() -> None:
    fixed = (
        '    %cs = tt.splat %c : i32 -> tensor<64xi32> loc("k.py":4:1)\n'
        '    %o = arith.muli %r, %cs : tensor<64xi32> loc("k.py":4:1)\n' + ADD
    )
    assert line_of_narrow_offset(kernel(fixed), "k.py") is None


def test_product_of_range_and_argument_does_not_count() -> None:
    strided = (
        '    %ss = tt.splat %s : i32 -> tensor<64xi32> loc("k.py":4:1)\n'
        '    %o = arith.muli %r, %ss : tensor<64xi32> loc("k.py":4:1)\n' + ADD
    )
    assert line_of_narrow_offset(kernel(strided), "k.py") is None


def test_product_of_two_arguments_has_line() -> None:
    sizes = (
        '    %n = arith.muli %s, %s : i32 loc("k.py":4:1)\n'
        '    %o = tt.splat %n : i32 -> tensor<64xi32> loc("k.py":4:1)\n'
    )
    assert line_of_narrow_offset(kernel(sizes + ADD), "k.py") == 4


TILES = '    %t = arith.divsi %s, %c : i32 loc("k.py":4:1)\n'
SPLAT = '    %o = tt.splat %m : i32 -> tensor<64xi32> loc("k.py":5:1)\n'


@pytest.mark.parametrize(
    ("product", "line"),
    [
        ('    %m = arith.muli %t, %c : i32 loc("k.py":4:1)\n', None),
        ('    %g = arith.constant 8 : i32 loc("k.py":2:1)\n    %m = arith.muli %g, %t : i32 loc("k.py":4:1)\n', None),
        ('    %g = arith.constant 65 : i32 loc("k.py":2:1)\n    %m = arith.muli %t, %g : i32 loc("k.py":4:1)\n', 4),
        ('    %m = arith.muli %t, %s : i32 loc("k.py":4:1)\n', 4),
    ],
    ids=["rounded down", "tiles in groups", "more than was divided by", "an argument"],
)
def test_quotient_times_its_divisor_does_not_count(product: str, line: int | None) -> None:
    assert line_of_narrow_offset(kernel(TILES + product + SPLAT + ADD), "k.py") == line


@pytest.mark.parametrize(("times", "line"), [("%g", None), ("%c", 4)], ids=["as grouped", "more than grouped"])
def test_number_of_group_times_its_size_does_not_count(times: str, line: int | None) -> None:
    grouped = (
        '    %g = arith.constant 8 : i32 loc("k.py":2:1)\n'
        + TILES
        + '    %in = arith.muli %t, %g : i32 loc("k.py":4:1)\n'
        + '    %n = arith.divsi %pid, %in : i32 loc("k.py":4:1)\n'
        + f'    %m = arith.muli %n, {times} : i32 loc("k.py":4:1)\n'
    )
    assert line_of_narrow_offset(kernel(grouped + SPLAT + ADD), "k.py") == line


PLACE = """\
    %b64 = arith.extsi %s : i32 to i64 loc("k.py":3:1)
    %ss = tt.splat %b64 : i64 -> tensor<64xi64> loc("k.py":3:1)
    %m = arith.muli %pid, %c : i32 loc("k.py":4:1)
    %ms = tt.splat %m : i32 -> tensor<64xi32> loc("k.py":4:1)
    %i = arith.addi %ms, %r : tensor<64xi32> loc("k.py":4:1)
    %w = arith.extsi %i : tensor<64xi32> to tensor<64xi64> loc("k.py":5:1)
"""
STRIDED = '    %o = arith.muli {of}, %ss : tensor<64xi64> loc("k.py":5:1)\n'
ADD_WIDE = '    %p = tt.addptr %b, {offset} : tensor<64x!tt.ptr<f32>>, tensor<64xi64> loc("k.py":6:1)'
BESIDE = """\
    %f = arith.muli %ss, %ss : tensor<64xi64> loc("k.py":5:1)
    %q = tt.addptr %b, {first} : tensor<64x!tt.ptr<f32>>, tensor<64xi64> loc("k.py":6:1)
    %p = tt.addptr %q, {second} : tensor<64x!tt.ptr<f32>>, tensor<64xi64> loc("k.py":6:1)"""
ROW = """\
    %row = arith.extsi %pid : i32 to i64 loc("k.py":3:1)
    %rs = tt.splat %row : i64 -> tensor<64xi64> loc("k.py":3:1)
"""
DIVIDED = '    %d = arith.divsi %w, %ss : tensor<64xi64> loc("k.py":5:1)\n' + STRIDED.format(of="%d")


@pytest.mark.parametrize(
    ("address", "line"),
    [
        (STRIDED.format(of="%w") + ADD_WIDE.format(offset="%o"), None),
        (BESIDE.format(first="%f", second="%w"), None),
        (BESIDE.format(first="%w", second="%f"), None),
        (ROW + BESIDE.format(first="%rs", second="%w"), None),
        ('    %o = arith.remsi %w, %ss : tensor<64xi64> loc("k.py":5:1)\n' + ADD_WIDE.format(offset="%o"), None),
        (ADD_WIDE.format(offset="%w"), 4),
        (DIVIDED + ADD_WIDE.format(offset="%o"), 4),
    ],
    ids=[
        "times a stride",
        "after a product",
        "before a product",
        "beside another place",
        "remainder",
        "alone",
        "divided",
    ],
)
def test_place_in_a_dimension_does_not_count(address: str, line: int | None) -> None:
    assert line_of_narrow_offset(kernel(PLACE + address), "k.py") == line


def test_rows_longer_than_a_tile_count_beside_a_product() -> None:
    rows = PLACE.replace(
        "%m = arith.muli %pid, %c", '%n = arith.constant 65 : i32 loc("k.py":2:1)\n    %m = arith.muli %pid, %n'
    )
    assert line_of_narrow_offset(kernel(rows + BESIDE.format(first="%f", second="%w")), "k.py") == 4


def test_invalid_ttir_has_no_line() -> None:
    assert line_of_narrow_offset("nonsense", "k.py") is None
