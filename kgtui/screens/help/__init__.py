"""The Help screen: every key."""
