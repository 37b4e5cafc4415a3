"""Lines and bytes of tensors over pipes, large ones through a file beside them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from engine.protocol.messages import TensorSpec
from engine.protocol.transport.byte_stream import ByteStream, StreamError, checked_values
from engine.protocol.transport.byte_window import CHUNK_BYTES, PLACES, ByteWindow


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Both ends of a stream in two threads; `folder` has their file."""

    sender: ByteStream
    receiver: ByteStream
    file: Path

    def transfer(self, storages: list[torch.Tensor], *, sizes: list[int] | None = None) -> list[torch.Tensor]:
        """The storages as they come."""
        sending = threading.Thread(target=self._send, args=(storages,))
        sending.start()
        assert self.receiver.line(most_bytes=16) == b"head"
        try:
            return self.receiver.storages(sizes or [part.numel() for part in storages], most_bytes=1 << 30)
        finally:
            self.receiver.close()
            sending.join()

    def _send(self, storages: list[torch.Tensor]) -> None:
        with contextlib.suppress(StreamError):
            self.sender.send(b"head", storages)


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[Ends]:
    (reads, writes), (other_reads, other_writes) = os.pipe(), os.pipe()
    file = tmp_path / "window"
    made = Ends(
        sender=ByteStream(reads=other_reads, writes=writes, window=ByteWindow(file, creates=True)),
        receiver=ByteStream(reads=reads, writes=other_writes, window=ByteWindow(file)),
        file=file,
    )
    yield made
    made.receiver.close()
    made.sender.close()


def octets(count: int) -> torch.Tensor:
    return torch.arange(count, dtype=torch.int32).view(torch.uint8)


@pytest.mark.parametrize(
    "sizes", [(100, 0, 7), (1 << 18, 3), (5 * (CHUNK_BYTES // 4) + 1, 0, 9)], ids=["pipe", "one chunk", "many chunks"]
)
def test_storages_of_every_size_are_complete(ends: Ends, sizes: tuple[int, ...]) -> None:
    sent = [octets(size) for size in sizes]
    found = ends.transfer(sent)
    assert all(torch.equal(one, other) for one, other in zip(found, sent, strict=True))


def test_large_storages_pass_through_a_small_file(ends: Ends) -> None:
    ends.transfer([octets(CHUNK_BYTES)])
    assert ends.file.stat().st_size == PLACES * CHUNK_BYTES


def test_window_file_cut_short_is_refused(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ByteWindow, "write", lambda self, content, *, place: os.truncate(ends.file, 0))
    with pytest.raises(StreamError, match="cut short"):
        ends.transfer([octets(CHUNK_BYTES)])


def test_markers_out_of_step_are_refused(ends: Ends) -> None:
    with pytest.raises(StreamError, match="out of sync"):
        ends.transfer([octets(64)], sizes=[CHUNK_BYTES])


def test_storages_are_in_host_memory_under_other_device(ends: Ends) -> None:
    with torch.device("meta"):
        (came,) = ends.transfer([torch.arange(5, dtype=torch.uint8, device="cpu")])
    assert came.device.type == "cpu" and came.tolist() == [0, 1, 2, 3, 4]


def test_long_line_refused(ends: Ends) -> None:
    ends.sender.send(b"x" * 100)
    with pytest.raises(StreamError, match="more than 10"):
        ends.receiver.line(most_bytes=10)


def test_tensor_past_its_storage_refused() -> None:
    spec = TensorSpec(storage=0, dtype="int64", shape=(2, 3), strides=(4, 1), first=1)
    assert checked_values((spec,), [torch.zeros(64, dtype=torch.uint8)])
    with pytest.raises(StreamError):
        checked_values((spec,), [torch.zeros(63, dtype=torch.uint8)])
