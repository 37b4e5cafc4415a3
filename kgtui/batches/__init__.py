"""Batches of candidates: read from a folder or a file, run one after another, journalled, summarised and written out.

Every candidate is one run through the queue of `kgtui/runner`, behind every save.  Imports no screen and no command.
"""
