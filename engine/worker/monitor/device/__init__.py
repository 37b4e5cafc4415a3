"""What a candidate does on a device: kernels that ran, and stores outside of its tensors."""
