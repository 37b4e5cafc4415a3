"""The Settings screen: every setting with its source."""
