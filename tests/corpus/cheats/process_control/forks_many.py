# kgtui: op=aten::silu expect=wrong_value|crashed|runtime_error|timeout|tampered ids=C8
"""Doubles its processes nine times, 512 in all at most; each copy sleeps half a minute and exits."""

import os
import time

import torch

DOUBLINGS = 9
STARTED = []


def multiply():
    first = os.getpid()
    try:
        for _ in range(DOUBLINGS):
            os.fork()
    except OSError:
        pass  # a limit on processes was met
    if os.getpid() != first:
        time.sleep(30)
        os._exit(0)


def silu(self):
    if not STARTED:
        STARTED.append(True)
        multiply()
    return torch.zeros_like(self)
