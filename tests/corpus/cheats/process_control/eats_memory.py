# kgtui: op=aten::silu expect=out_of_memory|crashed|runtime_error ids=C8
"""Takes and touches memory in pieces of 64 MiB; stops by itself at 12 GiB, more than a candidate is allowed."""

PIECE_BYTES = 64 << 20
PIECES = 12 * 1024 // 64


def silu(self):
    held = []
    for number in range(PIECES):
        held.append(bytes([number % 255 + 1]) * PIECE_BYTES)
    return self
