#!/usr/bin/env python3
"""Times `gpufilt stats` against other tools on the same machine in the same run.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy pyvips pyvips-binary pillow
    apt-get install libvips-tools imagemagick mrtrix3
    /tmp/peers/bin/python tests/bench/peers_stats.py GPUFILT [FOLDER=/dev/shm/gpufilt-stats] [ROW ...]

Prints a Markdown table. Files lie in memory. "process" rows are whole processes, gpufilt among them; the others work
inside a warm Python process of their own, without its start and imports and on a heap of huge pages that the first,
untimed run has touched, which favours them. gpufilt runs as it comes. Up to seven runs, as many as fit in ten seconds
but at least one; the median, the fastest and the slowest. CPU s is user and system time of the fastest run, which
other work on the machine changes least. MiB is the peak of resident memory, a peer's Python
included; a process has 8 to 10 from the start. "same" means the
percentiles, extremes and counts of the tool are gpufilt's, and mean and std within 1e-12 of it; what is not is named.
"""
import ctypes
import json
import math
import os
import pickle
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import pyvips
from PIL import Image

MOST_RUNS, MOST_SECONDS = 7, 10
PERCENTILES = (1, 50, 99)
MRSTATS_SAMPLES = 2 ** 27  # half a minute
# malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD. Memory that was freed stays touched.
MALLOPT = ((-1, 2 ** 31 - 1), (-3, 2 ** 31 - 1))


def measured_runs(work, first):
    """(seconds, CPU seconds) of runs of work(), which returns its CPU seconds."""
    runs = []
    while len(runs) < MOST_RUNS and first * (len(runs) + 1) <= MOST_SECONDS or not runs:
        start = time.perf_counter()
        cpu = work()
        runs.append((time.perf_counter() - start, cpu))
    return runs


def in_process(work):
    """Runs work() in a child of its own; (runs, peak MiB, its result)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        for parameter, value in MALLOPT:
            ctypes.CDLL(None).mallopt(parameter, value)
        start = time.perf_counter()
        result = work()
        first = time.perf_counter() - start

        def timed():
            before = time.process_time()
            work()
            return time.process_time() - before

        runs = measured_runs(timed, first)
        with os.fdopen(writer, "wb") as f:
            pickle.dump((runs, result), f)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as f:
        data = f.read()
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        return None
    runs, result = pickle.loads(data)
    return runs, usage.ru_maxrss / 1024, result


# A process starts with the peak of the one that it is forked from; this one is small.
LAUNCHER = """
import json, os, sys, time
most_runs, most_seconds = int(sys.argv[1]), float(sys.argv[2])
runs, peak, first = [], 0, None
while first is None or not runs or len(runs) < most_runs and first * (len(runs) + 1) <= most_seconds:
    reader, writer = os.pipe()
    start = time.perf_counter()
    child = os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    os.close(writer)
    text = os.fdopen(reader, "rb").read()
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(1)
    if first is not None or seconds > most_seconds:
        runs.append((seconds, usage.ru_utime + usage.ru_stime))
    first = first or seconds
    peak = max(peak, usage.ru_maxrss / 1024)
print(json.dumps([runs, peak, text.decode(errors="replace")]))
"""


def process(command, parse):
    """Runs a command; (runs, peak MiB, its result), or None when it fails."""
    launch = [sys.executable, "-S", "-E", "-c", LAUNCHER, str(MOST_RUNS), str(MOST_SECONDS)]
    done = subprocess.run(launch + command, stdout=subprocess.PIPE, env=PLAIN)
    if done.returncode != 0:
        return None
    runs, peak, text = json.loads(done.stdout)
    return runs, peak, parse(text)


def deviations(mine, theirs):
    """What a tool's result differs in from gpufilt's."""
    if not theirs:
        return ""
    bad = []
    for name, value in theirs.items():
        if name in ("mean", "std", "sum"):
            error = abs(value - mine[name]) / abs(mine[name]) if mine[name] else abs(value)
            if not error <= 1e-12:
                bad.append(f"{name} off by {error:.0e}")
        elif name in mine and value != mine[name]:
            bad.append(f"{name} {value:g}, not {mine[name]:g}")
    return "; ".join(bad) or "same"


class Table:
    def __init__(self):
        print("| row | tool | s (fastest, slowest) | CPU s | GB/s | peak MiB | result |\n|" + "---|" * 7, flush=True)
        self.mine = {}

    def add(self, row, nbytes, tool, answer):
        if answer is None:
            print(f"| {row} | {tool} | failed | | | | |", flush=True)
            return
        runs, peak, result = answer
        seconds = [s for s, _ in runs]
        fastest = min(tuple(run) for run in runs)
        if tool.startswith("gpufilt"):
            self.mine = result
        check = "" if tool.startswith("gpufilt") else deviations(self.mine, result)
        print(f"| {row} | {tool} | {statistics.median(seconds):.3f} ({fastest[0]:.3f}, {max(seconds):.3f}) "
              f"| {fastest[1]:.3f} | {nbytes / fastest[0] / 1e9:.1f} | {peak:.0f} | {check} |", flush=True)


# ---- gpufilt ----

def ours(path, raw, percentiles):
    command = [GPUFILT, "stats", "--json", "--show", "n,min,max,mean,std,sum"]
    command += ["--raw", raw] if raw else []
    command += ["-p", ",".join(map(str, PERCENTILES))] if percentiles else []

    def parse(text):
        result = json.loads(text)["results"][0]
        values = {name: result[name] for name in ("n", "min", "max", "mean", "std", "sum")}
        return values | {f"p{p}": v for p, v in result.get("percentiles", {}).items()}

    return process(command + [path], parse)


# ---- reading alone ----

def read_through(path):
    """pread into one buffer of 1 MiB, as gpufilt reads but without looking at what was read."""
    buffer = bytearray(1 << 20)
    f = os.open(path, os.O_RDONLY)
    at = 0
    while n := os.preadv(f, [buffer], at):
        at += n
    os.close(f)


# ---- numpy ----

def numpy_moments(x):
    return {"n": x.size, "min": float(x.min()), "max": float(x.max()), "mean": float(x.mean()),
            "std": float(x.std(ddof=1)), "sum": float(x.sum())}


def numpy_all(x):
    return numpy_moments(x) | {f"p{p}": float(v) for p, v in zip(PERCENTILES, np.percentile(x, PERCENTILES))}


def order_statistic(counts, rank):
    below = np.searchsorted(np.cumsum(counts), [math.floor(rank) + 1, math.ceil(rank) + 1])
    return float(below[0] + (rank - math.floor(rank)) * (below[1] - below[0]))


def of_counts(counts):
    """All of it from the counts of the values 0, 1, ..."""
    counts = np.asarray(counts, np.int64)
    n = int(counts.sum())
    value = np.arange(counts.size, dtype=np.int64)
    there = np.flatnonzero(counts)
    total, squares = int((counts * value).sum()), sum(int(c) * int(v) ** 2 for v, c in enumerate(counts))
    return {"n": n, "min": int(there[0]), "max": int(there[-1]), "sum": total, "mean": total / n,
            "std": math.sqrt((n * squares - total * total) / (n * (n - 1)))
            } | {f"p{p}": order_statistic(counts, (n - 1) * p / 100) for p in PERCENTILES}


def numpy_bincount(x):
    """In pieces: bincount widens its input to 64 bits."""
    counts = np.zeros(65536, np.int64)
    for at in range(0, x.size, 1 << 20):
        counts += np.bincount(x[at:at + (1 << 20)], minlength=65536)
    return of_counts(counts)


# ---- vips ----

def vips_image(path, width, height, fmt):
    if fmt is None:
        return pyvips.Image.new_from_file(path, access="sequential")
    return pyvips.Image.rawload(path, width, height, 1, format=fmt, access="sequential")


def vips_stats(open_image):
    low, high, total, _, mean, deviation = open_image().stats().numpy()[0][:6]
    return {"min": low, "max": high, "sum": total, "mean": mean, "std": deviation}


def vips_histogram(open_image):
    return of_counts(open_image().hist_find().numpy().ravel())


# ---- whole processes ----

def unread(_):
    """Only the time is looked at."""
    return {}


def mrstats(text):
    values = [float(v) for v in re.findall(r"[-+0-9.e]+", text)]
    return dict(zip(("mean", "std", "min", "max", "n"), values))


def mrtrix_header(path, dims, datatype):
    name = path.rsplit(".", 1)[0] + ".mih"
    with open(name, "w") as f:
        f.write(f"mrtrix image\ndim: {','.join(map(str, dims))}\nvox: 1,1,1\nlayout: +0,+1,+2\n"
                f"datatype: {datatype}\nfile: {path} 0\n")
    return name


# ---- the rows ----

def raw_rows(table, name, path, dtype, shape, raw, vips, datatype):
    nbytes = os.path.getsize(path)
    width = 16384
    height = nbytes // np.dtype(dtype).itemsize // width

    def samples():
        return np.fromfile(path, dtype)

    def image():
        return vips_image(path, width, height, vips)

    def compared(row, percentiles):
        table.add(row, nbytes, "gpufilt", ours(path, raw, percentiles))
        if percentiles:
            table.add(row, nbytes, "numpy", in_process(lambda: numpy_all(samples())))
            if np.dtype(dtype).kind == "u":
                table.add(row, nbytes, "numpy bincount", in_process(lambda: numpy_bincount(samples())))
                table.add(row, nbytes, "vips hist_find", in_process(lambda: vips_histogram(image)))
            return
        table.add(row, nbytes, "numpy", in_process(lambda: numpy_moments(samples())))
        table.add(row, nbytes, "vips stats", in_process(lambda: vips_stats(image)))
        if math.prod(shape) > MRSTATS_SAMPLES:
            return
        header = mrtrix_header(path, shape, datatype)
        outputs = [w for o in ("mean", "std", "min", "max", "count") for w in ("-output", o)]
        table.add(row, nbytes, "mrstats, process", process(["mrstats", "-quiet", header, *outputs], mrstats))

    compared(f"{name}: moments", False)
    compared(f"{name}: with p1 p50 p99", True)
    table.add(name, nbytes, "pread alone", in_process(lambda: read_through(path)))
    there = samples().view(np.uint64)
    table.add(name, nbytes, "numpy sum of uint64 in memory", in_process(lambda: {} if there.sum() else None))


def picture_rows(table, path):
    nbytes = 4096 * 4096 * 3
    name = f"RGB u8 PNG 4096^2 ({os.path.getsize(path) / 1e6:.1f} MB)"

    def pillow():
        return numpy_all(np.asarray(Image.open(path)))

    table.add(name, nbytes, "gpufilt", ours(path, None, True))
    table.add(name, nbytes, "Pillow, numpy", in_process(pillow))
    table.add(name, nbytes, "vips stats", in_process(lambda: vips_stats(lambda: vips_image(path, 0, 0, None))))
    command = ["vips", "stats", path, "rgb_stats.v"]
    table.add(name, nbytes, "vips stats (Debian), process", process(command, unread))
    table.add(name, nbytes, "identify -verbose, process", process(["identify", "-verbose", path], unread))


def noise(path, count, make):
    if os.path.exists(path):
        return
    rng = np.random.default_rng(1)
    with open(path, "wb") as f:
        for at in range(0, count, 1 << 24):
            make(rng, min(1 << 24, count - at)).tofile(f)


def main():
    wanted = sys.argv[3:]
    table = Table()
    rows = {
        "u16": ("u16 512^3", 2 ** 27, np.uint16, (512, 512, 512), "512x512x512:u16", "ushort", "UInt16LE",
                lambda r, n: np.clip(r.normal(20000, 3000, n), 0, 65535).astype(np.uint16)),
        "f32": ("f32 1 GiB", 2 ** 28, np.float32, (1024, 1024, 256), "1024x1024x256:f32", "float", "Float32LE",
                lambda r, n: r.standard_normal(n, np.float32)),
        "u8": ("u8 1 GiB", 2 ** 30, np.uint8, (1024, 1024, 1024), "1024x1024x1024:u8", "uchar", "UInt8",
               lambda r, n: np.clip(r.normal(128, 30, n), 0, 255).astype(np.uint8)),
        "f64": ("f64 512 MiB", 2 ** 26, np.float64, (1024, 1024, 64), "1024x1024x64:f64", "double", "Float64LE",
                lambda r, n: r.standard_normal(n)),
    }
    for key, (name, count, dtype, shape, raw, vips, datatype, make) in rows.items():
        if wanted and key not in wanted:
            continue
        path = f"{key}.raw"
        noise(path, count, make)
        raw_rows(table, name, path, dtype, shape, raw, vips, datatype)
        os.remove(path)
    if not wanted or "png" in wanted:
        side = np.sin(np.arange(4096, dtype=np.float32) / 300)
        base = 128 + 70 * side[:, None] * side[None, :]
        rng = np.random.default_rng(1)
        picture = base[..., None] + 2.6 * rng.standard_normal((4096, 4096, 3), np.float32)
        Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)).save("rgb.png", compress_level=3)
        del picture
        picture_rows(table, "rgb.png")
    print(f"\nload of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


GPUFILT = os.path.abspath(sys.argv[1])
PLAIN = {k: v for k, v in os.environ.items() if k != "GLIBC_TUNABLES"}
if __name__ == "__main__":
    if "GLIBC_TUNABLES" not in os.environ:
        os.environ["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    folder = sys.argv[2] if len(sys.argv) > 2 else "/dev/shm/gpufilt-stats"
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    pyvips.cache_set_max(0)  # or a second run finds the first one's result
    main()
