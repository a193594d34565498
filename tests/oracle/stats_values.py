#!/usr/bin/env python3
"""Writes what statistics must come to, worked out with fractions, for tests/unit/test_wide.c.

    stats_values.py > tests/unit/stats_values.h

The seed is fixed: the same file every time. Standard library only.
"""
import math
import random
import struct
from fractions import Fraction

random.seed(20)
TYPES = {'F16': ('e', 'H', 5, 10), 'F32': ('f', 'I', 8, 23), 'F64': ('d', 'Q', 11, 52)}
NAN = 0x7ff8000000000000


def nearest(value):
    """The bits of the double nearest to a fraction, ties to even (int / int is rounded so)."""
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    return struct.unpack('<Q', struct.pack('<d', near))[0]


def nearest_root(value):
    """The same of its square root. Between 2^130 and 2^133 as an integer, a root that is not whole
    is told from its neighbours by half a unit more: that rounds as the root does."""
    if value == 0:
        return 0
    shift = 131 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    scaled = value * Fraction(4) ** shift
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    return nearest((whole + (0 if whole * whole == scaled else Fraction(1, 2))) / Fraction(2) ** shift)


def results(n, total, squares, ddof):
    if n == 0:
        return [0, NAN, NAN, NAN, NAN]
    mean = Fraction(total) / n
    spread = [NAN, NAN]
    if n > ddof:
        variance = (Fraction(squares) - total * mean) / (n - ddof)
        spread = [nearest(variance), nearest_root(variance)]
    return [nearest(Fraction(total)), nearest(mean), *spread, nearest_root(Fraction(squares) / n)]


def words(values):
    text = [f'0x{v:x}' for v in values]
    return '{' + ', '.join(text[:4]) + ''.join(f',\n      {t}' for t in text[4:]) + '}'


# ---- integers ----

def integer_row(n, total, squares, ddof):
    parts = [total >> 64 * i & (1 << 64) - 1 for i in (0, 1)]
    parts += [squares >> 64 * i & (1 << 64) - 1 for i in (0, 1)]
    return f'    {{{n}u, {ddof}, {words(parts)},\n     {words(results(n, total, squares, ddof))}}},'


def integer_cases():
    for data in [], [0], [5], [-7], [1, 2], [255] * 9, [-1, 1], [3, 4, 4, 5], [0, 0, 1], [-128] * 3 + [127]:
        for ddof in 0, 1, 2:
            yield len(data), sum(data), sum(x * x for x in data), ddof
    for _ in range(60):
        top = random.choice([1, 3, 255, 65535, 2 ** 32 - 1])
        low = random.choice([0, -top - 1, top // 2, top - 1])
        data = [random.randint(low, top) for _ in range(random.randint(1, 40))]
        yield len(data), sum(data), sum(x * x for x in data), random.randint(0, 1)
    # Many samples: k of one value and n - k of another.
    for _ in range(80):
        n = random.choice([2 ** 31 - 1, 2 ** 40, 2 ** 40 - 87, random.randint(2, 2 ** 40)])
        k = random.choice([0, 1, n // 2, n - 1, random.randint(0, n)])
        a, b = (random.choice([0, 1, -1, 65535, 2 ** 32 - 1, -2 ** 31, random.randint(-2 ** 31, 2 ** 32 - 1)])
                for _ in (0, 1))
        yield n, k * a + (n - k) * b, k * a * a + (n - k) * b * b, random.randint(0, 1)
    # The mean lies on a tie between two doubles, or just beside it.
    for beside in -1, 0, 1:
        for odd in 0, 1:
            total = 4 * (2 ** 54 + 2 + 4 * odd) // 2 + beside
            yield 4, total, total * total // 4 + 1, 1


# ---- floats ----

def bits_of(kind, value):
    return struct.unpack('<' + TYPES[kind][1], struct.pack('<' + TYPES[kind][0], value))[0]


def value_of(kind, bits):
    return struct.unpack('<' + TYPES[kind][0], struct.pack('<' + TYPES[kind][1], bits))[0]


def random_bits(kind, low, high):
    """A random mantissa and sign, the biased exponent from low to high."""
    _, _, exponent_bits, mantissa_bits = TYPES[kind]
    sign = random.getrandbits(1) << exponent_bits + mantissa_bits
    return sign | random.randint(low, high) << mantissa_bits | random.getrandbits(mantissa_bits)


def float_runs(kind):
    """Lists of (bits, how often)."""
    top = 2 ** TYPES[kind][2] - 2
    middle = top // 2
    one, most, least = bits_of(kind, 1), value_of(kind, (top + 1 << TYPES[kind][3]) - 1), value_of(kind, 1)
    yield from ([], [(0, 1)], [(one, 1)], [(1, 1)], [(1, 2), (0, 1)], [(one, 1000)], [(bits_of(kind, -0.0), 5)])
    for values in ([most], [most] * 3, [-most] * 2, [most, -most], [most, -most, least], [most, least],
                   [1, least, -1], [least, -least, -least], [1, 1 + value_of(kind, one + 1)],
                   [math.nan, 1, math.inf, 2, -math.inf], [math.nan] * 3, [3, 4], [-3, 3, -4, 4]):
        yield [(bits_of(kind, v), 1) for v in values]
    for low, high in (0, 0), (0, 1), (1, 3), (middle, middle), (middle - 3, middle + 3), (top, top), (0, top), \
                     (top - 2, top), (middle // 2, middle):
        for _ in range(7):
            yield [(random_bits(kind, low, high), random.choice([1, 1, 1, 999])) for _ in range(random.randint(2, 7))]
    # Cancels to 0, or to the last value alone.
    for last in None, 1, one, random_bits(kind, 0, middle):
        half = [random_bits(kind, 0, top) for _ in range(4)]
        both = half + [b ^ 1 << 8 * struct.calcsize(TYPES[kind][0]) - 1 for b in half]
        random.shuffle(both)
        yield [(b, 1) for b in both + ([] if last is None else [last])]
    # A large mean and the smallest of spreads.
    for base in one, top << TYPES[kind][3], bits_of(kind, -1000):
        yield [(base, 1000), (base + 1, 1)]
        yield [(base + random.getrandbits(4), random.randint(1, 300)) for _ in range(6)]
    # Sums in the middle between two doubles, with and without a little more.
    if kind == 'F64':
        for more in None, 1, 1 | 1 << 63:
            for odd in 0, 1:
                yield [(one + odd, 1), (bits_of(kind, 2.0 ** -53), 1)] + ([] if more is None else [(more, 1)])
        # The same for the root of the mean square: 16 (1 + k 2^-53)^2 as a sum of squares.
        for k in 1, 3:
            for more in 0, 1, bits_of(kind, 2.0 ** -500):
                yield [(bits_of(kind, 4), 1), (bits_of(kind, 2.0 ** -24), k), (bits_of(kind, k * 2.0 ** -51), 1),
                       (more, 1), (0, 13 - k)]


def float_case(kind, runs, ddof):
    n = total = squares = 0
    for bits, times in runs:
        value = value_of(kind, bits)
        if math.isfinite(value):
            n += times
            total += times * Fraction(value)
            squares += times * Fraction(value) ** 2
    return n, results(n, total, squares, ddof)


def main():
    print('/* Written by tests/oracle/stats_values.py with the fractions of Python; not by hand. */\n')
    print('/* n, ddof; the sum and the sum of squares, low word first; bits of the results. */')
    print('static const struct integer_case integer_cases[] = {')
    for case in integer_cases():
        print(integer_row(*case))
    print('};\n')
    cases, rows = [], []
    for kind in TYPES:
        for runs in float_runs(kind):
            ddof = random.choice([0, 1, 1])
            n, expected = float_case(kind, runs, ddof)
            cases.append(f'    {{GF_{kind}, {len(rows)}, {len(runs)}, {n}, {ddof},\n     {words(expected)}}},')
            rows += [f'{{0x{bits:x}, {times}}},' for bits, times in runs]
    print('/* Bits of a sample, and how often it comes. */\nstatic const struct run runs[] = {')
    for i in range(0, len(rows), 3):
        print('    ' + ' '.join(rows[i:i + 3]))
    print('};\n\n/* Type, first run, runs, finite samples, ddof; bits of the results. */')
    print('static const struct float_case float_cases[] = {')
    print('\n'.join(cases) + '\n};')


main()
