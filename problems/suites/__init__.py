"""Problems of other people's suites: their files are read here and become problems like those of the catalogue.

Reading takes names, levels and sizes from paths, syntax trees and data; nothing here imports torch or Triton, or runs
a suite's code.  That happens in `harness/`, which only the reference process imports.
"""
