#!/usr/bin/env python3
"""What the statistics of raw samples must be, worked out slowly and exactly, beside a report.

Independent of the program: sums are Python integers, order statistics come from a sorted list,
bins are found by bisection of their edges, a pixel's place is counted in plain loops.

    stats_oracle.py make TYPE COUNT KIND [SEED] > in.raw
    stats_oracle.py check --type f32 --size 7x5x2 [--channels 3] [--per channel] ... in.raw report.json

`make` writes little-endian samples: `bits` (any bits at all), `finite`, `few` (many equal ones),
`mean` (a large mean and a small spread), `nan` (NaN and infinities alone). `check` reads the report
strictly, as --json or --jsonl has it, and compares every statistic that is in it: integers to the last
digit and their quotients and roots rounded once; of floats sum, mean, deviations and rms within 2 ulp;
everything else exactly. Standard library only.
"""
import argparse
import bisect
import json
import math
import random
import struct
import sys
from fractions import Fraction

CODES = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h', 'u32': 'I', 'i32': 'i', 'f16': 'e', 'f32': 'f', 'f64': 'd'}
# Exponent of the least denormal: every float is a multiple of 2 to this power.
LEAST = {'f16': -24, 'f32': -149, 'f64': -1074}
PARTS = ('page', 'channel', 'slice', 'label')


# ---- samples ----

def make(kind, count, what, seed):
    rng = random.Random(seed)
    code = CODES[kind]
    size = struct.calcsize(code)
    if what == 'bits':
        return rng.randbytes(size * count)
    if what == 'few':
        values = [rng.randrange(5) for _ in range(count)]
    elif what == 'mean':
        base = {'f16': 1000, 'f32': 2.0 ** 20, 'f64': 2.0 ** 40}.get(kind, 100)
        values = [base + rng.randrange(8) for _ in range(count)]
    elif what == 'nan':
        values = [rng.choice((math.nan, math.inf, -math.inf)) for _ in range(count)]
    elif code in 'efd':
        values = [rng.choice((rng.uniform(-9, 9), rng.uniform(0, 1), -0.0, 0.0)) for _ in range(count)]
    else:
        return rng.randbytes(size * count)
    return struct.pack('<%d%s' % (count, code), *values)


def load(path, kind, big_endian=False):
    with open(path, 'rb') as f:
        data = f.read()
    code = CODES[kind]
    return struct.unpack('%s%d%s' % ('>' if big_endian else '<', len(data) // struct.calcsize(code), code), data)


# ---- the true values ----

class Sums:
    """Exact sums of samples and squares, as multiples of 2^unit and 2^(2 unit)."""

    def __init__(self, kind, values):
        self.n, self.unit = len(values), Fraction(2) ** LEAST.get(kind, 0)
        scale = int(1 / self.unit)
        whole = []
        for v in values:
            over, under = v.as_integer_ratio()
            whole.append(over * (scale // under))
        self.total, self.squares = sum(whole), sum(w * w for w in whole)

    def sum(self):
        return self.total * self.unit

    def mean(self):
        return self.sum() / self.n

    def mean_square(self):
        return self.squares * self.unit ** 2 / self.n

    def variance(self, ddof):
        if self.n <= ddof:
            return None
        return (self.squares - Fraction(self.total ** 2, self.n)) * self.unit ** 2 / (self.n - ddof)


def beside(value, ulps):
    """The limits of what is at most so many ulp from a double."""
    ulp = Fraction(math.ulp(value))
    return Fraction(value) - ulps * ulp, Fraction(value) + ulps * ulp


# What is larger is rounded to infinity, which is null.
OVERFLOW = Fraction(sys.float_info.max) + Fraction(math.ulp(sys.float_info.max)) / 2


def near(found, true, ulps):
    if true is None or found is None:
        return found is None and (true is None or abs(true) >= OVERFLOW)
    low, high = beside(found, ulps)
    return low <= true <= high


def near_root(found, square, ulps):
    if square is None or found is None:
        return square is found
    low, high = beside(found, ulps)
    return found >= 0 and max(low, 0) ** 2 <= square <= high ** 2


def percentile(ordered, p):
    """numpy's method `linear`."""
    if not ordered:
        return None
    at = (len(ordered) - 1) * (p / 100)
    below = int(at)
    if below >= len(ordered) - 1:
        return float(ordered[-1])
    a, b, part = float(ordered[below]), float(ordered[below + 1]), at - below
    if math.isinf(b - a):
        return a * (1 - part) + b * part
    return a + (b - a) * part if part < 0.5 else b - (b - a) * (1 - part)


def histogram(kind, values, bins, limits):
    """(kind, low, high, counts, below, above); numpy.histogram with the edges of numpy.linspace."""
    if kind in ('u8', 'i8', 'u16', 'i16') and not bins and not limits:
        bits = 8 * struct.calcsize(CODES[kind])
        low = 0 if kind[0] == 'u' else -2 ** (bits - 1)
        counts = [0] * 2 ** bits
        for v in values:
            counts[v - low] += 1
        return 'values', low, low + 2 ** bits - 1, counts, 0, 0
    bins = bins or 256
    low, high = limits or (min(values, default=0), max(values, default=1))
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = [low + i * ((high - low) / bins) for i in range(bins)] + [high]
    counts, below, above = [0] * bins, 0, 0
    for v in values:
        if v < low:
            below += 1
        elif v > high:
            above += 1
        else:
            counts[min(bisect.bisect_right(edges, v) - 1, bins - 1)] += 1
    return 'range', low, high, counts, below, above


def entropy(counts):
    n = sum(counts)
    return math.fsum(c / n * math.log2(n / c) for c in counts if c) if n else None


# ---- which samples are in a row ----

class Row:
    def __init__(self):
        self.values, self.places = [], []


def rows_of(o):
    """The rows by (page, channel, slice, label), in the order of the report."""
    width, height, depth = o.size
    x0, y0, z0, w, h, d = o.roi or (0, 0, 0, width, height, depth)
    samples = load(o.raw, o.type, o.be)
    mask = load(o.mask, 'u8') if o.mask else None
    labels = load(o.labels, o.label_type) if o.labels else None
    rows = {}
    for z in range(z0, z0 + d):
        for y in range(y0, y0 + h):
            for x in range(x0, x0 + w):
                pixel = (z * height + y) * width + x
                if mask and not mask[pixel % len(mask)]:
                    continue
                for c in range(o.channels):
                    page = z if o.pages and o.per == 'page' else None
                    row = (page, c if o.per == 'channel' else None, z if o.per == 'slice' else None,
                           labels[pixel] if labels else None)
                    place = {'x': x, 'y': y, 'z': 0 if o.pages else z, 'channel': c, 'page': z if o.pages else 0}
                    row = rows.setdefault(row, Row())
                    row.values.append(samples[pixel * o.channels + c])
                    row.places.append(place)
    if not rows:
        return [((None,) * 4, Row())]
    return sorted(rows.items(), key=lambda item: [-1e99 if part is None else part for part in item[0]])


# ---- the comparison ----

class Checker:
    def __init__(self, o):
        self.o, self.wrong, self.compared = o, [], set()

    def same(self, row, name, true, good=None):
        if name not in row:
            return
        self.compared.add(name)
        found = row[name]
        if not (good(found) if good else type(found) is type(true) and found == true):
            self.wrong.append('%s is %r, not %r' % (name, found, true if len(repr(true)) < 400 else '(long)'))

    def place(self, row, name, true):
        if true is None:
            self.same(row, name, None)
            return
        self.same(row, name, true, lambda found: found is not None and 'x' in found and 'y' in found
                  and all(true[axis] == at for axis, at in found.items())
                  and all(axis in found for axis, at in true.items() if at > 0)
                  and ('z' in found or self.o.pages or self.o.size[2] == 1))

    def moments(self, row, values):
        sums = Sums(self.o.type, values)
        whole = self.o.type[0] != 'f'
        ulps = Fraction(1, 2) if whole else 2
        some = len(values) > 0
        if whole:
            self.same(row, 'sum', sums.total)
        else:
            self.same(row, 'sum', 'within 2 ulp of the truth', lambda found: near(found, sums.sum(), ulps))
        variance = sums.variance(self.o.ddof)
        for name, true, test in (('mean', sums.mean() if some else None, near), ('var', variance, near),
                                 ('std', variance, near_root),
                                 ('rms', sums.mean_square() if some else None, near_root)):
            self.same(row, name, 'within %s ulp of the truth' % ulps, lambda found: test(found, true, ulps))

    def histograms(self, row, values):
        if 'histogram' not in row and 'entropy' not in row:
            return
        kind, low, high, counts, below, above = histogram(self.o.type, values, self.o.bins, self.o.range)
        self.same(row, 'histogram', {'kind': kind, 'low': low, 'high': high, 'bins': len(counts), 'counts': counts,
                                     'below': below, 'above': above}, lambda found: found ==
                  {'kind': kind, 'low': low, 'high': high, 'bins': len(counts), 'counts': counts,
                   'below': below, 'above': above})
        true = entropy(counts)
        self.same(row, 'entropy', true, lambda found: found is true is None or
                  abs(found - true) <= 1e-14 * true)

    def row(self, row, parts, true):
        start = len(self.wrong)
        values = [v for v in true.values if math.isfinite(v)]
        self.same(row, 'type', self.o.type)
        for name, part in zip(PARTS, parts):
            if row.get(name) != part:
                self.wrong.append('%s is %r, not %r' % (name, row.get(name), part))
        self.same(row, 'n', len(values))
        self.same(row, 'n_nan', sum(v != v for v in true.values))
        self.same(row, 'n_inf', sum(math.isinf(v) for v in true.values))
        self.same(row, 'n_plus_inf', sum(v == math.inf for v in true.values))
        self.same(row, 'n_minus_inf', sum(v == -math.inf for v in true.values))
        for name, choose in (('min', min), ('max', max)):
            best = choose(values, default=None)
            self.same(row, name, best, lambda found: found == best)
            self.place(row, name + '_at', None if best is None else true.places[true.values.index(best)])
        self.moments(row, values)
        ordered = sorted(values)
        self.same(row, 'median', percentile(ordered, 50), lambda found: found == percentile(ordered, 50))
        for p, found in row.get('percentiles', {}).items():
            self.compared.add('percentiles')
            if found != percentile(ordered, float(p)):
                self.wrong.append('p%s is %r, not %r' % (p, found, percentile(ordered, float(p))))
        self.histograms(row, values)
        self.wrong[start:] = ['%s: %s' % (parts, text) for text in self.wrong[start:]]


def strict(word):
    raise ValueError('%s is not JSON' % word)


def results(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if '\n' in text.strip() or '"results"' in text:
        document = json.loads(text, parse_constant=strict)
        assert document['schema'] == 'gpufilt-stats-1', document['schema']
        return document['results']
    return [json.loads(line, parse_constant=strict) for line in text.splitlines()]


def check(o):
    checker = Checker(o)
    rows, wanted = results(o.report), rows_of(o)
    if len(rows) != len(wanted):
        checker.wrong.append('%d rows, not %d' % (len(rows), len(wanted)))
    for row, (parts, true) in zip(rows, wanted):
        checker.row(row, parts, true)
    for name in o.needs.split(','):
        if name and name not in checker.compared:
            checker.wrong.append('%s is not in the report' % name)
    for text in checker.wrong[:20]:
        print(text)
    return 1 if checker.wrong else 0


def box(text):
    origin, size = text.split('+')
    origin, size = [int(v) for v in origin.split(',')], [int(v) for v in size.split('x')]
    return (*origin, *[0] * (3 - len(origin)), *size, *[1] * (3 - len(size)))


def size(text):
    numbers = [int(v) for v in text.split('x')]
    return (*numbers, *[1] * (3 - len(numbers)))


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument('--type', required=True)
    p.add_argument('--size', type=size, required=True)
    p.add_argument('--channels', type=int, default=1)
    p.add_argument('--pages', action='store_true', help='planes of the raw file are pages')
    p.add_argument('--be', action='store_true')
    p.add_argument('--per')
    p.add_argument('--roi', type=box, help='with a plane, also where there is one')
    p.add_argument('--mask')
    p.add_argument('--labels')
    p.add_argument('--label-type', default='u8')
    p.add_argument('--ddof', type=int, default=1)
    p.add_argument('--bins', type=int)
    p.add_argument('--range', type=lambda text: tuple(float(v) for v in text.split(',')))
    p.add_argument('--needs', default='n,min,min_at,max,max_at,sum,mean,std,median')
    p.add_argument('raw')
    p.add_argument('report')
    return p.parse_args(sys.argv[2:])


if sys.argv[1] == 'make':
    sys.stdout.buffer.write(make(sys.argv[2], int(sys.argv[3]), sys.argv[4], int((sys.argv[5:] or [1])[0])))
else:
    sys.exit(check(arguments()))
