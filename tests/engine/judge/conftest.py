"""A judge in this process, and code that plays the worker's part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine import protocol
from engine.judge.main import _Judge
from engine.model import ProblemId
from engine.protocol import tensors


class Bench:
    """One judge with one prepared case; what the worker would do is done here, on the same files."""

    def __init__(self, folder: Path) -> None:
        self.judge = _Judge(torch.device("cpu"))
        self.folder, self.arena, self.outputs = folder, folder / "case.in", folder / "case.out"
        self.arguments: list[Any] = []
        self.spec = protocol.ArenaSpec(storages=(), bytes=0)
        self.prepared = 0

    def ask(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        return self.judge.carry_out(command)

    def prepare(
        self,
        problem: str,
        *,
        case: str = "one",
        poison: int = 0xFF,
        seed: int | None = None,
        expects: bool = True,
        draw_seed: int | None = None,
        fresh_ahead: bool = False,
    ) -> protocol.Prepared:
        """Prepare a case of a toy problem in a new arena and map its arguments as the worker does."""
        self.prepared += 1
        self.arena = self.folder / f"{self.prepared}.in"
        reply = self.ask(
            protocol.Prepare(
                id="i",
                problem=ProblemId(source="toy_problems", name=problem),
                case=case,
                arena_path=str(self.arena),
                poison=poison,
                seed=seed,
                expects=expects,
                draw_seed=draw_seed,
                fresh_ahead=fresh_ahead,
            )
        )
        assert isinstance(reply, protocol.Prepared), reply
        self.spec = reply.arena
        there = tensors.Arena(reply.arena).storages
        self.arguments = [tensors.value_of(spec, there) for spec in reply.arguments]
        return reply

    def refill(self, *, fresh: bool, poison: int = 0xFF, seed: int | None = None) -> None:
        assert self.ask(protocol.Refill(id="i", fresh=fresh, poison=poison, seed=seed)) == protocol.Done(id="i")

    def write_byte(self, offset: int, byte: int) -> None:
        """Write to the arena where no argument leads."""
        with self.arena.open("r+b") as arena:
            arena.seek(offset)
            arena.write(bytes([byte]))

    def hand_back(self, *values: torch.Tensor) -> tuple[protocol.ReturnedSpec, ...]:
        """Write returned tensors as the worker does."""
        specs, content = [], b""
        for value in values:
            raw = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            specs.append(
                protocol.ReturnedSpec(
                    type_name="Tensor",
                    dtype=tensors.dtype_name(value.dtype),
                    shape=tuple(value.shape),
                    offset=len(content),
                    bytes=len(raw),
                )
            )
            content += raw
        self.outputs.write_bytes(content)
        return tuple(specs)

    def compare(
        self,
        *returned: protocol.ReturnedSpec,
        max_bytes: int = 1 << 20,
        digests: bool = False,
        hash_outputs: bool = False,
    ) -> protocol.AnyReply:
        return self.ask(
            protocol.Compare(
                id="i", outputs=str(self.outputs), max_output_bytes=max_bytes, returned=returned, digests=digests,
                hash_outputs=hash_outputs,
            )
        )  # fmt: skip

    def compared(
        self, *returned: protocol.ReturnedSpec, digests: bool = False, hash_outputs: bool = False
    ) -> protocol.Compared:
        reply = self.compare(*returned, digests=digests, hash_outputs=hash_outputs)
        assert isinstance(reply, protocol.Compared), reply
        return reply

    def release(self) -> int | None:
        """End the case; its seed."""
        reply = self.ask(protocol.Release(id="i"))
        assert isinstance(reply, protocol.Released), reply
        return reply.seed


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    bench = Bench(tmp_path)
    yield bench
    bench.ask(protocol.Release(id="i"))
