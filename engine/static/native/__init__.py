"""CUDA and C++ in the strings of a candidate: the texts that it compiles, and their content.

Reads the syntax tree and the strings only; nothing is compiled or run.  `literals` maps characters of a string to the
file, `extensions` finds the calls that compile, `code` removes comments and finds kernels in a text.
"""
