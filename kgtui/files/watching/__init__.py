"""What the watcher is made of: its records, its directory feed, and the state of one file."""
