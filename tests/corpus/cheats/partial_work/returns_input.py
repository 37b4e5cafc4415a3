# kgtui: op=aten::silu expect=wrong_value ids=A21,B9
"""Launches nothing and returns its own input, which has the right shape and dtype."""


def silu(self):
    return self
