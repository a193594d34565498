#!/usr/bin/env python3
"""What filtering raw samples with an integer mask must give, worked out slowly and exactly.

Independent of the program: nothing is shared with it, every index outside the image is found
by walking one step at a time, sums are Python integers, and the division is an exact fraction
rounded once. Standard library only.

    filter_oracle.py --size 5x4x1 --type u8 --channels 1 --mask '1 2 1; 2 4 2; 1 2 1'
        --divisor 16 --border clamp in.raw out.raw

Rows of the mask are divided by ';', planes by ';;', taps by blanks or commas. Files are packed
little-endian samples, [plane][row][column][channel]. With --2d every plane is filtered alone.
"""
import argparse
import struct
import sys
from fractions import Fraction

TYPES = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h', 'u32': 'I', 'i32': 'i', 'f32': 'f', 'f64': 'd'}
BORDERS = ('zero', 'constant', 'clamp', 'wrap', 'symmetric', 'reflect101', 'valid', 'normalize')
OUTSIDE = None


# ---- borders: a walker starts on sample 0 and takes single steps ----

def step_clamp(place, way, n):
    there = place + way
    return (there if 0 <= there < n else place), way


def step_wrap(place, way, n):
    there = place + way
    if there == n:
        there = 0
    elif there == -1:
        there = n - 1
    return there, way


def step_symmetric(place, way, n):
    """A mirror stands on the outer face of the edge sample: it is met twice."""
    there = place + way
    if 0 <= there < n:
        return there, way
    return place, -way


def step_reflect101(place, way, n):
    """A mirror stands in the middle of the edge sample: it is met once."""
    if n == 1:
        return 0, way
    there = place + way
    if 0 <= there < n:
        return there, way
    return place - way, -way


STEPS = {'clamp': step_clamp, 'wrap': step_wrap, 'symmetric': step_symmetric,
         'reflect101': step_reflect101}


def walk(border, n, first, last):
    """{index: index inside or OUTSIDE} for first..last."""
    found = {i: i if 0 <= i < n else OUTSIDE for i in range(first, last + 1)}
    if border not in STEPS:
        return found
    for way in (-1, 1):
        place, heading = 0, way
        for index in range(way, (first if way < 0 else last) + way, way):
            place, heading = STEPS[border](place, heading, n)
            found[index] = place
    return found


# ---- arithmetic ----

def round_half_even(q):
    """The nearest integer of a fraction; of two equally near, the even one."""
    below = q.numerator // q.denominator
    twice = 2 * (q - below)
    if twice > 1 or (twice == 1 and below % 2 == 1):
        return below + 1
    return below


def limits(kind):
    bits = 8 * struct.calcsize('<' + TYPES[kind])
    return (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if kind[0] == 'i' else (0, 2 ** bits - 1)


def store(numerator, denominator, kind):
    if kind[0] == 'f':
        return numerator / denominator if denominator > 0 else -numerator / -denominator
    low, high = limits(kind)
    return min(max(round_half_even(Fraction(numerator, denominator)), low), high)


def parse_mask(text):
    planes = [[[int(tap) for tap in row.replace(',', ' ').split()] for row in plane.split(';')]
              for plane in text.split(';;')]
    sizes = {len(row) for plane in planes for row in plane}
    if len(sizes) != 1 or len({len(plane) for plane in planes}) != 1 or 0 in sizes:
        sys.exit('filter_oracle.py: ragged mask')
    return planes


def filtered(samples, size, channels, planes, origin, border, fill, convolve):
    """Yields (sum of tap times sample, weight inside, weight in all) in file order."""
    width, height, depth = size
    taps = [(i, j, k, planes[k][j][i]) for k in range(len(planes))
            for j in range(len(planes[0])) for i in range(len(planes[0][0]))]
    extent = (len(planes[0][0]), len(planes[0]), len(planes))
    sign = -1 if convolve else 1
    # Where tap 0..extent-1 reaches from the sample under the origin.
    reach = [sorted((sign * (0 - o), sign * (e - 1 - o))) for o, e in zip(origin, extent)]
    tables = [walk(border, n, low, n - 1 + high) for n, (low, high) in zip(size, reach)]
    if border == 'valid':
        ranges = [range(-low, n - high) for n, (low, high) in zip(size, reach)]
    else:
        ranges = [range(n) for n in size]
    total = sum(tap for *_, tap in taps)
    moves = [(sign * (i - origin[0]), sign * (j - origin[1]), sign * (k - origin[2]), tap)
             for i, j, k, tap in taps]
    for z in ranges[2]:
        for y in ranges[1]:
            for x in ranges[0]:
                sums, inside = [0] * channels, 0
                for dx, dy, dz, tap in moves:
                    at = tables[0][x + dx], tables[1][y + dy], tables[2][z + dz]
                    if OUTSIDE in at:
                        if border == 'constant':
                            sums = [s + tap * fill for s in sums]
                        continue
                    inside += tap
                    start = ((at[2] * height + at[1]) * width + at[0]) * channels
                    for c in range(channels):
                        sums[c] += tap * samples[start + c]
                for s in sums:
                    yield s, inside, total


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--size', required=True, help='WxHxD')
    p.add_argument('--type', required=True, choices=TYPES)
    p.add_argument('--out-type', choices=TYPES)
    p.add_argument('--channels', type=int, default=1)
    p.add_argument('--mask', required=True)
    p.add_argument('--divisor', type=int, default=1)
    p.add_argument('--origin', help='x,y,z; half the size unless given')
    p.add_argument('--border', required=True, choices=BORDERS)
    p.add_argument('--fill', type=int, default=0)
    p.add_argument('--convolve', action='store_true')
    p.add_argument('--2d', dest='flat', action='store_true', help='every plane by itself')
    p.add_argument('input')
    p.add_argument('output')
    a = p.parse_args()

    size = [int(n) for n in a.size.split('x')]
    size += [1] * (3 - len(size))
    planes = parse_mask(a.mask)
    extent = (len(planes[0][0]), len(planes[0]), len(planes))
    origin = [int(o) for o in a.origin.split(',')] if a.origin else [e // 2 for e in extent[:3]]
    origin += [e // 2 for e in extent[len(origin):]]
    out_type = a.out_type or a.type
    count = size[0] * size[1] * size[2] * a.channels
    code = '<%d' + TYPES[a.type]
    with open(a.input, 'rb') as f:
        data = f.read()
    if len(data) != struct.calcsize(code % count):
        sys.exit('filter_oracle.py: %s holds %d bytes, not %d' %
                 (a.input, len(data), struct.calcsize(code % count)))
    samples = struct.unpack(code % count, data)

    slabs = [(samples, size)]
    if a.flat:
        one = count // size[2]
        slabs = [(samples[z * one:(z + 1) * one], size[:2] + [1]) for z in range(size[2])]
    out = []
    for part, shape in slabs:
        for value, inside, total in filtered(part, shape, a.channels, planes, origin, a.border,
                                             a.fill if a.border == 'constant' else 0, a.convolve):
            if a.border == 'normalize':
                if inside == 0:
                    sys.exit('filter_oracle.py: the weight inside is 0')
                out.append(store(value * total, a.divisor * inside, out_type))
            else:
                out.append(store(value, a.divisor, out_type))
    with open(a.output, 'wb') as f:
        f.write(struct.pack('<%d' % len(out) + TYPES[out_type], *out))


if __name__ == '__main__':
    main()
