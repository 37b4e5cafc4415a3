"""Batches and candidates as rows, columns and versions of a file, and what is typed to start a batch.  Pure."""
