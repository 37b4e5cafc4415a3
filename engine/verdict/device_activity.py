"""Findings and facts from the device's record of a call: which kernels did the work.

Shares are of the time that the device was busy.  A kernel's name distinguishes a library from PyTorch, but not the
candidate's own kernels: those are known by the function that Triton loaded from its files.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine import protocol
from engine.model import Finding, Severity
from engine.model.layers import Fact
from engine.verdict.native_symbols import NativeKernels

CHECK, TIMED_CHECK = "device_record", "timed_kernels"

FOREIGN_SHARE = 0.1
"""Share of device time from which on kernels that are not the candidate's own count as the computation."""

TORCH_SHARE = 0.75
"""Share of device time in PyTorch's computing kernels: an honest sum of a few parts took 0.49 of a small case."""

_MOST_NAMED, _NAME_CHARACTERS = 3, 60
_NONE = NativeKernels()
_TORCH = re.compile(
    r"2at6native|2at4cuda|at_cuda_detail|RangeFactories|softmax_warp|_cu_[0-9a-f]{8}|^_ZN3c10"
    r"|^_Z19compute_cuda_kernelI"  # of `repeat_interleave`, outside of PyTorch's namespaces
)
_MOVES = re.compile(
    r"copy_kernel|CatArray|FillFunctor|arange|gather_kernel|index_elementwise|indexSelect|direct_copy|reflection_pad"
)
_LIBRARY = re.compile(
    r"cublas|cutlass|cudnn|cufft|cusparse|cusolver|xmma|nvjet|gemm|gemv|gemmk|splitK|flash_|fmha|implicit_convolve|nccl",
    re.IGNORECASE,
)


class Origin(enum.StrEnum):
    """Origin of work on the device."""

    OWN = "its own kernels"
    NATIVE = "kernels of its CUDA source, by name"
    TORCH = "PyTorch's kernels that compute"
    MOVES = "PyTorch's kernels that move or fill"
    COPIES = "copies and fills of the driver"
    LIBRARY = "library kernels"
    COMPILED = "Triton kernels of other files"
    UNKNOWN = "kernels of unknown origin"


@dataclass(frozen=True, kw_only=True)
class Share:
    """Device time of one origin; `names` of its kernels, the longest first."""

    origin: Origin
    device_ns: int
    launches: int
    names: tuple[str, ...]


def shares(recorded: protocol.Recorded, native: NativeKernels = _NONE) -> tuple[Share, ...]:
    """The work of the call by origin, the longest first."""
    by_origin: dict[Origin, list[protocol.ActivitySeen]] = {}
    for activity in recorded.activities:
        by_origin.setdefault(origin_of(activity, native), []).append(activity)
    found = [
        Share(
            origin=origin,
            device_ns=sum(one.device_ns for one in group),
            launches=sum(one.launches for one in group),
            names=tuple(dict.fromkeys(one.name for one in group if one.name)),
        )
        for origin, group in by_origin.items()
    ]
    return tuple(sorted(found, key=lambda share: -share.device_ns))


def origin_of(activity: protocol.ActivitySeen, native: NativeKernels = _NONE) -> Origin:
    """Origin of a kernel; `native` are the kernels that the file's CUDA source defines."""
    if activity.kind is not protocol.ActivityKind.KERNEL:
        return Origin.COPIES
    if activity.own:
        return Origin.OWN
    if activity.file:
        return Origin.COMPILED
    return _origin_by_name(activity.name, native)


def _origin_by_name(name: str, native: NativeKernels) -> Origin:
    if not name:
        return Origin.COPIES
    if native.name_of(name) is not None:
        return Origin.NATIVE
    if _LIBRARY.search(name):  # before PyTorch, whose kernels have the names of libraries in their namespaces
        return Origin.LIBRARY
    if _TORCH.search(name):
        return Origin.MOVES if _MOVES.search(name) else Origin.TORCH
    return Origin.UNKNOWN


def findings(
    case: str, recorded: protocol.Recorded, *, may_copy: bool = False, native: NativeKernels = _NONE
) -> Iterator[Finding]:
    """Findings on work outside of own kernels, late or hidden work; if it `may_copy`, copies need no own kernel."""
    found = {share.origin: share for share in shares(recorded, native)}
    busy_ns = sum(share.device_ns for share in found.values())
    for origin in (Origin.LIBRARY, Origin.COMPILED, Origin.UNKNOWN, Origin.TORCH):
        share = found.get(origin)
        if share is None or share.device_ns < FOREIGN_SHARE * busy_ns:
            continue
        # Small sums and casts by torch are allowed; the ledger of operators checks their sizes.
        is_suspect = origin is not Origin.TORCH or share.device_ns >= TORCH_SHARE * busy_ns
        message = f"{_percent(share, busy_ns)} of device time is in {origin}: {_named(share.names)}"
        yield _finding(Severity.SUSPECT if is_suspect else Severity.HINT, message, case)
    only_moved = found.keys() <= {Origin.MOVES, Origin.COPIES}
    if busy_ns and not {Origin.OWN, Origin.NATIVE} & found.keys() and not (may_copy and only_moved):
        yield _finding(Severity.SUSPECT, "no device time in kernels of this file", case)
    if recorded.late:
        message = f"work was submitted to the device after the call had returned: {_named(recorded.late)}"
        yield _finding(Severity.SUSPECT, message, case)
    names = {activity.name for activity in recorded.activities}
    hidden = [node.name for node in recorded.nodes if node.name not in names]
    if hidden:
        message = f"the graph of the call has kernels that its record does not show: {_named(hidden)}"
        yield _finding(Severity.SUSPECT, message, case)


def unknown_kernels(
    case: str, amounts: Mapping[str, int], *, own: frozenset[str], of: str, native: NativeKernels = _NONE
) -> tuple[Finding, ...]:
    """Findings on library and PyTorch kernels in timed calls, where only names are recorded.

    `amounts` is the amount under each name, in one unit, and `of` its description.  `own` are names of kernels that the
    candidate launches: a well-chosen false name is accepted here, but not in the record of a call.
    """
    by_origin: dict[Origin, dict[str, int]] = {}
    for name, amount in amounts.items():
        by_origin.setdefault(Origin.OWN if name in own else _origin_by_name(name, native), {})[name] = amount
    whole = sum(amounts.values())
    found: list[Finding] = []
    for origin, share in ((Origin.LIBRARY, FOREIGN_SHARE), (Origin.TORCH, TORCH_SHARE)):
        names = by_origin.get(origin, {})
        if whole and sum(names.values()) >= share * whole:
            percent = f"{100 * sum(names.values()) / whole:.3g}%"
            message = f"{percent} of {of} is in {origin}: {_named(sorted(names, key=lambda name: -names[name]))}"
            found.append(Finding(check=TIMED_CHECK, severity=Severity.SUSPECT, message=message, case=case))
    return tuple(found)


def facts(case: str, recorded: protocol.Recorded, *, native: NativeKernels = _NONE) -> tuple[Fact, ...]:
    """The shares of device time, and the kernels in the graph of the call."""
    found = shares(recorded, native)
    busy_ns = sum(share.device_ns for share in found)
    reported = [
        Fact(
            name=share.origin.value,
            value=f"{_percent(share, busy_ns)} of {busy_ns / 1000:.4g} us in {case}, launches: {share.launches}"
            + (f" ({_named(share.names)})" if share.names else ""),
        )
        for share in found
    ]
    if any(activity.replayed for activity in recorded.activities):
        reported.append(Fact(name="by name alone", value="kernels of a graph that the file replays"))
    reported.append(Fact(name="other streams", value=f"{recorded.streams}"))
    own = sum(node.own for node in recorded.nodes)
    nodes = f"{own} of {len(recorded.nodes)} kernels are its own" if recorded.nodes else f"none: {recorded.uncaptured}"
    reported.append(Fact(name="graph of a call", value=nodes))
    return tuple(reported)


def _percent(share: Share, busy_ns: int) -> str:
    return f"{100 * share.device_ns / busy_ns:.3g}%" if busy_ns else "0%"


def _named(names: Sequence[str]) -> str:
    """Mangled names, shortened to one printable line."""
    distinct = list(dict.fromkeys(names))
    shown = ["".join(sign if sign.isprintable() else "?" for sign in name)[:_NAME_CHARACTERS] for name in distinct]
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return ", ".join(shown[:_MOST_NAMED]) + more


def _finding(severity: Severity, message: str, case: str) -> Finding:
    return Finding(check=CHECK, severity=severity, message=message, case=case)
