from stop_bench import bench, clock, threads, waits

__all__ = ["bench", "clock", "threads", "waits"]
