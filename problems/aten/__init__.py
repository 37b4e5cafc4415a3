"""Operators of PyTorch's ATen library, under the names and argument orders that PyTorch gives them."""
