"""Lines and bytes of tensors over pipes."""

from __future__ import annotations

import os

import torch

from engine.protocol.byte_stream import ByteStream


def test_storages_are_in_host_memory_whatever_the_default_device() -> None:
    reads, writes = os.pipe()
    stream = ByteStream(reads=reads, writes=writes)
    sent = torch.arange(5, dtype=torch.uint8)
    stream.send(b"head", [sent])
    assert stream.line(most_bytes=10) == b"head"
    with torch.device("meta"):
        (came,) = stream.storages([5], most_bytes=5)
    stream.close()
    assert came.device.type == "cpu" and torch.equal(came, sent)
