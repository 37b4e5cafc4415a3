"""Bounds of messages: every text, number and list of a reply has a limit."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from engine import protocol
from engine.errors import WireError
from tests.engine.protocol.examples import CALLED


def test_launch_with_too_large_numbers_is_wire_error() -> None:
    plain = {
        "kernel": "k",
        "signature": {},
        "constants": {},
        "divisible_by_16": [],
        "num_warps": 10**30,
        "num_stages": 1,
        "grid": [1],
        "line": 1,
    }
    with pytest.raises(WireError):
        protocol.decode_reply(json.dumps({**CALLED, "launches": [plain]}).encode())


HUGE = 2**63
LAUNCHED: dict[str, Any] = {
    "kernel": "k",
    "signature": {},
    "constants": {},
    "divisible_by_16": [],
    "num_warps": 4,
    "num_stages": 1,
    "grid": [1],
    "line": 1,
}


FAILED: dict[str, Any] = {"type": "failed", "id": "i", "kind": "raised", "message": "m"}
CHECKED: dict[str, Any] = {"type": "memory_checked", "id": "i"}
ACCESS: dict[str, Any] = {
    "access": "load",
    "kernel": "k",
    "tensor": "x",
    "index": 1,
    "elements": 1,
    "program": [0, 0, 0],
    "location": None,
}


COMPILED: dict[str, Any] = {"type": "compiled", "id": "i", "stages": {}}
TIMED: dict[str, Any] = {"type": "timed", "id": "i"}
OBSERVED: dict[str, Any] = {"type": "observed", "id": "i"}
OPERATOR: dict[str, Any] = {"name": "aten::mm", "kind": "compute"}
ACTION: dict[str, Any] = {"kind": "socket", "detail": "d"}
CHANGE: dict[str, Any] = {"kind": "function", "name": "n"}
CALL: dict[str, Any] = {"span_ns": 1, "stream_ns": 1, "activities": 1}


def many(count: int) -> dict[str, str]:
    return {str(number): "x" for number in range(count)}


def tensor(**fields: Any) -> dict[str, Any]:
    return {"returned": [{"type_name": "Tensor", **fields}]}


def launched(**fields: Any) -> dict[str, Any]:
    return {"launches": [{**LAUNCHED, **fields}]}


@pytest.mark.parametrize(
    ("reply", "most", "beyond"),
    [
        (CALLED, {"id": "i" * 64}, {"id": "i" * 65}),
        (CALLED, {"returned": [{"type_name": "int"}] * 64}, {"returned": [{"type_name": "int"}] * 65}),
        (CALLED, tensor(shape=[1] * 64), tensor(shape=[1] * 65)),
        (CALLED, tensor(shape=[HUGE - 1]), tensor(shape=[HUGE])),
        (CALLED, tensor(bytes=HUGE - 1), tensor(bytes=HUGE)),
        (CALLED, tensor(offset=HUGE - 1), tensor(offset=HUGE)),
        (CALLED, tensor(dtype="x" * 512), tensor(dtype="x" * 513)),
        (CALLED, tensor(type_name="x" * 512), tensor(type_name="x" * 513)),
        (CALLED, {"launches": [LAUNCHED] * 512}, {"launches": [LAUNCHED] * 513}),
        (CALLED, launched(count=HUGE - 1), launched(count=HUGE)),
        (CALLED, launched(num_stages=1 - HUGE), launched(num_stages=-HUGE - 1)),
        (CALLED, launched(grid=[HUGE - 1]), launched(grid=[10**30])),
        (CALLED, launched(grid=[1] * 16), launched(grid=[1] * 17)),
        (CALLED, launched(kernel="k" * 512), launched(kernel="k" * 513)),
        (CALLED, launched(signature=many(1024)), launched(signature=many(1025))),
        (CALLED, launched(signature={"x" * 512: ""}), launched(signature={"x" * 513: ""})),
        (CALLED, launched(constants={"x": "y" * (1 << 16)}), launched(constants={"x": "y" * ((1 << 16) + 1)})),
        (CALLED, launched(options=many(1024)), launched(options=many(1025))),
        (CALLED, launched(divisible_by_16=["x"] * 1024), launched(divisible_by_16=["x"] * 1025)),
        (CALLED, launched(divisible_by_16=["x" * 512]), launched(divisible_by_16=["x" * 513])),
        (FAILED, launched(line=HUGE - 1), launched(line=HUGE)),
        (FAILED, {"message": "x" * (1 << 16)}, {"message": "x" * ((1 << 16) + 1)}),
        (FAILED, {"trace": "x" * (1 << 16)}, {"trace": "x" * ((1 << 16) + 1)}),
        (FAILED, {"line": HUGE - 1}, {"line": HUGE}),
        (FAILED, {"out_of_bounds": {**ACCESS, "index": HUGE - 1}}, {"out_of_bounds": {**ACCESS, "index": HUGE}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "elements": 1}}, {"out_of_bounds": {**ACCESS, "elements": HUGE}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "program": [0, 0, 1]}},
         {"out_of_bounds": {**ACCESS, "program": [0, 0, HUGE]}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "tensor": "x"}}, {"out_of_bounds": {**ACCESS, "tensor": "x" * 513}}),
        (CHECKED, {"out_of_bounds": {**ACCESS, "tensor": "x"}}, {"out_of_bounds": {**ACCESS, "tensor": "x" * 513}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "location": {"line": HUGE - 1}}},
         {"out_of_bounds": {**ACCESS, "location": {"line": HUGE}}}),
        (COMPILED, {"stages": many(16)}, {"stages": many(17)}),
        (COMPILED, {"stages": {"x" * 512: "y"}}, {"stages": {"x" * 513: "y"}}),
        (COMPILED, {"stages": {"x": "y" * 4096}}, {"stages": {"x": "y" * 4097}}),
        (COMPILED, {"registers": HUGE - 1}, {"registers": HUGE}),
        (COMPILED, {"spill_bytes": 0}, {"spill_bytes": -1}),
        (COMPILED, {"shared_bytes": HUGE - 1}, {"shared_bytes": 10**30}),
        (COMPILED, {"cache": ["x"] * 1024}, {"cache": ["x"] * 1025}),
        (COMPILED, {"cache": ["x" * 4096]}, {"cache": ["x" * 4097]}),
        (TIMED, {"calls": [CALL] * 4096}, {"calls": [CALL] * 4097}),
        (TIMED, {"calls": [{**CALL, "span_ns": HUGE - 1}]}, {"calls": [{**CALL, "span_ns": HUGE}]}),
        (TIMED, {"returned": [[]] * 4096}, {"returned": [[]] * 4097}),
        (TIMED, {"returned": [[{"type_name": ""}] * 64]}, {"returned": [[{"type_name": ""}] * 65]}),
        (TIMED, {"kernels": [{"name": "k"}] * 256}, {"kernels": [{"name": "k"}] * 257}),
        (TIMED, {"late": ["k"] * 256}, {"late": ["k"] * 257}),
        (TIMED, {"late": ["k" * 512]}, {"late": ["k" * 513]}),
        (TIMED, {"late": ["k"] * 256}, {"late": ["k"] * 257}),
        (TIMED, {"notes": ["x"] * 64}, {"notes": ["x"] * 65}),
        (TIMED, {"notes": ["x"]}, {"notes": ["x" * ((1 << 16) + 1)]}),
        (TIMED, {"method": "x" * 512}, {"method": "x" * 513}),
        (TIMED, {"reason": "x" * (1 << 16)}, {"reason": "x" * ((1 << 16) + 1)}),
        (TIMED, {"elapsed_ns": HUGE - 1}, {"elapsed_ns": HUGE}),
        (OBSERVED, {"operators": [OPERATOR] * 1024}, {"operators": [OPERATOR] * 1025}),
        (OBSERVED, {"operators": [{**OPERATOR, "uses": HUGE - 1}]}, {"operators": [{**OPERATOR, "uses": HUGE}]}),
        (OBSERVED, {"operators": [{**OPERATOR, "name": "x" * 512}]}, {"operators": [{**OPERATOR, "name": "x" * 513}]}),
        (OBSERVED, {"operators": [OPERATOR]}, {"operators": [{**OPERATOR, "kind": "harmless"}]}),
        (OBSERVED, {"actions": [ACTION] * 256}, {"actions": [ACTION] * 257}),
        (OBSERVED, {"actions": [{**ACTION, "line": 1}]}, {"actions": [{**ACTION, "line": 0}]}),
        (OBSERVED, {"actions": [{**ACTION, "detail": "x" * 512}]}, {"actions": [{**ACTION, "detail": "x" * 513}]}),
        (OBSERVED, {"changes": [CHANGE] * 256}, {"changes": [CHANGE] * 257}),
        (OBSERVED, {"changes": [{**CHANGE, "detail": ""}]}, {"changes": [{**CHANGE, "detail": "x" * 513}]}),
        (OBSERVED, {"unchecked": ["x"] * 16}, {"unchecked": ["x"] * 17}),
        ({"type": "loaded", "id": "i"}, {"siblings": ["x"] * 1024}, {"siblings": ["x"] * 1025}),
        ({"type": "loaded", "id": "i"}, {"siblings": ["x" * 4096]}, {"siblings": ["x" * 4097]}),
        ({"type": "ready", "id": "i"}, {"confinement": ["x"] * 64}, {"confinement": ["x"] * 65}),
        ({"type": "ready", "id": "i"}, {"versions": many(64)}, {"versions": many(65)}),
        ({"type": "dry_run_done", "id": "i"}, {"launches": [{"launch": LAUNCHED, "specialisation": "x"}] * 512},
         {"launches": [{"launch": LAUNCHED, "specialisation": "x"}] * 513}),
        ({"type": "dry_run_done", "id": "i"}, {"launches": [{"launch": LAUNCHED, "specialisation": "x"}]},
         {"launches": [{"launch": LAUNCHED, "specialisation": "x" * ((1 << 16) + 1)}]}),
        ({"type": "dry_run_done", "id": "i"}, {"launches": [{"launch": LAUNCHED, "specialisation": "x"}]},
         {"launches": [{"launch": {**LAUNCHED, "num_warps": HUGE}, "specialisation": "x"}]}),
    ],
)  # fmt: skip
def test_every_worker_reply_field_is_bounded(
    reply: dict[str, Any], most: dict[str, Any], beyond: dict[str, Any]
) -> None:
    protocol.decode_reply(json.dumps({**reply, **most}).encode())
    with pytest.raises(WireError, match=r"^not a reply: "):
        protocol.decode_reply(json.dumps({**reply, **beyond}).encode())


JUDGES = (
    protocol.Prepared,
    protocol.Described,
    protocol.Compared,
    protocol.Released,
    protocol.Arranged,
    protocol.Checked,
    protocol.PeaksMeasured,
    protocol.MemoryShared,
    protocol.VariantLaidOut,
    protocol.Audited,
)


@pytest.mark.parametrize("kind", [kind for kind in get_args(protocol.AnyReply) if kind not in JUDGES])
def test_every_text_number_and_list_is_bounded(kind: type[protocol.Reply]) -> None:
    assert unbounded(msgspec.inspect.type_info(kind)) == set()


def unbounded(kind: Any, place: str = "") -> set[str]:  # Any: msgspec's own types
    """Where a type has no end; the engine's own records, which are bounded by hand, are passed over."""
    inspect = msgspec.inspect
    inner = [(part, place) for part in getattr(kind, "types", ())]
    if isinstance(kind, inspect.StructType):
        inner = [(field.type, f"{place}.{field.name}") for field in kind.fields]
    for name in ("item_type", "key_type", "value_type"):
        inner += [(getattr(kind, name), f"{place}[]")] if hasattr(kind, name) else []
    endless = isinstance(kind, inspect.IntType) and None in (kind.le, kind.ge)
    if isinstance(kind, inspect.StrType | inspect.VarTupleType | inspect.DictType):
        endless = kind.max_length is None
    return ({place} if endless else set()).union(*(unbounded(part, there) for part, there in inner))


@pytest.mark.parametrize("poison", [-1, 256])
def test_poison_is_one_byte(poison: int) -> None:
    line = protocol.encode(protocol.Refill(id="i", fresh=False, poison=poison))
    with pytest.raises(WireError):
        protocol.decode_command(line)
