"""The forms of operations, on modules that Triton 3.9 and 3.6 wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from engine.machine.ir import Attribute, Constant, Descriptor, Module, Operation, Pointer, Scalar, Tensor
from engine.machine.reader import read_module
from engine.machine.reader.limits import Limits
from engine.machine.reader.types import TypeTable, type_text
from tests.engine.machine.reader.test_reader import sample

HINTS: dict[str, Attribute] = {"cache": "cg", "evict": "evict_last", "isVolatile": True, "boundaryCheck": ()}


def operations_of(module: Module) -> Iterator[Operation]:
    """Every operation of a module, inner ones included, functions and blocks in order."""
    for function in module.functions.values():
        regions = [function.body]
        while regions:
            for block in regions.pop(0).blocks:
                for operation in block.operations:
                    yield operation
                    regions.extend(operation.regions)


def named(name: str, sample_name: str) -> list[Operation]:
    """The operations of that name in a sample."""
    return [operation for operation in operations_of(read_module(sample(sample_name))) if operation.name == name]


COUNTS = {
    "atomics": {"tt.atomic_rmw": 11, "tt.atomic_cas": 1},
    "calls": {"tt.call": 2, "tt.print": 2, "tt.assert": 2, "ttg.barrier": 1},
    "descriptors": {"tt.descriptor_load": 1, "tt.descriptor_gather": 1, "tt.descriptor_scatter": 1},
    "libraries": {"tt.elementwise_inline_asm": 2},
    "loops": {"scf.for": 3, "scf.while": 1, "scf.condition": 1},
    "mapped": {"tt.map_elementwise": 1, "cf.cond_br": 2},
    "scaled": {"tt.dot_scaled": 2},
    "shapes": {"tt.join": 2, "tt.split": 1, "tt.cat": 1, "tt.histogram": 2, "tt.gather": 1},
}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_sample_has_operations(name: str) -> None:
    counts = Counter(operation.name for operation in operations_of(read_module(sample(name))))
    assert {operation: counts[operation] for operation in COUNTS[name]} == COUNTS[name]


def test_cache_hints_of_version_3_6_are_words() -> None:
    load = named("tt.load", "pointwise_3_6")[0]
    assert load.attributes == {**HINTS, "segments": (1, 1, 0)}


def test_atomic_operations_have_kind_order_and_scope() -> None:
    found = [operation.attributes for operation in named("tt.atomic_rmw", "atomics")]
    assert found[:3] == [
        {"kind": "add", "sem": "relaxed", "scope": "gpu"},
        {"kind": "max", "sem": "acq_rel", "scope": "cta"},
        {"kind": "min", "sem": "release", "scope": "sys"},
    ]


@pytest.mark.parametrize(("timeout", "operands"), [("", 2), (" timeout %t", 3)])
def test_poll_has_a_timeout_or_none(timeout: str, operands: int) -> None:
    text = f"""module {{
      tt.func public @k(%p: !tt.ptr<i32>, %v: i32, %t: i64) attributes {{noinline = false}} {{
        %0 = tt.atomic_poll acquire, gpu, %p, %v{timeout} : !tt.ptr<i32>, i32 -> i1
        tt.return
      }}
    }}"""
    poll = next(operations_of(read_module(text)))
    assert (poll.name, len(poll.operands), poll.attributes["sem"]) == ("tt.atomic_poll", operands, "acquire")


def test_products_have_their_precision() -> None:
    attributes = [operation.attributes for operation in named("tt.dot", "products")]
    found = [(each["inputPrecision"], each["maxNumImpreciseAcc"]) for each in attributes]
    assert found == [("ieee", 0), ("tf32x3", 0), ("tf32", 0), ("tf32", 32), ("tf32", 0)]


def test_descriptor_has_shapes_then_strides() -> None:
    made = named("tt.make_tensor_descriptor", "descriptors")[0]
    assert made.attributes["rank"] == 2
    assert [operand.type for operand in made.operands[1:]] == [Scalar.I32, Scalar.I32, Scalar.I64, Scalar.I64]
    assert made.results[0].type == Descriptor(block=Tensor(shape=(16, 16), element=Scalar.F16))


@pytest.mark.parametrize(("text", "unsigned"), [("16x16xsi32", False), ("16x16xi32", False), ("16x16xui32", True)])
def test_descriptor_of_integers_keeps_the_sign_apart(text: str, unsigned: bool) -> None:
    found = TypeTable(Limits()).find(f"!tt.tensordesc<{text}>")
    assert found == Descriptor(block=Tensor(shape=(16, 16), element=Scalar.I32), unsigned=unsigned)
    assert type_text(found) == f"!tt.tensordesc<{text.replace('si', 'i')}>"


def test_block_pointer_of_version_3_6_is_read() -> None:
    made = named("tt.make_tensor_ptr", "block_pointers_3_6")[0]
    assert made.attributes == {"order": (1, 0)}
    assert made.results[0].type == Pointer(pointee=Tensor(shape=(32, 32), element=Scalar.F32))
    load = named("tt.load", "block_pointers_3_6")[0]
    assert (load.attributes["boundaryCheck"], load.attributes["padding"]) == ((0, 1), 2)


def test_strings_are_unescaped() -> None:
    assert [operation.attributes["message"] for operation in named("tt.assert", "calls")] == [
        "n must be positive",
        'out of "range"',
    ]


def test_integer_constants_are_unsigned_patterns() -> None:
    found = {operation.attributes["value"] for operation in named("arith.constant", "constants")}
    assert {Constant(bits=(1234567890123,)), Constant(bits=(0x7FC00000,)), Constant(bits=(0xFF800000,))} <= found


def test_loop_attributes_and_arguments_are_read() -> None:
    first, second, third = named("scf.for", "loops")
    assert [argument.name for argument in first.regions[0].blocks[0].arguments] == ["i_6", "acc_7", "total_8"]
    assert [loop.attributes for loop in (first, second, third)] == [{}, {"tt.num_stages": 3}, {"tt.num_stages": 1}]
