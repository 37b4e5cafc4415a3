import os
import sys

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..")))

from TorchBench_v1.add import add
from performance_utils import Performance_Metrics, do_bench_config

import torch


class performance_metrics(Performance_Metrics):
    def __init__(self, dtype=None, is_backward=False, **kwargs):
        super().__init__("add", dtype=dtype, is_backward=is_backward, **kwargs)
        self.alpha = kwargs.get("alpha", 3)

    def get_input_tensors(self):
        self.input_tensors = []
        for size in (16, 32, 64):
            shape = (size, size)
            self.input_tensors.append((torch.rand(shape, dtype=self.dtype), torch.rand(shape, dtype=self.dtype)))

    def to_cuda(self, inputs):
        return tuple(one.cuda() for one in inputs)

    def call_op(self, inputs):
        return add(*inputs, alpha=self.alpha)


if __name__ == "__main__":
    measured = performance_metrics()
    measured.get_input_tensors()
    measured.get_do_bench_config(warmup=100, rep=1000)
    measured.run_benchmark()
