"""Common code of all platforms: state, targets, occupancy, memory, and the lock of a benchmark."""
