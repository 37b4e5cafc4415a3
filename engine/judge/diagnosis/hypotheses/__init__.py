"""Known mistakes of kernels, each as a change of the arguments with the same effect on the output."""
