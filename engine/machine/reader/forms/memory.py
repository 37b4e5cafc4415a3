"""Pointers, loads, stores, atomics, block pointers and descriptors."""

from __future__ import annotations

import re

from engine.machine.ir import Attribute, Value
from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft
from engine.machine.reader.forms.kit import Form, keyword, words_after
from engine.machine.reader.rules.memory import pointee

CACHES = ("none", "ca", "cg", "wb", "cs", "wt", "cv")
EVICTIONS = ("normal", "evict_first", "evict_last")
READ_MODIFY_WRITES = ("and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch")
ORDERS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = ("gpu", "cta", "sys")
REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_HINTS = {"cacheModifier": "cache", "evictionPolicy": "evict"}
# Since 3.9: {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>}.
_HINTS_OF_POLICY = {"cache_modifier": "cache", "eviction_policy": "evict"}
_POLICY_FIELD = re.compile(r"(cache_modifier|eviction_policy)=(\w+)")


def _hints(context: Context, defaults: dict[str, Attribute]) -> dict[str, Attribute]:
    """Read cache hints and attributes; missing ones have their default."""
    found = {**defaults, **words_after(context, _HINTS), **read_attributes(context)}
    policy = found.pop("cachePolicy", None)
    if isinstance(policy, str):
        found.update((_HINTS_OF_POLICY[name], word) for name, word in _POLICY_FIELD.findall(policy))
    if found["evict"] == "evict_normal":
        found["evict"] = "normal"
    if found["cache"] not in CACHES or found["evict"] not in EVICTIONS:
        context.cursor.fail("expected the name of a cache modifier and of an eviction policy")
    return found


LOAD_DEFAULTS: dict[str, Attribute] = {"cache": "none", "evict": "normal", "isVolatile": False, "boundaryCheck": ()}
STORE_DEFAULTS: dict[str, Attribute] = {"cache": "none", "evict": "normal", "boundaryCheck": ()}
DESCRIPTOR_DEFAULTS: dict[str, Attribute] = {"cache": "none", "evict": "normal"}


def _load(context: Context) -> Draft:
    """`%p, %mask, %other cacheModifier = cg evictionPolicy = evict_last {...} : T`."""
    operands = _up_to(context, 3)
    attributes = _hints(context, LOAD_DEFAULTS)
    context.cursor.expect(":")
    result = pointee(context.type_of(operands[0]))
    if result is None:
        context.cursor.fail("expected the type of a pointer", back=1)
    attributes["segments"] = (1, int(len(operands) > 1), int(len(operands) > 2))
    return Draft(operands=operands, results=(result,), attributes=attributes)


def _store(context: Context) -> Draft:
    """`%p, %value, %mask cacheModifier = wt {...} : T`."""
    operands = _up_to(context, 3)
    attributes = _hints(context, STORE_DEFAULTS)
    context.cursor.expect(":")
    context.type_of(operands[0])
    if len(operands) < 2:
        context.cursor.fail("expected a value to store", back=1)
    attributes["segments"] = (1, 1, int(len(operands) > 2))
    return Draft(operands=operands, attributes=attributes)


def _up_to(context: Context, count: int) -> tuple[Value, ...]:
    found = [context.operand()]
    while len(found) < count and context.cursor.accept(","):
        found.append(context.operand())
    return tuple(found)


def _add_pointer(context: Context) -> Draft:
    """`%p, %offset : T, U`."""
    operands = context.operands(2)
    attributes = read_attributes(context)
    context.cursor.expect(":")
    context.types_of(operands)
    return Draft(operands=operands, results=(operands[0].type,), attributes=attributes)


def _atomic(context: Context) -> Draft:
    """`fadd, acq_rel, gpu, %p, %value, %mask : (T, U, V) -> W`."""
    kind = _word(context, READ_MODIFY_WRITES, "the kind of an atomic operation")
    attributes = {"kind": kind, **_order_and_scope(context)}
    operands = _up_to(context, 3)
    return _functional(context, operands, attributes)


def _compare_and_swap(context: Context) -> Draft:
    """`acq_rel, gpu, %p, %compare, %value : (T, U, U) -> U`."""
    attributes = _order_and_scope(context)
    return _functional(context, context.operands(3), attributes)


def _atomic_load(context: Context) -> Draft:
    """`acquire, gpu, %p, %mask : (T, U) -> V`."""
    attributes = _order_and_scope(context)
    return _functional(context, _up_to(context, 2), attributes)


def _atomic_store(context: Context) -> Draft:
    """`release, gpu, %p, %value, %mask : T`."""
    attributes = _order_and_scope(context)
    operands = _up_to(context, 3)
    attributes.update(read_attributes(context))
    context.cursor.expect(":")
    context.type_of(operands[0])
    return Draft(operands=operands, attributes=attributes)


def _atomic_poll(context: Context) -> Draft:
    """`acquire, gpu, %p, %value timeout %t : T, U -> V`; the timeout, of i64, may be missing."""
    attributes = _order_and_scope(context)
    typed = context.operands(2)
    operands = (*typed, context.operand()) if context.cursor.accept("timeout") else typed
    attributes.update(read_attributes(context))
    context.cursor.expect(":")
    context.types_of(typed)
    context.cursor.expect("->")
    return Draft(operands=operands, results=(context.type(),), attributes=attributes)


def _order_and_scope(context: Context) -> dict[str, Attribute]:
    return {
        "sem": _word(context, ORDERS, "a memory order"),
        "scope": _word(context, SCOPES, "a memory scope"),
    }


def _word(context: Context, allowed: tuple[str, ...], what: str) -> str:
    word = keyword(context, allowed, what)
    context.cursor.expect(",")
    return word


def _functional(context: Context, operands: tuple[Value, ...], attributes: dict[str, Attribute]) -> Draft:
    attributes = {**read_attributes(context), **attributes}
    context.cursor.expect(":")
    return Draft(operands=operands, results=context.function_type(operands), attributes=attributes)


def _bracketed(context: Context) -> tuple[Value, ...]:
    """Read `[%a, %b]`."""
    context.cursor.expect("[")
    return context.operands_until("]")


def _make_block_pointer(context: Context) -> Draft:
    """`%base, [shapes], [strides], [offsets] {order = array<i32: 1, 0>} : <tensor<...>>`."""
    cursor = context.cursor
    operands = [context.operand()]
    for _ in range(3):
        cursor.expect(",")
        operands.extend(_bracketed(context))
    attributes = read_attributes(context)
    cursor.expect(":")
    return Draft(operands=tuple(operands), results=(context.short_type("ptr"),), attributes=attributes)


def _advance(context: Context) -> Draft:
    """`%p, [offsets] : <tensor<...>>`."""
    cursor = context.cursor
    pointer = context.operand()
    cursor.expect(",")
    offsets = _bracketed(context)
    attributes = read_attributes(context)
    cursor.expect(":")
    type_ = context.short_type("ptr")
    if type_ != pointer.type:
        cursor.fail("the pointer has another type", back=1)
    return Draft(operands=(pointer, *offsets), results=(type_,), attributes=attributes)


def _make_descriptor(context: Context) -> Draft:
    """`%base, [shapes], [strides] {padding = 1 : i32} : <f32>, <16x16xf32>`."""
    cursor = context.cursor
    base = context.operand()
    cursor.expect(",")
    shapes = _bracketed(context)
    cursor.expect(",")
    strides = _bracketed(context)
    attributes: dict[str, Attribute] = {"padding": 1, **read_attributes(context), "rank": len(shapes)}
    cursor.expect(":")
    type_ = context.short_type("ptr")
    if type_ != base.type:
        cursor.fail("the base has another type", back=1)
    cursor.expect(",")
    return Draft(operands=(base, *shapes, *strides), results=(context.short_type("tensordesc"),), attributes=attributes)


def _descriptor_load(context: Context) -> Draft:
    """`%d[%i, %j] cacheModifier = ca {...} : D -> T`."""
    cursor = context.cursor
    operands = (context.operand(), *_bracketed(context))
    attributes = _hints(context, DESCRIPTOR_DEFAULTS)
    cursor.expect(":")
    context.type_of(operands[0])
    cursor.expect("->")
    return Draft(operands=operands, results=(context.type(),), attributes=attributes)


def _descriptor_store(context: Context) -> Draft:
    """`%d[%i, %j], %value : D, T`."""
    operands = (context.operand(), *_bracketed(context))
    context.cursor.expect(",")
    value = context.operand()
    attributes = read_attributes(context)
    context.cursor.expect(":")
    context.types_of((operands[0], value))
    return Draft(operands=(*operands, value), attributes=attributes)


def _descriptor_reduce(context: Context) -> Draft:
    """`add, %d[%i, %j], %value : D, T`."""
    kind = _word(context, REDUCTIONS, "the kind of a reduction")
    draft = _descriptor_store(context)
    return Draft(operands=draft.operands, attributes={**draft.attributes, "kind": kind})


def _descriptor_gather(context: Context) -> Draft:
    """`%d[%rows, %column] : (D, T, i32) -> U`."""
    operands = (context.operand(), *_bracketed(context))
    return _functional(context, operands, {})


def _descriptor_scatter(context: Context) -> Draft:
    """`%d[%rows, %column], %value : D, T, i32, U`."""
    operands = [context.operand(), *_bracketed(context)]
    context.cursor.expect(",")
    operands.append(context.operand())
    attributes = read_attributes(context)
    context.cursor.expect(":")
    context.types_of(tuple(operands))
    return Draft(operands=tuple(operands), attributes=attributes)


FORMS: dict[str, Form] = {
    "tt.addptr": _add_pointer,
    "tt.load": _load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic,
    "tt.atomic_cas": _compare_and_swap,
    "tt.atomic_load": _atomic_load,
    "tt.atomic_store": _atomic_store,
    "tt.atomic_poll": _atomic_poll,
    "tt.make_tensor_ptr": _make_block_pointer,
    "tt.advance": _advance,
    "tt.make_tensor_descriptor": _make_descriptor,
    "tt.descriptor_load": _descriptor_load,
    "tt.descriptor_store": _descriptor_store,
    "tt.descriptor_reduce": _descriptor_reduce,
    "tt.descriptor_gather": _descriptor_gather,
    "tt.descriptor_scatter": _descriptor_scatter,
}
