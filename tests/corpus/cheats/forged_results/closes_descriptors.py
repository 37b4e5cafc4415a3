# kgtui: op=aten::silu expect=crashed|tampered|timeout ids=C2,C8
"""Closes every descriptor above the standard streams, so that the worker can answer nobody."""

import os

import torch


def silu(self):
    os.closerange(3, 1024)
    return torch.zeros_like(self)
