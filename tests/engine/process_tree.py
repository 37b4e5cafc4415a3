"""The processes of an engine, as the kernel lists them."""

from __future__ import annotations

from pathlib import Path

from engine.engine import Engine


def fork_servers_of(engine: Engine) -> list[int]:
    """The process ids of the fork servers; every other process of the engine is below them."""
    return [server.pid for server in engine._fork_servers if server.pid is not None]


def children_of(pid: int) -> list[int]:
    """The process ids of a process's children; raises OSError where it has ended."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
