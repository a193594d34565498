#!/usr/bin/env python3
"""Puts the results of the GPU's benchmarks side by side, as Markdown tables.

    python3 tests/bench/gpu_table.py RESULTS.jsonl...

Kernels: ms is the median (how much slower the slowest was than the fastest); GB/s: samples read and written
once; of copy: cudaMemcpy from device to device in the same run; then the peers' milliseconds, the fastest of
a peer's ways, and how many times faster gpufilt is than the best of them. cuDNN's volumes are 512^3.
Statistics: GB/s: samples read once.
"""
import json
import sys

PEERS = {"npp": "NPP", "cupy": "CuPy", "cudnn": "cuDNN", "textbook": "textbook"}


def load(paths):
    results = []
    for path in paths:
        with open(path) as lines:
            results += [json.loads(line) for line in lines if line.startswith("{")]
    return results


def speed(r):
    """GB/s, so that sizes may differ."""
    return r["bytes"] / r["ms"] / 1e6 if r["ms"] > 0 else 0.0


def names_in_order(results):
    return list(dict.fromkeys(r["row"] for r in results))


def print_header(*names):
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))


def peer_cell(results):
    if not results:
        return ""
    best = max(results, key=speed)
    return f"{best['ms']:.3g}" + (f" {best['what']}" if len(results) > 1 or "^" in best["what"] else "")


def kernel_rows(row, results, copy):
    ours = sorted((r for r in results if r["tool"] == "gpufilt"), key=lambda r: r["ms"])
    rivals = [r for r in results if r["tool"] in PEERS]
    best = max((speed(r) for r in rivals), default=0)
    peers = [peer_cell([r for r in rivals if r["tool"] == tool]) for tool in PEERS]
    if not ours:
        yield [row, "", "", "", "", "", "", *peers, ""]
    for i, r in enumerate(ours):
        yield [row, r["what"], f"{r['ms']:.3f} ({100 * (r['high'] / max(r['low'], 1e-9) - 1):.0f} %)", f"{speed(r):.0f}",
               f"{100 * speed(r) / copy:.0f} %" if copy else "", f"{r['flop'] / max(r['ms'], 1e-9) / 1e9:.1f}", r["check"],
               *(peers if i == 0 else [""] * len(PEERS)), f"{speed(r) / best:.1f}" if best else ""]


def print_kernels(results):
    copies = [speed(r) for r in results if r["row"] == "copy"]
    results = [r for r in results if r["row"] != "copy"]
    if copies:
        print(f"cudaMemcpy, device to device, 4 GiB: {max(copies):.0f} GB/s\n")
    print_header("filter", "family", "ms (spread)", "GB/s", "of copy", "TFLOP/s", "check", *PEERS.values(), "ours is faster")
    for row in names_in_order(results):
        for cells in kernel_rows(row, [r for r in results if r["row"] == row], max(copies, default=0)):
            print("| " + " | ".join(cells) + " |")


def print_commands(results):
    print_header("whole command", "tool", "s (fastest, slowest)", "cold", "GB/s", "peak MiB", "check")
    for r in results:
        print(f"| {r['row']} | {r['tool']} | {r['seconds']:.3f} ({r['low']:.3f}, {r['high']:.3f}) | {r['cold']:.3f} | "
              f"{r['moved'] / r['seconds'] / 1e9:.2f} | {r['peak_mib']:.0f} | {r['check']} |")


def print_stats(results):
    reads = [speed(r) for r in results if r["tool"] == "read"]
    print_header("statistics", "tool", "ms (spread)", "GB/s", "of the plain read", "check", "ours is faster")
    for r in results:
        rivals = [speed(p) for p in results if p["tool"] not in ("gpufilt", "read") and p["row"] == r["row"]]
        compared = rivals and r["tool"] == "gpufilt" and r["ms"] > 0
        cells = [r["row"], r["tool"], f"{r['ms']:.3f} ({100 * (r['high'] / max(r['low'], 1e-9) - 1):.0f} %)", f"{speed(r):.0f}",
                 f"{100 * speed(r) / max(reads):.0f} %" if reads else "", r["check"],
                 f"{speed(r) / max(rivals):.1f}" if compared else ""]
        print("| " + " | ".join(cells) + " |")


def main():
    results = load(sys.argv[1:])
    kernels = [r for r in results if r["what"] not in ("whole", "stats")]
    stats = [r for r in results if r["what"] == "stats"]
    commands = [r for r in results if r["what"] == "whole"]
    if kernels:
        print_kernels(kernels)
    if kernels and stats:
        print()
    if stats:
        print_stats(stats)
    if (kernels or stats) and commands:
        print()
    if commands:
        print_commands(commands)


main()
