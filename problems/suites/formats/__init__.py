"""One module for each format of a suite, found by scanning: it defines `FORMAT`, a SuiteFormat.

A reader turns files into tasks without running them; what it cannot read becomes a complaint, and the rest is read.
"""
