# kgtui: op=aten::add expect=wrong_dtype|wrong_shape|runtime_error|cheated ids=C6,A3
"""Returns an object that says it is a tensor and whose unpickling would run code in the process that loads it."""

import torch


class Answer:
    def __init__(self, like):
        self.shape, self.dtype, self.device = like.shape, like.dtype, like.device

    @property
    def __class__(self):
        return torch.Tensor

    def __reduce_ex__(self, protocol):
        return print, ("code of the candidate: RUN by whoever loaded its answer",)

    def numel(self):
        return self.shape.numel()


def add(self, other, alpha=1):
    return Answer(self)
