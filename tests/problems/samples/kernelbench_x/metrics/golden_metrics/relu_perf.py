import os
import sys

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..")))

from kernelbenchx.Activation.relu import relu
from performance_utils import Performance_Metrics

import torch
import triton


class performance_metrics(Performance_Metrics):
    def __init__(self, dtype=torch.float32, is_backward=False, **kwargs):
        super().__init__("relu", dtype=dtype, is_backward=is_backward, **kwargs)

    def get_input_tensors(self):
        self.input_tensors = [torch.rand(2**power, dtype=self.dtype) for power in range(4, 8)]

    def to_cuda(self, input_tensor):
        return input_tensor.cuda()

    def call_op(self, input_tensor):
        return relu(input_tensor)

    def get_gbps(self, input_tensor, runtime):
        return 2 * input_tensor.numel() * input_tensor.element_size() / (runtime / 1000) / 1e9


if __name__ == "__main__":
    performance_metrics().run_benchmark()
