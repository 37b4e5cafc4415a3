# kgtui: op=aten::silu expect=wrong_value|timeout ids=C8
"""Prints 1 GB in every process that calls it, then returns zeros; a reader that keeps it all runs out of memory."""

import sys

import torch

MEGABYTE = "a line of sixty-four characters, repeated until it is too many.\n" * 16384
PRINTED = []


def silu(self):
    if not PRINTED:
        PRINTED.append(True)
        for _ in range(1024):
            sys.stdout.write(MEGABYTE)
        sys.stdout.flush()
    return torch.zeros_like(self)
