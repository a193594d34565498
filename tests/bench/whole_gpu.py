#!/usr/bin/env python3
"""Times whole commands: gpufilt on the GPU, gpufilt on the CPU, and a CuPy script that does the same.

    python3 tests/bench/whole_gpu.py GPUFILT [--folder DIR] [--repeat N] [--quick]

Raw files in memory (a folder of its own in DIR, /dev/shm), random samples. Every run is a new process and writes a
new file; the first is told apart (cold), then the median. Prints one line of JSON a result. The GPU's file
must be the CPU's byte for byte, CuPy's may differ by the rounding of its passes; exit status 1 if not.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def cupy_script(kind, source, target, dtype, shape, value):
    """What a user would write: load, filter in float, round, save. The passes run along x, then y, then z."""
    import cupy as cp
    import cupyx.scipy.ndimage as ndi

    samples = cp.asarray(np.fromfile(source, dtype).reshape([int(n) for n in shape.split("x")]))
    if kind == "sigma":
        for axis in range(samples.ndim - 1, -1, -1):
            samples = ndi.gaussian_filter1d(samples, float(value), axis, output=cp.float32, mode="nearest")
        if np.dtype(dtype).kind == "u":
            samples = cp.rint(samples, out=samples).astype(dtype)
    else:
        mask = cp.asarray(np.loadtxt(value, dtype=np.float32))
        samples = ndi.correlate(samples, mask, mode="nearest")
    samples.get().tofile(target)


def run(command, target):
    """Seconds and peak MiB of one process."""
    if os.path.exists(target):
        os.remove(target)
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise RuntimeError(f"{command}: status {status}")
    return seconds, usage.ru_maxrss / 1024


def measure(tool, row, command, target, repeat, moved):
    cold, _ = run(command, target)
    runs = [run(command, target) for _ in range(repeat)]
    seconds = [s for s, _ in runs]
    return {"tool": tool, "what": "whole", "row": row, "seconds": statistics.median(seconds), "low": min(seconds),
            "high": max(seconds), "cold": cold, "repeats": repeat, "peak_mib": max(m for _, m in runs),
            "moved": moved, "check": ""}


def difference(a, b, dtype):
    """The largest difference of two files, a part at a time."""
    a, b, largest = np.memmap(a, dtype, "r"), np.memmap(b, dtype, "r"), 0.0
    if a.shape != b.shape:
        return float("inf")
    for i in range(0, a.size, 1 << 26):
        part = np.abs(a[i:i + (1 << 26)].astype(np.float32) - b[i:i + (1 << 26)].astype(np.float32))
        largest = max(largest, float(part.max()))
    return largest


SCRIPT = os.path.abspath(__file__)
ROWS = [
    ("sigma 1.5 u16 512^3", "u16", "uint16", (512, 512, 512), "sigma", "1.5"),
    ("sigma 1.5 u16 1024^3", "u16", "uint16", (1024, 1024, 1024), "sigma", "1.5"),
    ("7x7 f32 16384^2", "f32", "float32", (16384, 16384), "mask", "m7.mask"),
]


def make_input(rng, dtype, shape):
    samples = rng.integers(0, 65536, shape, np.uint16) if dtype == "uint16" else rng.random(shape, np.float32)
    samples.tofile("in.raw")
    return samples.nbytes


def commands(gpufilt, name, dtype, shape, kind, value):
    """Tool, command and the file it writes."""
    filter_words = ["blur", "--sigma", value] if kind == "sigma" else ["correlate", "-k", "@" + value]
    raw = "x".join(str(n) for n in reversed(shape)) + ":" + name
    for device in ("cpu", "cuda"):
        yield (f"gpufilt {device}", [gpufilt, *filter_words, "--raw", raw, "-q", "--device", device, "in.raw",
                                     device + ".raw"], device + ".raw")
    yield ("CuPy script", [sys.executable, SCRIPT, "--cupy", kind, "in.raw", "cupy.raw", dtype,
                           "x".join(str(n) for n in shape), value], "cupy.raw")


def measure_row(gpufilt, repeat, rng, row, name, dtype, shape, kind, value):
    """Whether everything ran and the GPU's file is the CPU's."""
    moved = 2 * make_input(rng, dtype, shape)
    fine = True
    for tool, command, target in commands(gpufilt, name, dtype, shape, kind, value):
        try:
            line = measure(tool, row, command, target, repeat, moved)
        except (RuntimeError, OSError) as e:
            print(f"{row}: {tool}: {e}", file=sys.stderr)
            fine = fine and not tool.startswith("gpufilt")
            continue
        if target == "cuda.raw":
            same = subprocess.run(["cmp", "cpu.raw", target]).returncode == 0
            line["check"] = "same" if same else "WRONG"
            fine = fine and same
        elif target == "cupy.raw" and os.path.exists("cpu.raw"):
            line["check"] = f"within {difference('cpu.raw', target, dtype):.2g}"
        print(json.dumps(line), flush=True)
    for file in os.listdir():
        if file.endswith(".raw"):
            os.remove(file)
    return fine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufilt")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the smallest alone")
    options = parser.parse_args()
    gpufilt = os.path.abspath(options.gpufilt)
    rng = np.random.default_rng(1)
    fine = True
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.chdir(folder)
        taps = rng.uniform(-0.5, 1, (7, 7))
        np.savetxt("m7.mask", taps / taps.sum(), fmt="%.9f")
        for row in ROWS[:1] if options.quick else ROWS:
            fine = measure_row(gpufilt, options.repeat, rng, *row) and fine
        os.chdir("/")
    return 0 if fine else 1


if len(sys.argv) > 1 and sys.argv[1] == "--cupy":
    cupy_script(*sys.argv[2:])
else:
    sys.exit(main())
