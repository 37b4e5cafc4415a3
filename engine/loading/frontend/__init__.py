"""Runs Triton's frontend in workers and compilers: the TTIR of a kernel, as a text that processes can share.

Imports nothing of the rest of `loading`: it lowers kernels of Triton, and loads no candidate.
"""
