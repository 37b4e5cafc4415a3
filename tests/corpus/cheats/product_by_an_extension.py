# kgtui: op=aten::mm expect=timeout|runtime_error|crashed|pass finding=behaviour ids=D3
"""A product by at::matmul in C++ text that is compiled while loading, which takes longer than loading may."""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = "at::Tensor product(at::Tensor a, at::Tensor b) { return at::matmul(a, b); }"
extension = load_inline("product", cpp_sources=SOURCE, functions=["product"])


def mm(self, mat2):
    return extension.product(self, mat2)
