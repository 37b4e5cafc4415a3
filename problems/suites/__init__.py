"""Problems of public suites: their files are read here and become problems like those of the catalogue.

Readers take names, levels and sizes from paths, syntax trees and data; nothing here imports torch or Triton, or runs a
suite's code. Only `harness/` runs it, which only the reference process imports.
"""
