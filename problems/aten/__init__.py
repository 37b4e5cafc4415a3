"""Operators of PyTorch's ATen library, under the names and argument orders that PyTorch gives them.

One module is one operator, found by scanning, so the folder stays flat.
"""
