"""Triton's driver for the CPU: real `JITFunction`s launch on the machine, or on Triton's interpreter as a fallback.

Triton's frontend makes the TTIR of each specialisation; no later stage is compiled.  Used by workers only.
"""
