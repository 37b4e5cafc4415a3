"""The Batch screen."""
