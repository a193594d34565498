#!/usr/bin/env python3
"""How far sums, means and deviations of floats are from the true values, for gpufilt and others.

    /tmp/peers/bin/python tests/bench/stats_accuracy.py GPUFILT [FOLDER=/dev/shm/gpufilt-accuracy] [--cupy] [--quick]

Prints a Markdown table of errors in ulp of double, the distance of two neighbouring doubles at the true value, also
where a tool answers in float32. The true values come from integers of any size: the samples' 53-bit mantissas and
their squares are added exactly for each exponent. "inf" and "nan" are answers of that kind where the true value is
finite; "0" is an answer that is the double nearest to the truth. peers_stats.py says what to
install; a tool that is not there has an empty column. ImageMagick has none: Debian's keeps samples in 16 bits.
"""
import json
import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np

try:
    import pyvips
except ImportError:
    pyvips = None

STATISTICS = ("sum", "mean", "std")


# ---- the truth ----

def total_of(values):
    """Sum of up to 2^32 integers below 2^63, none negative."""
    values = values.astype(np.uint64)
    return (int((values >> np.uint64(32)).sum()) << 32) + int((values & np.uint64(0xffffffff)).sum())


def exact_sums(x):
    """Sum and sum of squares as Fractions."""
    total = squares = Fraction(0)
    for at in range(0, x.size, 10 ** 7):
        mantissa, exponent = np.frexp(x[at:at + 10 ** 7].astype(np.float64))
        whole = (mantissa * 2.0 ** 53).astype(np.int64)
        order = np.argsort(exponent, kind="stable")
        whole, exponent = whole[order], exponent[order]
        starts = np.flatnonzero(np.diff(exponent, prepend=exponent[0] - 1))
        for first, last in zip(starts, [*starts[1:], x.size]):
            part, e = whole[first:last], int(exponent[first]) - 53
            size = np.abs(part)
            high, low = size >> 27, size & (2 ** 27 - 1)
            negative = part < 0
            total += (total_of(size[~negative]) - total_of(size[negative])) * Fraction(2) ** e
            squares += ((total_of(high * high) << 54) + (total_of(high * low) << 28) + total_of(low * low)
                        ) * Fraction(4) ** e
    return total, squares


def root(square):
    """Square root of a Fraction to more than 120 bits."""
    if square == 0:
        return Fraction(0)
    shift = max(0, 300 - (square.numerator.bit_length() - square.denominator.bit_length()))
    shift += shift % 2
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << shift // 2)


def truth(x):
    total, squares = exact_sums(x)
    return {"sum": total, "mean": total / x.size,
            "std": root((squares - total * total / x.size) / (x.size - 1))}


def error(answer, true):
    """In ulp of double."""
    if not math.isfinite(answer):
        return str(answer)
    if true == 0:
        return "0" if answer == 0 else f"is {answer:.0e}"
    ulp = Fraction(math.ulp(float(true)))
    if Fraction(answer) == Fraction(float(true)):
        return "0"
    off = abs(Fraction(answer) - true) / ulp
    return f"{float(off):.2f}" if off < 100 else f"{float(off):.0e}"


# ---- who is asked ----

def ask_gpufilt(x, path):
    name = {"float32": "f32", "float64": "f64"}[x.dtype.name]
    done = subprocess.run([GPUFILT, "stats", "--json", "--show", "sum,mean,std", "--raw", f"{x.size}x1x1:{name}", path],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["results"][0]


def ask_numpy(x, _):
    return {"sum": float(x.sum()), "mean": float(x.mean()), "std": float(x.std(ddof=1))}


def ask_numpy64(x, _):
    wide = np.float64
    return {"sum": float(x.sum(dtype=wide)), "mean": float(x.mean(dtype=wide)), "std": float(x.std(ddof=1, dtype=wide))}


def ask_vips(x, path):
    width = math.gcd(x.size, 10000)
    kind = {"float32": "float", "float64": "double"}[x.dtype.name]
    row = pyvips.Image.rawload(path, width, x.size // width, 1, format=kind).stats().numpy()[0]
    return {"sum": row[2], "mean": row[4], "std": row[5]}


def ask_cupy(x, _):
    import cupy
    x = cupy.asarray(x)
    return {"sum": float(x.sum()), "mean": float(x.mean()), "std": float(x.std(ddof=1))}


# ---- what about ----

def both_signs(values):
    """Every value and its opposite, shuffled, and one more: sums that cancel to that."""
    x = np.concatenate([values, -values, values[:1] * values.dtype.type(1e-3)])
    return np.random.default_rng(3).permutation(x)


def samples(dtype, n, long):
    """(name, array), made when it is its turn."""
    rng = np.random.default_rng(7)
    is_float = dtype is np.float32
    limit = float(np.finfo(dtype).max)
    mean, spread = (1e4, 1e-2) if is_float else (1e9, 1e-5)
    decades = 30 if is_float else 140
    yield f"mean {mean:g}, spread {spread:g}", lambda: (mean + spread * rng.standard_normal(n)).astype(dtype)
    yield "10^3 and 10^-3 mixed", lambda: (rng.random(n) * np.where(rng.random(n) < 0.5, 1e3, 1e-3)).astype(dtype)
    yield "cancels to 1e-3 of one sample", lambda: both_signs(rng.standard_normal(n // 2).astype(dtype))
    yield "ramp i + 0.1", lambda: (np.arange(n) + 0.1).astype(dtype)
    yield "near the limit, cancelling", lambda: both_signs((rng.uniform(0.5, 1, 500) * limit).astype(dtype))
    yield "subnormal", lambda: (rng.standard_normal(n) * float(np.finfo(dtype).tiny) / 64).astype(dtype)
    yield f"10^-{decades} to 10^{decades}", lambda: (
        rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-decades, decades, n)).astype(dtype)
    yield "noise of mean 0", lambda: rng.standard_normal(long).astype(dtype)
    yield "0.1 each time", lambda: np.full(10 * long, 0.1, dtype)


def compare(name, x, tools):
    path = "accuracy.raw"
    x.tofile(path)
    answers = [ask(x, path) for _, ask in tools]
    os.remove(path)
    true = truth(x)
    for what in STATISTICS:
        errors = " | ".join(error(float(a[what]), true[what]) for a in answers)
        print(f"| {name} | {x.dtype.name} | {x.size} | {what} | {float(true[what]):.6g} | {errors} |", flush=True)


def main(arguments):
    tools = [("gpufilt", ask_gpufilt), ("numpy", ask_numpy), ("numpy in float64", ask_numpy64)]
    if pyvips:
        tools.append(("vips", ask_vips))
    if "--cupy" in arguments:
        tools.append(("CuPy", ask_cupy))
    n, long = (10 ** 5, 10 ** 6) if "--quick" in arguments else (10 ** 6, 10 ** 7)
    print(f"| samples | type | n | of | true value | {' | '.join(t for t, _ in tools)} |")
    print("|---" * (5 + len(tools)) + "|")
    for dtype in (np.float32, np.float64):
        for name, make in samples(dtype, n, long):
            compare(name, make(), tools)


if __name__ == "__main__":
    np.seterr(all="ignore")
    operands = [a for a in sys.argv[1:] if not a.startswith("--")]
    GPUFILT = os.path.abspath(operands[0])
    folder = operands[1] if len(operands) > 1 else "/dev/shm/gpufilt-accuracy"
    os.makedirs(folder, exist_ok=True)
    if pyvips:
        pyvips.cache_set_max(0)  # a file of the same name is another one
    os.chdir(folder)
    main(sys.argv[1:])
