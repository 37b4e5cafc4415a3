"""Rules of operations with regions, of terminators and of branches."""

from __future__ import annotations

from engine.machine.ir import Block, Function, Operation, Region, Scalar, Tensor, Type, Value
from engine.machine.reader.rules.kit import (
    Rule,
    RuleError,
    element_of,
    expect_types,
    integer,
    require,
    shape_of,
)

_BRANCHES = ("cf.br", "cf.cond_br")
TERMINATORS = frozenset(
    (
        *_BRANCHES,
        *("scf.yield", "scf.condition", "tt.return"),
        *("tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return"),
    )
)


def types_of(values: tuple[Value, ...]) -> tuple[Type, ...]:
    """The types of values."""
    return tuple(value.type for value in values)


def _single_block(region: Region, terminator: str) -> Block:
    require(len(region.blocks) == 1, "expected a region of one block")
    block = region.blocks[0]
    _ends_in(block, (terminator,))
    return block


def _ends_in(block: Block, terminators: tuple[str, ...]) -> None:
    names = [operation.name for operation in block.operations]
    require(bool(names) and names[-1] in terminators, f"expected a block that ends in {terminators[0]}")
    require(TERMINATORS.isdisjoint(names[:-1]), "an operation follows the one that ends its block")


def _regions(operation: Operation, least: int, most: int) -> None:
    require(least <= len(operation.regions) <= most, f"expected {least} regions")


def _for(operation: Operation) -> None:
    _regions(operation, 1, 1)
    require(len(operation.operands) >= 3, "expected bounds and a step")
    block = _single_block(operation.regions[0], "scf.yield")
    bounds, initial = types_of(operation.operands[:3]), types_of(operation.operands[3:])
    require(
        len(set(bounds)) == 1 and isinstance(bounds[0], Scalar) and not bounds[0].is_float, "expected integer bounds"
    )
    expect_types(types_of(block.arguments), (bounds[0], *initial), "arguments")
    expect_types(types_of(block.operations[-1].operands), initial, "values")
    expect_types(types_of(operation.results), initial, "results")


def _if(operation: Operation) -> None:
    _regions(operation, 1, 2)
    results = types_of(operation.results)
    expect_types(types_of(operation.operands), (Scalar.I1,), "a condition")
    require(len(operation.regions) == 2 or not results, "expected an else that yields the results")
    for region in operation.regions:
        block = _single_block(region, "scf.yield")
        expect_types(types_of(block.arguments), (), "arguments")
        expect_types(types_of(block.operations[-1].operands), results, "values")


def _while(operation: Operation) -> None:
    _regions(operation, 2, 2)
    before = _single_block(operation.regions[0], "scf.condition")
    after = _single_block(operation.regions[1], "scf.yield")
    initial, results = types_of(operation.operands), types_of(operation.results)
    expect_types(types_of(before.arguments), initial, "arguments")
    expect_types(types_of(before.operations[-1].operands), (Scalar.I1, *results), "a condition and values")
    expect_types(types_of(after.arguments), results, "arguments")
    expect_types(types_of(after.operations[-1].operands), initial, "values")


def _combining(operation: Operation, terminator: str) -> tuple[Type, ...]:
    """Check the common rules of reductions and scans; returns the types of the operands."""
    _regions(operation, 1, 1)
    types = types_of(operation.operands)
    require(bool(types) and len({shape_of(type_) for type_ in types}) == 1, "expected tensors of one shape")
    require(0 <= integer(operation, "axis") < len(shape_of(types[0])), "the axis is out of range")
    block = _single_block(operation.regions[0], terminator)
    elements = tuple(map(element_of, types))
    expect_types(types_of(block.arguments), elements * 2, "arguments")
    expect_types(types_of(block.operations[-1].operands), elements, "values")
    return types


def _reduce(operation: Operation) -> None:
    types = _combining(operation, "tt.reduce.return")
    axis, shape = integer(operation, "axis"), shape_of(types[0])
    rest = shape[:axis] + shape[axis + 1 :]
    expected: list[Type] = []
    for element in map(element_of, types):
        require(not isinstance(element, Tensor), "expected scalars as elements")
        expected.append(_tensor_or_scalar(rest, element))
    expect_types(types_of(operation.results), tuple(expected), "results")


def _tensor_or_scalar(shape: tuple[int, ...], element: Type) -> Type:
    if not shape or isinstance(element, Tensor) or not isinstance(element, Scalar):
        return element
    return Tensor(shape=shape, element=element)


def _scan(operation: Operation) -> None:
    types = _combining(operation, "tt.scan.return")
    require(isinstance(operation.attributes.get("reverse"), bool), "expected the attribute reverse")
    expect_types(types_of(operation.results), types, "results")


def _map_elementwise(operation: Operation) -> None:
    _regions(operation, 1, 1)
    shapes = {shape_of(value.type) for value in (*operation.operands, *operation.results)}
    require(len(shapes) == 1, "expected tensors of one shape")
    pack = integer(operation, "pack")
    require(1 <= pack <= 64, "expected a pack of 1 to 64 elements")
    arguments = tuple(element_of(type_) for type_ in types_of(operation.operands) for _ in range(pack))
    results = tuple(element_of(type_) for type_ in types_of(operation.results) for _ in range(pack))
    check_blocks(operation.regions[0], arguments, results, "tt.map_elementwise.return")


def check_function(function: Function) -> None:
    """The rules of a function's body.

    Raises:
        RuleError: a block without terminator, a branch with other types, a value used where it may be undefined.
    """
    check_blocks(function.body, types_of(function.arguments), function.results, "tt.return")


def check_blocks(region: Region, arguments: tuple[Type, ...], results: tuple[Type, ...], terminator: str) -> None:
    """The rules of a region with branches."""
    require(bool(region.blocks), "expected a region with blocks")
    expect_types(types_of(region.blocks[0].arguments), arguments, "arguments")
    for block in region.blocks:
        _ends_in(block, (terminator, *_BRANCHES))
        last = block.operations[-1]
        if last.name == terminator:
            expect_types(types_of(last.operands), results, "values")
        for successor in last.successors:
            require(successor.block != 0, "a branch goes to the first block of its region")
            expect_types(
                types_of(successor.operands), types_of(region.blocks[successor.block].arguments), "operands of a branch"
            )
    if len(region.blocks) > 1:
        check_dominance(region)


def check_dominance(region: Region) -> None:
    """Require that every path to a use of a value passes its definition."""
    defined_by = {value.index: place for place, block in enumerate(region.blocks) for value in _definitions(block)}
    dominators = _dominators(region)
    for place, block in enumerate(region.blocks):
        for value in _uses(block):
            home = defined_by.get(value.index, place)
            if home != place and not dominators[place] >> home & 1:
                raise RuleError(f"%{value.name} may be undefined where it is used")


def _definitions(block: Block) -> list[Value]:
    found = list(block.arguments)
    for operation in block.operations:
        found.extend(operation.results)
    return found


def _uses(block: Block) -> list[Value]:
    """The operands in a block, those of inner regions included."""
    found: list[Value] = []
    blocks = [block]
    while blocks:
        for operation in blocks.pop().operations:
            found.extend(operation.operands)
            for successor in operation.successors:
                found.extend(successor.operands)
            for region in operation.regions:
                blocks.extend(region.blocks)
    return found


def _dominators(region: Region) -> list[int]:
    """For each block a bit set of its dominators: the blocks on every path to it, itself included."""
    count = len(region.blocks)
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for place, block in enumerate(region.blocks):
        for successor in block.operations[-1].successors:
            predecessors[successor.block].append(place)
    everything = (1 << count) - 1
    found = [1, *[everything] * (count - 1)]
    changed = True
    while changed:
        changed = False
        for place in range(1, count):
            common = everything
            for predecessor in predecessors[place]:
                common &= found[predecessor]
            common |= 1 << place
            if common != found[place]:
                found[place], changed = common, True
    return found


def _condition(operation: Operation) -> None:
    require(bool(operation.operands) and operation.operands[0].type is Scalar.I1, "expected a condition of i1")


def _program(operation: Operation) -> None:
    require(0 <= integer(operation, "axis") <= 2, "expected an axis from 0 to 2")
    expect_types(types_of(operation.results), (Scalar.I32,), "a result")


def _assert(operation: Operation) -> None:
    require(len(operation.operands) == 1, "expected 1 operand")
    require(element_of(operation.operands[0].type) is Scalar.I1, "expected a condition of i1")


RULES: dict[str, Rule] = {
    **dict.fromkeys(("tt.get_program_id", "tt.get_num_programs"), _program),
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.condition": _condition,
    "cf.cond_br": _condition,
    "tt.reduce": _reduce,
    "tt.scan": _scan,
    "tt.map_elementwise": _map_elementwise,
    "tt.assert": _assert,
    "llvm.intr.assume": _condition,
}
