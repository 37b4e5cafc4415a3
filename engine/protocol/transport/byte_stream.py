"""Lines and raw bytes of tensors over a pair of pipes, with limits on size and waiting time.

Many bytes go through a file beside the pipes, see ByteWindow; the number of bytes alone decides which way.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator, Sequence

import torch

from engine.protocol import tensors
from engine.protocol.messages import TensorSpec, ValueSpec, tensor_specs
from engine.protocol.transport.byte_window import CHUNK_BYTES, PLACES, ByteWindow, WindowError

_PIPED_AT_ONCE_BYTES = 1 << 20
_WAIT_MS = 250
_MOST_PIPED_BYTES = 256 << 10
_READY, _FREE = b"r", b"f"
_HOST = torch.device("cpu")


class StreamError(Exception):
    """The other end closed its pipe, sent nothing, or sent a wrong number of bytes; the message has the case."""


class ByteStream:
    """One end of two pipes, which may be non-blocking."""

    def __init__(self, *, reads: int, writes: int, window: ByteWindow, waits: Callable[[], None] | None = None) -> None:
        """`waits` is called before every chunk and four times a second while none comes; it raises to stop waiting."""
        self._reads, self._writes = reads, writes
        self._window = window
        self._waits = waits
        self._kept = bytearray()
        os.set_blocking(reads, False)
        os.set_blocking(writes, False)

    def send(self, line: bytes, storages: Sequence[torch.Tensor] = ()) -> None:
        """Write a line and the bytes of storages (uint8, on any device).

        Raises:
            StreamError: the other end is closed, or does not read.
        """
        self._write(line + b"\n")
        parts = [storage for storage in storages if storage.numel()]
        if sum(part.numel() for part in parts) > _MOST_PIPED_BYTES:
            self._send_by_window(parts)
            return
        for part in parts:
            self._write(part.cpu().contiguous().numpy().data.cast("B"))

    def line(self, *, most_bytes: int) -> bytes:
        """The next line without its end.

        Raises:
            StreamError: the other end is closed or silent, or the line is too long.
        """
        while (end := self._kept.find(b"\n")) < 0:
            if len(self._kept) > most_bytes:
                raise StreamError(f"a line of more than {most_bytes:,} bytes")
            self._kept += self._read(_PIPED_AT_ONCE_BYTES)
        if end > most_bytes:
            raise StreamError(f"a line of more than {most_bytes:,} bytes")
        found = bytes(self._kept[:end])
        del self._kept[: end + 1]
        return found

    def storages(self, sizes: Sequence[int], *, most_bytes: int, device: torch.device = _HOST) -> list[torch.Tensor]:
        """The bytes that follow, cut into storages of these sizes; private memory of the device.

        Raises:
            StreamError: they are more than `most_bytes`, or do not come.
        """
        if sum(sizes) > most_bytes:
            raise StreamError(f"{sum(sizes):,} bytes of tensors, and at most {most_bytes:,} are taken")
        if sum(sizes) > _MOST_PIPED_BYTES:
            made = [torch.empty(size, dtype=torch.uint8, device=device) for size in sizes]
            self._receive_by_window([part for part in made if part.numel()])
            return made
        return [self._storage(size).to(device) for size in sizes]

    def close(self) -> None:
        """Close both pipes and the file.  Safe to call twice."""
        self._window.close()
        while self._reads >= 0:
            os.close(self._reads)
            os.close(self._writes)
            self._reads = self._writes = -1

    def _send_by_window(self, parts: Sequence[torch.Tensor]) -> None:
        """Send chunk after chunk, at most PLACES of them before the other end has copied the first."""
        chunks = list(_chunks(parts))
        for number, chunk in enumerate(chunks):
            if number >= PLACES:
                self._expect(_FREE)
            self._window.write(chunk, place=number % PLACES)
            self._write(_READY)
        for _ in chunks[-PLACES:]:
            self._expect(_FREE)

    def _receive_by_window(self, parts: Sequence[torch.Tensor]) -> None:
        for number, chunk in enumerate(_chunks(parts)):
            self._expect(_READY)
            try:
                self._window.read(chunk, place=number % PLACES)
            except WindowError as error:
                raise StreamError(str(error)) from error
            self._write(_FREE)

    def _expect(self, sign: bytes) -> None:
        """Read one byte off the pipe.

        Raises:
            StreamError: it is another byte than `sign`.
        """
        if not self._kept:
            self._kept += self._read(_PIPED_AT_ONCE_BYTES)
        taken = bytes(self._kept[:1])
        del self._kept[:1]
        if taken != sign:
            raise StreamError("its bytes are out of sync")

    def _storage(self, size: int) -> torch.Tensor:
        made = torch.empty(size, dtype=torch.uint8, device="cpu")  # whatever the default device is
        rest = made.numpy().data.cast("B") if size else memoryview(b"")
        while rest:
            taken = bytes(self._kept[: len(rest)]) or self._read(min(len(rest), _PIPED_AT_ONCE_BYTES))
            if self._kept:
                del self._kept[: len(taken)]
            rest[: len(taken)] = taken
            rest = rest[len(taken) :]
        return made

    def _read(self, most_bytes: int) -> bytes:
        while True:
            self._wait(self._reads, select.POLLIN)
            try:
                content = os.read(self._reads, most_bytes)
            except BlockingIOError:
                continue
            if not content:
                raise StreamError("it ended")
            return content

    def _write(self, content: bytes | memoryview) -> None:
        rest = memoryview(content)
        while rest:
            self._wait(self._writes, select.POLLOUT)
            try:
                rest = rest[os.write(self._writes, rest[:_PIPED_AT_ONCE_BYTES]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as error:
                raise StreamError("it ended") from error

    def _wait(self, handle: int, event: int) -> None:
        poll = select.poll()
        poll.register(handle, event)
        while True:
            if self._waits is not None:
                self._waits()
            if poll.poll(None if self._waits is None else _WAIT_MS):
                return


def _chunks(parts: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """The bytes of all parts, at most CHUNK_BYTES of one at a time."""
    for part in parts:
        for begin in range(0, part.numel(), CHUNK_BYTES):
            yield part[begin : begin + CHUNK_BYTES]


def checked_values(specs: Sequence[ValueSpec], storages: Sequence[torch.Tensor]) -> tuple[object, ...]:
    """The values of these specs, after checking that every tensor fits its storage.

    Raises:
        StreamError: one does not.
    """
    for spec in specs:
        for part in tensor_specs(spec):
            _require_fit(part, storages)
    return tuple(tensors.value_of(spec, storages) for spec in specs)


def _require_fit(spec: TensorSpec, storages: Sequence[torch.Tensor]) -> None:
    try:
        element_bytes = tensors.dtype_named(spec.dtype).itemsize
    except ValueError as error:
        raise StreamError(str(error)) from error
    if spec.storage >= len(storages) or len(spec.shape) != len(spec.strides) or min(spec.strides, default=0) < 0:
        raise StreamError("a tensor that no storage holds")
    if 0 in spec.shape:
        return
    last = spec.first + sum((size - 1) * stride for size, stride in zip(spec.shape, spec.strides, strict=True))
    if (last + 1) * element_bytes > storages[spec.storage].numel():
        raise StreamError("a tensor that is larger than its storage")
