#!/usr/bin/env python3
"""Sweeps values that are easy to get wrong through the program and works out what must come.

    value_sweep.py convert PROGRAM    every sample type to every other, at all of its edges
    value_sweep.py gauss PROGRAM      Gaussians of any width and unit, in double, with every border

Works in the current folder. Standard library only.
"""
import itertools
import math
import random
import re
import struct
import subprocess
import sys

TYPES = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h', 'u32': 'I', 'i32': 'i', 'f16': 'e', 'f32': 'f',
         'f64': 'd'}
EDGES = [0.0, .5, 1.5, 2.5, .49999999999999994, .5000000000000001, 127, 127.5, 128, 128.5, 128.50001, 129,
         254.5, 255, 255.49999, 255.5, 256, 32767, 32767.5, 32768, 32768.4999, 32768.5, 32769, 65504, 65519.99,
         65520, 65534.5, 65535, 65535.49999, 65535.5, 65536, 16777217, 16777219, 2147483647, 2147483647.5,
         2147483648, 2147483648.5, 2147483649, 4294967294.5, 4294967295, 4294967295.5, 4294967296,
         9007199254740993, 1e38, 3.4028234663852886e38, 3.4028235677973366e38, 3.5e38, 1e308, 6e-8, 2.98e-8,
         2.980232238769531e-08, 2.9802322387695313e-08, 5.960464477539063e-08, 7e-46, 1e-45, 1e-320,
         math.inf, math.nan]
failures = 0


def bad(*words):
    global failures
    failures += 1
    print('value_sweep.py:', *words)


def limits(kind):
    bits = 8 * struct.calcsize('<' + TYPES[kind])
    return (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if kind[0] == 'i' else (0, 2 ** bits - 1)


def as_float(kind, value):
    """The value rounded to a float type; beyond it, infinite."""
    try:
        return struct.unpack('<' + TYPES[kind], struct.pack('<' + TYPES[kind], float(value)))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def store(kind, value):
    """(what is stored, 1 if clipped below, above, NaN made 0)."""
    if kind[0] == 'f':
        stored = as_float(kind, value)
        clipped = math.isinf(stored) and not math.isinf(value)
        return stored, clipped and value < 0, clipped and value > 0, 0
    if math.isnan(value):
        return 0, 0, 0, 1
    low, high = limits(kind)
    whole = value if math.isinf(value) else round(value) # to even, as wanted
    return (low, 1, 0, 0) if whole < low else (high, 0, 1, 0) if whole > high else (whole, 0, 0, 0)


def samples_of(kind):
    both = [s * v for v in EDGES for s in (1, -1)]
    if kind[0] == 'f':
        return [as_float(kind, v) for v in both]
    low, high = limits(kind)
    return sorted({int(v) for v in both if math.isfinite(v) and low <= v <= high})


def convert(program):
    for kind, to in itertools.product(TYPES, TYPES):
        samples = samples_of(kind)
        with open('in.raw', 'wb') as f:
            f.write(struct.pack('<%d%s' % (len(samples), TYPES[kind]), *samples))
        r = subprocess.run([program, 'convert', '-t', to, '--raw', '%dx1:%s' % (len(samples), kind),
                            'in.raw', 'out.raw'], capture_output=True, text=True)
        with open('out.raw', 'rb') as f:
            got = f.read()
        wanted = [store(to, v) for v in samples]
        if r.returncode != 0 or len(got) != len(samples) * struct.calcsize('<' + TYPES[to]):
            bad(kind, to, 'status', r.returncode, r.stderr)
            continue
        for v, g, w in zip(samples, struct.unpack('<%d%s' % (len(samples), TYPES[to]), got), wanted):
            # The sign of a zero counts as well; NaN is NaN.
            if not (g == w[0] and math.copysign(1, g) == math.copysign(1, w[0])) and not (g != g and w[0] != w[0]):
                bad('%s %r as %s is %r, not %r' % (kind, v, to, g, w[0]))
        low, high, nan = (sum(w[i] for w in wanted) for i in (1, 2, 3))
        said = re.search(r'\((\d+) below, (\d+) above\)', r.stderr)
        said_nan = re.search(r'(\d+) NaN', r.stderr)
        found = [int(n) for n in said.groups()] if said else [0, 0]
        found.append(int(said_nan[1]) if said_nan else 0)
        if found != [low, high, nan]:
            bad(kind, to, 'counted', found, 'not', [low, high, nan], r.stderr)


# ---- Gaussians ----

def outside(border, i, n):
    """The index that stands for i, by single steps; None for nothing."""
    if 0 <= i < n:
        return i
    if border == 'zero':
        return None
    if border == 'clamp':
        return 0 if i < 0 else n - 1
    row = list(range(n))
    turn = row if border == 'wrap' else row + (row[::-1] if border == 'symmetric' else row[-2:0:-1])
    return turn[i % len(turn)]


def blur_axis(rows, sigma, truncate, border):
    radius = int(truncate * sigma + .5)
    taps = [math.exp(-.5 * (i / sigma) ** 2) for i in range(-radius, radius + 1)] if sigma > 0 else [1]
    total = math.fsum(taps)
    result = []
    for row in rows:
        places = [outside(border, i, len(row)) for i in range(-radius, len(row) + radius)]
        wide = [0 if p is None else row[p] for p in places] if sigma > 0 else row
        result.append([math.fsum(t / total * wide[i + k] for k, t in enumerate(taps)) for i in range(len(row))])
    return result


def gauss(program):
    rng = random.Random(1)
    for border, unit, truncate, _ in itertools.product(('zero', 'clamp', 'wrap', 'symmetric', 'reflect101'),
                                                       ('', 'mm', 'um', 'fwhm'), (4, 2.5), (1, 2)):
        width, height = rng.choice((1, 2, 7, 20)), rng.choice((1, 2, 7, 20))
        sx, sy = (rng.choice((0, .12, .124, .126, .5, .63, 1, 1.5, 2.3, 4)) for _ in 'xy')
        rows = [[rng.uniform(-100, 100) for _ in range(width)] for _ in range(height)]
        with open('in.raw', 'wb') as f:
            for row in rows:
                f.write(struct.pack('<%dd' % width, *row))
        if unit == 'fwhm':
            width_words = ['--fwhm', ','.join(repr(s * 2 * math.sqrt(2 * math.log(2))) for s in (sx, sy))]
        elif unit:
            size = {'mm': 1, 'um': 1000}[unit]
            width_words = ['--sigma', '%r%s,%r%s' % (sx * .5 * size, unit, sy * 2 * size, unit),
                           '--spacing', '500um,2,1']
        else:
            width_words = ['--sigma', '%r,%r' % (sx, sy)]
        words = [program, 'blur', *width_words, '--truncate', str(truncate), '-b', border,
                 '--raw', '%dx%d:f64' % (width, height), '-q', 'in.raw', 'out.raw']
        r = subprocess.run(words, capture_output=True, text=True)
        if r.returncode != 0 or r.stderr:
            bad(words, r.returncode, r.stderr)
            continue
        with open('out.raw', 'rb') as f:
            got = struct.unpack('<%dd' % (width * height), f.read())
        rows = blur_axis(rows, sx, truncate, border)
        columns = blur_axis([list(c) for c in zip(*rows)], sy, truncate, border)
        wanted = [v for row in zip(*columns) for v in row]
        worst = max(abs(g - w) if g == g else math.inf for g, w in zip(got, wanted))
        if not worst <= 1e-11:
            bad(words, 'differs by', worst)


if __name__ == '__main__':
    {'convert': convert, 'gauss': gauss}[sys.argv[1]](sys.argv[2])
    sys.exit(failures != 0)
