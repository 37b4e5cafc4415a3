"""Modules, functions, regions, blocks and statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from engine.errors import UnsupportedError
from engine.machine.errors import LimitError
from engine.machine.ir import Block, Function, Module, Operation, Region, SourceLocation, Successor, Type, Value
from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft, Jump, Scope
from engine.machine.reader.forms import FORMS
from engine.machine.reader.generic import read_generic
from engine.machine.reader.rules import RULES
from engine.machine.reader.rules.calls import check_calls
from engine.machine.reader.rules.kit import RuleError
from engine.machine.reader.rules.regions import check_function


@dataclass(kw_only=True)
class _OpenBlock:
    """A block that is being read; its jumps are resolved when the region ends."""

    arguments: tuple[Value, ...] = ()
    operations: list[Operation] = field(default_factory=list)
    jumps: tuple[Jump, ...] = ()


def read_module(context: Context) -> Module:
    """Read `module {...}` to the end of the text."""
    cursor = context.cursor
    cursor.expect("module")
    if cursor.next.startswith("@"):
        cursor.symbol()
    if cursor.accept("attributes"):
        read_attributes(context)
    cursor.expect("{")
    functions: dict[str, Function] = {}
    while not cursor.accept("}"):
        if cursor.next != "tt.func":
            context.refuse_operation()
        function = _read_function(context)
        if function.name in functions:
            cursor.fail(f"function {function.name} is defined twice")
        functions[function.name] = function
        if len(functions) > context.limits.functions:
            raise LimitError(f"a module has more than {context.limits.functions} functions")
    context.location()
    if cursor.next:
        cursor.fail("expected the end of the module")
    try:
        check_calls(functions)
    except RuleError as error:
        cursor.fail(str(error), back=1)
    return Module(functions=functions)


def _read_function(context: Context) -> Function:
    cursor = context.cursor
    cursor.expect("tt.func")
    visibility = cursor.take() if cursor.next in ("public", "private", "nested") else "public"
    name = cursor.symbol()
    context.scope = Scope()
    arguments, divisibility = _read_arguments(context)
    results = _read_results(context) if cursor.accept("->") else ()
    if cursor.accept("attributes"):
        read_attributes(context)
    if cursor.next != "{":
        raise UnsupportedError(f"function {name} is not supported: it has no body")
    start = cursor.place
    body = read_region(context, arguments, "")
    function = Function(
        name=name,
        body=body,
        results=results,
        values=context.scope.count,
        divisibility=divisibility,
        is_public=visibility == "public",
        location=context.location(),
    )
    try:
        check_function(function)
    except RuleError as error:
        cursor.fail_at(start, f"function {name}: {error}")
    return function


def _read_arguments(context: Context) -> tuple[tuple[Value, ...], dict[int, int]]:
    """Read the arguments of a function, and their divisibility."""
    cursor = context.cursor
    cursor.expect("(")
    arguments: list[Value] = []
    divisibility: dict[int, int] = {}
    while not cursor.accept(")"):
        if arguments:
            cursor.expect(",")
        name = cursor.take()
        cursor.expect(":")
        type_ = context.type()
        divisor = read_attributes(context).get("tt.divisibility")
        if isinstance(divisor, int):
            divisibility[len(arguments)] = divisor
        arguments.append(context.define(name, type_, context.location()))
    return tuple(arguments), divisibility


def _read_results(context: Context) -> tuple[Type, ...]:
    """Read the result types of a function, which may have attributes."""
    cursor = context.cursor
    if not cursor.accept("("):
        return (context.type(),)
    results: list[Type] = []
    while not cursor.accept(")"):
        if results:
            cursor.expect(",")
        results.append(context.type())
        read_attributes(context)
    return tuple(results)


def read_region(context: Context, arguments: tuple[Value, ...], terminator: str) -> Region:
    """Read `{...}` with its blocks.

    `arguments` are those of an entry block without a label; they are in scope already.  An entry block that does not
    end in a terminator gets an empty one of this name, unless the name is "".

    Raises:
        LimitError: too many blocks, or regions nested too deep.
    """
    cursor = context.cursor
    cursor.expect("{")
    context.depth += 1
    if context.depth > context.limits.nesting:
        raise LimitError(f"regions are nested more than {context.limits.nesting} deep")
    context.scope.open()
    labels: dict[str, int] = {}
    blocks = [] if cursor.next.startswith("^") else [_OpenBlock(arguments=arguments)]
    while not cursor.accept("}"):
        if cursor.next.startswith("^"):
            blocks.append(_read_label(context, labels, len(blocks)))
            if len(blocks) > context.limits.blocks:
                raise LimitError(f"a region has more than {context.limits.blocks:,} blocks")
        else:
            _read_statement(context, blocks[-1])
    context.scope.close()
    context.depth -= 1
    if terminator and len(blocks) <= 1:
        _terminate(blocks, arguments, terminator)
    return Region(blocks=tuple(_finished(context, block, labels) for block in blocks))


def _terminate(blocks: list[_OpenBlock], arguments: tuple[Value, ...], terminator: str) -> None:
    """Add the terminator that the text omits if it has no operands."""
    if not blocks:
        blocks.append(_OpenBlock(arguments=arguments))
    operations = blocks[0].operations
    if not operations or operations[-1].name != terminator:
        operations.append(Operation(name=terminator, attributes={}))


def _read_label(context: Context, labels: dict[str, int], place: int) -> _OpenBlock:
    """Read `^bb1(%x: i32 loc(...)):`."""
    cursor = context.cursor
    label = cursor.take()
    if label in labels:
        cursor.fail(f"block {label} is defined twice", back=1)
    labels[label] = place
    arguments: list[Value] = []
    if cursor.accept("("):
        while not cursor.accept(")"):
            if arguments:
                cursor.expect(",")
            name = cursor.take()
            cursor.expect(":")
            type_ = context.type()
            arguments.append(context.define(name, type_, context.location()))
    cursor.expect(":")
    return _OpenBlock(arguments=tuple(arguments))


def _finished(context: Context, block: _OpenBlock, labels: dict[str, int]) -> Block:
    """The block with the targets of its last operation."""
    operations = block.operations
    if block.jumps:
        successors = []
        for jump in block.jumps:
            if jump.label not in labels:
                context.cursor.fail(f"block {jump.label} is not defined", back=1)
            successors.append(Successor(block=labels[jump.label], operands=jump.operands))
        operations[-1] = replace(operations[-1], successors=tuple(successors))
    return Block(arguments=block.arguments, operations=tuple(operations))


def _read_statement(context: Context, block: _OpenBlock) -> None:
    cursor, start = context.cursor, context.cursor.place
    context.operations += 1
    if context.operations > context.limits.operations:
        raise LimitError(f"a module has more than {context.limits.operations:,} operations")
    if block.jumps:
        cursor.fail("an operation follows the branch that ends its block")
    names = _read_result_names(context) if cursor.next.startswith("%") else ()
    token = cursor.next
    if token.startswith('"'):
        name, draft = read_generic(context)
    elif form := FORMS.get(token):
        name = cursor.take()
        draft = form(context)
    else:
        context.refuse_operation()
    location = context.location()
    operation = Operation(
        name=name,
        operands=draft.operands,
        results=_define_results(context, names, draft, location),
        attributes=draft.attributes,
        regions=draft.regions,
        location=location,
    )
    if rule := RULES.get(name):
        try:
            rule(operation)
        except RuleError as error:
            cursor.fail_at(start, f"{name}: {error}")
    block.operations.append(operation)
    block.jumps = draft.jumps


def _read_result_names(context: Context) -> tuple[tuple[str, int], ...]:
    """Read `%a, %b:2 =`: names, each with the number of its values; 0 where no number is given."""
    cursor = context.cursor
    names: list[tuple[str, int]] = []
    while True:
        name = cursor.take()
        count = cursor.integer() if cursor.accept(":") else 0
        if not 0 <= count <= 1024:
            cursor.fail("expected a number of results", back=1)
        names.append((name, count))
        if not cursor.accept(","):
            break
    cursor.expect("=")
    return tuple(names)


def _define_results(
    context: Context, names: tuple[tuple[str, int], ...], draft: Draft, location: SourceLocation | None
) -> tuple[Value, ...]:
    """Define the results; an operation whose results are not used may omit their names."""
    types = draft.results
    if not names:
        return tuple(context.unnamed(type_, location) for type_ in types)
    if len(names) == 1 == len(types) and not names[0][1]:
        return (context.define(names[0][0], types[0], location),)
    spread: list[str] = []
    for name, count in names:
        spread.extend(f"{name}#{place}" for place in range(count)) if count else spread.append(name)
    if len(spread) != len(types):
        context.cursor.fail(f"the operation has {len(types)} results, not {len(spread)}", back=1)
    return tuple(context.define_part(name, type_, location) for name, type_ in zip(spread, types, strict=True))
