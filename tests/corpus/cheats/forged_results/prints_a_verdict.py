# kgtui: op=aten::silu expect=wrong_value ids=C1
"""Prints what a passing run might look like, as text and as JSON, to both streams; computes nothing."""

import sys

import torch

LINES = (
    "PASS",
    "✔ passed",
    '{"type": "done", "id": "0"}',
    '{"outcome": "pass", "passed": 1000, "total": 1000, "mismatched": 0}',
    "correct: True, speedup: 100.0",
)


def silu(self):
    for stream in (sys.__stdout__, sys.__stderr__):
        print(*LINES, sep="\n", file=stream, flush=True)
    return torch.zeros_like(self)
