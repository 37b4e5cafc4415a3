"""What the programs of a launch did to memory, and which of their accesses conflict."""
