"""Proves passing cases: tapes of two calls that agree, replayed on content that no worker had."""
