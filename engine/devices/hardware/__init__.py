"""Facts of devices that all platforms share: state, targets, occupancy, memory, and the lock of a benchmark."""
