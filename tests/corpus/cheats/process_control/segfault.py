# kgtui: op=aten::silu expect=crashed ids=B19,C8
"""Reads address 0 through ctypes: the process dies by a signal in the middle of a call."""

import ctypes


def silu(self):
    ctypes.string_at(0)
    return self
