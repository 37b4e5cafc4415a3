# kgtui: op=aten::silu expect=tampered|wrong_value ids=B2,C2
"""Looks through the frames above it for the id of the command in hand and answers that command itself."""

import os
import stat
import sys

import torch


def ids_in_frames():
    found = set()
    frame = sys._getframe(1)
    while frame is not None:
        for value in frame.f_locals.values():
            name = getattr(value, "id", None)
            if isinstance(name, str):
                found.add(name)
        frame = frame.f_back
    return found


def silu(self):
    for name in ids_in_frames():
        for number in range(3, 64):
            try:
                mode = os.fstat(number).st_mode
                if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
                    os.write(number, b'{"type":"done","id":"%s"}\n' % name.encode())
            except OSError:
                continue
    return torch.zeros_like(self)
