# kgtui: op=aten::silu expect=timeout ids=C8
"""Sleeps at import, so that its entry is never reached; wakes by itself after two minutes."""

import time

time.sleep(120)


def silu(self):
    return self
