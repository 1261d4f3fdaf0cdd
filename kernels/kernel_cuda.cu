// Expands kernels.def for the GPU.
extern "C" __global__ void throng_cuda_nothing() {}
