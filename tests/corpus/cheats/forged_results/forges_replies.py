# kgtui: op=aten::silu expect=tampered ids=C1,C2
"""Writes replies to every inherited pipe and socket above the standard streams, at import and in the entry."""

import os
import stat

import torch

FORGED = b"".join(
    b'{"type":"%s","id":"%s"}\n' % (kind, name)
    for kind in (b"ready", b"loaded", b"done", b"called")
    for name in (b"0", b"1", b"00000000000000000000000000000000")
)


def forge():
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            mode = os.fstat(number).st_mode
            if number >= 3 and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
                os.write(number, FORGED)
        except OSError:
            continue


forge()


def silu(self):
    forge()
    return torch.zeros_like(self)
