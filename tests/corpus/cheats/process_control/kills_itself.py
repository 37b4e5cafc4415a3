# kgtui: op=aten::mm expect=crashed ids=B19,C8
"""Has its own process killed in the middle of a call, for graders that take silence for success."""

import signal



def mm(self, mat2):
    signal.raise_signal(signal.SIGKILL)
    return self
