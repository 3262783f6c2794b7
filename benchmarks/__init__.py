"""Benchmarks: raxis beside torch in one process, interleaved."""
