"""Batches and candidates as rows, columns and versions of a file, and the input that starts a batch.  Pure."""
