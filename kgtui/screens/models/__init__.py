"""The Models screen: candidates from language models for the open operator."""
