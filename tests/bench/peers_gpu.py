#!/usr/bin/env python3
"""Times CuPy and cuDNN (through PyTorch) on the GPU, on arrays that are in device memory already.

    python3 tests/bench/peers_gpu.py [cupy] [cudnn] [stats]      all without arguments

One line of JSON a result, with the names of bench_rows.c. CuPy clamps, as gpufilt does; on
u16 and u8 it truncates between the passes. cuDNN pads with zeros (a border costs more), TF32 is
off; in 3D it gets 512^3, because it refuses 2^31 samples. `stats` is
CuPy's reductions of 2^30 samples, read once by each call. Medians of CUDA events after a warm-up, so that neither pays for compiling or choosing an algorithm.
"""
import json
import statistics
import sys

SIDE, DEPTH = 16384, 1024


def result(tool, what, row, times, samples, sample_bytes, taps):
    line = {"tool": tool, "what": what, "row": row, "ms": statistics.median(times), "low": min(times),
            "high": max(times), "repeats": len(times), "bytes": 2 * samples * sample_bytes,
            "flop": 2 * samples * taps, "check": ""}
    print(json.dumps(line), flush=True)


def rounds(first_ms):
    """20, fewer where they would take more than a second."""
    return max(3, min(20, int(1000 / max(first_ms, 1e-3))))


def timed(new_event, work):
    """new_event() gives an event with record(); elapsed(a, b) milliseconds."""
    make, elapsed = new_event
    times = []
    count = 20
    i = -2
    while i < count:
        begin, end = make(), make()
        begin.record()
        work()
        end.record()
        end.synchronize()
        ms = elapsed(begin, end)
        if i == -1:
            count = rounds(ms)
        if i >= 0:
            times.append(ms)
        i += 1
    return times


def mask(*shape):
    n = 1
    for size in shape:
        n *= size
    return [(i * 7 % 11 + 1) / (6.0 * n) for i in range(n)]


def cupy_rows():
    import cupy as cp
    import cupyx.scipy.ndimage as ndi

    events = (cp.cuda.Event, cp.cuda.get_elapsed_time)

    def image(dtype, *shape):
        if dtype == "float32":
            return cp.random.random(shape, dtype=cp.float32)
        return cp.random.randint(0, cp.iinfo(dtype).max + 1, shape, dtype=dtype)

    def row(name, what, array, taps, work):
        result("cupy", what, name, timed(events, work), array.size, array.itemsize, taps)
        cp.get_default_memory_pool().free_all_blocks()

    gauss5 = cp.array([1, 4, 6, 4, 1], cp.float32) / 16

    def separable(array, line, out):
        for axis in range(array.ndim - 1, -1, -1):
            array = ndi.correlate1d(array, line, axis, output=out if axis == 0 else cp.float32, mode="nearest")

    for size in (3, 5, 7, 9):
        a, out = image("float32", SIDE, SIDE), cp.empty((SIDE, SIDE), cp.float32)
        m = cp.array(mask(size, size), cp.float32).reshape(size, size)
        row(f"f32 {size}x{size}", "correlate", a, size * size, lambda: ndi.correlate(a, m, out, mode="nearest"))
    for name, dtype in (("u8", "uint8"), ("u16", "uint16"), ("f32", "float32")):
        a = image(dtype, SIDE, SIDE)
        out = cp.empty_like(a)
        row(f"{name} gauss5", "correlate1d", a, 10, lambda: separable(a, gauss5, out))
        row(f"{name} sigma 2", "gaussian_filter", a, 34, lambda: ndi.gaussian_filter(a, 2, output=out, mode="nearest"))
    del a, out
    for size in (3, 5):
        a, out = image("float32", DEPTH, DEPTH, DEPTH), cp.empty((DEPTH, DEPTH, DEPTH), cp.float32)
        m = cp.array(mask(size, size, size), cp.float32).reshape(size, size, size)
        row(f"f32 {size}x{size}x{size}", "correlate", a, size ** 3, lambda: ndi.correlate(a, m, out, mode="nearest"))
    for name, dtype in (("u16", "uint16"), ("f32", "float32")):
        a = image(dtype, DEPTH, DEPTH, DEPTH)
        out = cp.empty_like(a)
        row(f"{name} 3D gauss5", "correlate1d", a, 15, lambda: separable(a, gauss5, out))
        row(f"{name} 3D sigma 1.5", "gaussian_filter", a, 39,
            lambda: ndi.gaussian_filter(a, 1.5, output=out, mode="nearest"))


def cudnn_rows():
    import torch
    import torch.nn.functional as f

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.set_grad_enabled(False)
    events = (lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b))

    for size in (3, 5, 7, 9):
        a = torch.rand(1, 1, SIDE, SIDE, device="cuda")
        m = torch.tensor(mask(size, size), device="cuda").reshape(1, 1, size, size)
        result("cudnn", "conv2d", f"f32 {size}x{size}", timed(events, lambda: f.conv2d(a, m, padding=size // 2)),
               a.numel(), 4, size * size)
    for size in (3, 5):
        a = torch.rand(1, 1, 512, 512, 512, device="cuda")
        m = torch.tensor(mask(size, size, size), device="cuda").reshape(1, 1, size, size, size)
        result("cudnn", "conv3d 512^3", f"f32 {size}x{size}x{size}",
               timed(events, lambda: f.conv3d(a, m, padding=size // 2)), a.numel(), 4, size ** 3)


def stats_rows():
    import cupy as cp

    events = (cp.cuda.Event, cp.cuda.get_elapsed_time)

    def row(tool, name, array, work):
        times = timed(events, work)
        print(json.dumps({"tool": tool, "what": "stats", "row": name, "ms": statistics.median(times), "low": min(times),
                          "high": max(times), "repeats": len(times), "bytes": array.nbytes, "check": ""}), flush=True)
        cp.get_default_memory_pool().free_all_blocks()

    a = cp.random.random(1 << 30, dtype=cp.float32)
    row("cupy sum", "moments f32", a, lambda: a.sum())
    row("cupy min, max, mean, std", "moments f32", a, lambda: (a.min(), a.max(), a.mean(), a.std(ddof=1)))
    row("cupy percentile 1, 50, 99", "keys f32, second pass of 3 percentiles", a, lambda: cp.percentile(a, [1, 50, 99]))
    del a
    u = cp.random.randint(0, 65536, 1 << 30, dtype=cp.uint16)
    row("cupy bincount", "keys u16", u, lambda: cp.bincount(u, minlength=65536))


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["cupy", "cudnn", "stats"]
    for name, rows in (("cupy", cupy_rows), ("cudnn", cudnn_rows), ("stats", stats_rows)):
        if name in wanted:
            try:
                rows()
            except ImportError as e:
                print(f"{name}: {e}", file=sys.stderr)
