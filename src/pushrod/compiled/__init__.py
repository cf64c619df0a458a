"""The only package that imports numba: links plain Python steps into one file, compiles it, runs it on CPU threads or CUDA."""
