"""The Differences screen: compiled code of two runs."""
