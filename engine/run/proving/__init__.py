"""Proves passing cases: tapes of two calls that agree, replayed by the replayer on a content that no worker met."""
