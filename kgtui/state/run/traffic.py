"""Memory accesses of a kernel, counted by the TTIR machine in its first launch: bytes, sectors, coalescing."""

from __future__ import annotations

from engine.model import AccessTraffic, Launch, Traffic
from kgtui.state.format import numbers
from kgtui.state.format.lines import Line, Span, Tone, line, muted

_MOST_LINES = 4
_UNCOALESCED_PERCENT = 50  # share of the bytes of touched sectors


def traffic_lines(launch: Launch) -> tuple[Line, ...]:
    """A line for the whole launch and one for each load, store and atomic; none if nothing was counted."""
    traffic = launch.traffic
    if traffic is None or not traffic.accesses:
        return ()
    shown = [_access_line(access) for access in traffic.accesses[:_MOST_LINES]]
    if len(traffic.accesses) > _MOST_LINES:
        shown.append(line(muted(f"  and {len(traffic.accesses) - _MOST_LINES} more accesses")))
    return (_total_line(traffic), *shown)


def _total_line(traffic: Traffic) -> Line:
    requested = sum(access.requested_bytes for access in traffic.accesses)
    programs = f"{traffic.programs:,} program{'s' if traffic.programs != 1 else ''}"
    return line(muted(f"first launch: {programs}, {numbers.bytes_of(requested)} requested; sectors have 32 B"))


def _access_line(access: AccessTraffic) -> Line:
    """One operation: its line, bytes, and share of the touched sectors."""
    where = f"line {access.line}" if access.line is not None else "in a library"
    used = access.used_percent
    is_poor = used is not None and used < _UNCOALESCED_PERCENT
    share = "no sector" if used is None else f"{numbers.percent(used)} of {access.sectors:,} sectors used"
    return line(
        f"  {where} {access.kind} {', '.join(access.tensors)}: ",
        f"{numbers.bytes_of(access.requested_bytes)} requested, {numbers.bytes_of(access.distinct_bytes)} distinct, ",
        Span(share, Tone.WARN if is_poor else Tone.PLAIN),
    )
