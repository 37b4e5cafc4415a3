# kgtui: op=aten::mm expect=wrong_value|out_of_memory|crashed|runtime_error|timeout ids=C8
"""Writes a file of up to 2 GiB wherever it may, once in the life of its process, and removes it; returns zeros."""

import os
from pathlib import Path

import torch

PIECE = bytes(16 << 20)
PIECES = 128
WRITTEN = []


def fill():
    for place in (Path.cwd(), Path("/tmp"), Path("/dev/shm")):
        path = place / f"filling-{os.getpid()}"
        try:
            with path.open("wb") as file:
                path.unlink()  # its blocks go when the process does, whatever ends it
                for _ in range(PIECES):
                    file.write(PIECE)
            return
        except OSError:
            continue


def mm(self, mat2):
    if not WRITTEN:
        WRITTEN.append(True)
        fill()
    return torch.zeros((self.shape[0], mat2.shape[1]), dtype=self.dtype, device=self.device)
