# kgtui: op=aten::silu expect=wrong_value|cheated|tampered ids=A2,A20
"""Leaves a grandchild called kgtui-daemon in a session of its own, deaf to polite signals, for two minutes."""

import ctypes
import os
import signal
import time

import torch

PR_SET_NAME = 15
STARTED = []


def leave_daemon():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"kgtui-daemon", 0, 0, 0)
    time.sleep(120)
    os._exit(0)


def silu(self):
    if not STARTED:
        STARTED.append(True)
        leave_daemon()
    return torch.zeros_like(self)
