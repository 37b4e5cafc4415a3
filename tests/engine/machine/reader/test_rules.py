"""Text that is no TTIR, breaks its rules or exceeds a limit is refused with its place."""

from __future__ import annotations

import pytest

from engine.errors import UnsupportedError
from engine.machine.errors import LimitError, MalformedError
from engine.machine.reader import Limits, read_module

HEAD = "%p: !tt.ptr<f32>, %f: f32, %i: i32, %c: i1, %t: tensor<4xf32>, %m: tensor<4x8xf32>, %u: tensor<4xi32>"


def kernel(*lines: str) -> str:
    """A module with one kernel, whose first operation is on line 3."""
    return "\n".join(("module {", f"tt.func public @k({HEAD}) {{", *lines, "tt.return", "}", "}"))


MALFORMED = (
    (("%a = arith.addi %i, %z : i32",), "line 3, column 21: value is not defined here, found %z"),
    (("%a = arith.addi %i, %f : i32",), "line 3, column 26: %f has type f32, not i32, found i32"),
    (("%a = arith.addi %f, %f : f32",), "line 3, column 1: arith.addi: the type of the result does not fit"),
    (("%i = arith.addi %i, %i : i32",), "line 3, column 26: value %i is defined twice"),
    (("%a = arith.cmpi lt, %i, %i : i32",), "line 3, column 17: expected a predicate, found lt"),
    (("%a = arith.constant 300 : i8",), "line 3, column 27: 300 does not fit i8"),
    (("%a = arith.constant 1.5 : i32",), "line 3, column 27: 1.5 is not an integer"),
    (("%a = arith.constant dense<[1, 2]> : tensor<3xi32>",), "the literals have shape (2,), not (3,)"),
    (("%a = arith.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>",), "the lists of a constant have different lengths"),
    (("%a = arith.extsi %i : i32 to i8",), "arith.extsi: the widths do not fit the operation"),
    (("%a = tt.broadcast %t : tensor<4xf32> -> tensor<8xf32>",), "the shape (4,) does not broadcast to (8,)"),
    (("%a = tt.expand_dims %t {axis = 2 : i32} : tensor<4xf32> -> tensor<4x1xf32>",), "axis 2 is out of range"),
    (("%a = tt.expand_dims %t : tensor<4xf32> -> tensor<4x1xf32>",), "expected the integer axis"),
    (("%a = tt.load %t : tensor<4xf32>",), "expected the type of a pointer"),
    (("tt.store %p, %i : !tt.ptr<f32>",), "line 3, column 1: tt.store: expected a value of type f32, found i32"),
    (("%a = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<4xi32>",), "expected a result of 8 x i32"),
    (("%a = tt.splat %i : i32 -> tensor<4xf32>",), "expected an operand of type f32, found i32"),
    (("%a:2 = arith.addi %i, %i : i32",), "the operation has 1 results, not 2"),
    (("scf.if %i {", "}"), "scf.if: expected a condition of type i1, found i32"),
    (("%a = scf.if %c -> (i32) {", "scf.yield %i : i32", "}"), "expected an else that yields the results"),
    (("scf.if %c {", "%a = arith.addi %i, %i : i32", "}", "%b = arith.addi %a, %a : i32"), "line 6, column 17: value"),
    (("cf.br ^bb7", "^bb1:"), "block ^bb7 is not defined"),
    (("scf.yield",), "an operation follows the one that ends its block"),
    (("%a = arith.addi %i, %i : i32 loc(#loc3)",), "location #loc3 is not defined"),
    (("tt.call @f(%i) : (i32) -> ()",), "function f is called but not defined"),
    (("%a = tt.get_program_id {axis = 3 : i32} : i32",), "expected an axis from 0 to 2"),
    (("%a = tt.get_program_id {} : i32",), "expected the integer axis"),
    (("%a = tt.get_program_id x : i64",), "expected a result of type i32, found i64"),
    (("not an operation",), "line 3, column 1: expected an operation, found not"),
)


@pytest.mark.parametrize(("lines", "message"), MALFORMED, ids=map(str, range(len(MALFORMED))))
def test_broken_text_is_malformed_with_its_place(lines: tuple[str, ...], message: str) -> None:
    with pytest.raises(MalformedError) as raised:
        read_module(kernel(*lines))
    assert str(raised.value).startswith("line ")
    assert message in str(raised.value)


def test_value_from_conditional_block_is_refused() -> None:
    lines = (
        "cf.cond_br %c, ^a, ^b",
        "^a:",
        "%x = arith.addi %i, %i : i32",
        "cf.br ^b",
        "^b:",
        "%y = arith.addi %x, %x : i32",
    )
    with pytest.raises(MalformedError, match="%x may be undefined where it is used"):
        read_module(kernel(*lines))


def test_branch_operands_must_have_the_types_of_arguments() -> None:
    with pytest.raises(MalformedError, match="expected operands of a branch of type i32, found f32"):
        read_module(kernel("cf.br ^a(%f : f32)", "^a(%x: i32):"))


def test_reduction_must_combine_its_elements() -> None:
    text = kernel(
        '%a = "tt.reduce"(%t) <{axis = 0 : i32}> ({',
        "^bb0(%x: f32):",
        "tt.reduce.return %x : f32",
        "}) : (tensor<4xf32>) -> f32",
    )
    with pytest.raises(MalformedError, match=r"tt\.reduce: expected arguments of type f32, f32, found f32"):
        read_module(text)


UNSUPPORTED = (
    ("ttng.tmem_load %p", "operation ttng.tmem_load is not supported"),
    ('"tt.fancy"() : () -> ()', "operation tt.fancy is not supported"),
    ("%a = ub.poison : tensor<4xf32, #blocked>", "neither layouts nor unknown sizes are"),
    ("%a = ub.poison : i128", "type i128 is not supported"),
)


@pytest.mark.parametrize(("line", "message"), UNSUPPORTED)
def test_other_operations_and_types_are_unsupported(line: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        read_module(kernel(line))


def test_unsupported_operation_is_named_with_its_source_line() -> None:
    text = '#loc1 = loc("kernel.py":7:5)\n' + kernel("ttng.wait %p loc(#loc1)")
    with pytest.raises(UnsupportedError, match=r"^operation ttng.wait is not supported \(kernel.py:7\)$"):
        read_module(text)


def test_recursive_call_is_unsupported() -> None:
    function = "tt.func {} @{}() {{\ntt.call @f() : () -> ()\ntt.return\n}}\n"
    text = "module {\n" + function.format("public", "k") + function.format("private", "f") + "}"
    with pytest.raises(UnsupportedError, match="function f is not supported: it is recursive"):
        read_module(text)


LIMITED = (
    (kernel("%a = ub.poison : tensor<1000000000xf32>"), "more than 1,048,576 elements"),
    (kernel("%a = ub.poison : tensor<99999999999999999999999999xf32>"), "more than 1,048,576 elements"),
    (kernel(f"%a = ub.poison : tensor<{'1x' * 100_000}f32>"), "a tensor has 100000 dimensions, more than 16"),
    (kernel("scf.if %c {\n" * 100_000), "regions are nested more than 48 deep"),
    (kernel(f"%a = arith.constant dense<{'[' * 1_000_000}"), "a constant is nested more than 16 deep"),
    (kernel(f"tt.return {{a = {'[' * 1_000_000}"), "attributes are nested more than 8 deep"),
    (kernel(f"tt.return loc({'callsite(' * 100_000}"), "source locations are nested more than 64 deep"),
    (" " * (2**22 + 1), "a module has 4,194,305 characters, more than 4,194,304"),
)


@pytest.mark.parametrize(("text", "message"), LIMITED, ids=map(str, range(len(LIMITED))))
def test_enormous_text_exceeds_a_limit(text: str, message: str) -> None:
    with pytest.raises(LimitError, match=message):
        read_module(text)


def test_locations_that_double_in_length_exceed_a_limit() -> None:
    doubling = "".join(f"\n#l{n + 1} = loc(callsite(#l{n} at #l{n}))" for n in range(60))
    text = kernel("%a = ub.poison : f32 loc(#l60)") + '\n#l0 = loc("a.py":1:1)' + doubling
    with pytest.raises(LimitError, match="a source location has more than 64 callers"):
        read_module(text)


def test_location_that_refers_to_itself_is_unknown() -> None:
    text = kernel("%a = ub.poison : f32 loc(#a)") + "\n#a = loc(callsite(#b at #b))\n#b = loc(callsite(#a at #a))"
    assert read_module(text).kernel.body.blocks[0].operations[0].location is None


@pytest.mark.parametrize("piece", ["<", "{", "a", '"', "tensor<", "(<", "% "])
def test_megabyte_of_one_kind_is_malformed(piece: str) -> None:
    with pytest.raises(MalformedError, match="line 1, column 1: expected module"):
        read_module(piece * (1_000_000 // len(piece)))


def test_number_of_operations_is_limited() -> None:
    limits = Limits(operations=2)
    with pytest.raises(LimitError, match="more than 2 operations"):
        read_module(kernel("%a = ub.poison : f32", "%b = ub.poison : f32"), limits)


def test_attribute_does_not_replace_value_in_form() -> None:
    lines = (
        "%a = arith.cmpi slt, %i, %i {predicate = 9 : i64} : i32",
        "%b = tt.get_program_id x {axis = 7 : i32} : i32",
    )
    module = read_module(kernel(*lines))
    found = [operation.attributes for operation in module.kernel.body.blocks[0].operations]
    assert found == [{"predicate": "slt"}, {"axis": 0}, {}]
