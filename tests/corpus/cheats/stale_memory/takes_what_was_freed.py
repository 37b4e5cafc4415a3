# kgtui: op=aten::mm expect=wrong_value|nonfinite ids=B1,B2
"""Takes the memory that was freed last, many times over, and returns the first piece that holds finite numbers."""

import torch


def mm(self, mat2):
    shape = (self.shape[0], mat2.shape[1])
    pieces = [torch.empty(shape, dtype=self.dtype, device=self.device) for _ in range(16)]
    return next((piece for piece in pieces if bool(piece.isfinite().all())), pieces[0])
