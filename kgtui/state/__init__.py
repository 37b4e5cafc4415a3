"""State of the screen, as frozen records and pure functions; nothing here draws or has side effects."""
