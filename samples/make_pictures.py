#!/usr/bin/env python3
"""Writes the pictures of this folder that no camera took, with the standard library alone.

    make_pictures.py FOLDER

bubbles_rgba.png   u8 RGBA, soft discs over nothing: shows what filtering does at transparent edges
cells_16bit.tif    u16 gray, round cells with noise, 0.25 um a pixel: shows --sigma 1um

The samples come from integer formulas, so every machine makes the same pictures (the bytes of
the PNG depend on the version of zlib).
"""
import struct
import sys
import zlib


def generator(state):
    """An endless stream of 31-bit numbers."""
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def root(n):
    """The integer square root, by halving the interval."""
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if middle * middle <= n:
            low = middle
        else:
            high = middle
    return low


def write_png_rgba(path, width, height, rows):
    def chunk(kind, body):
        return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    data = b''.join(b'\0' + row for row in rows)
    with open(path, 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n'
                + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 6, 0, 0, 0))
                + chunk(b'sRGB', b'\0')
                + chunk(b'IDAT', zlib.compress(data, 9))
                + chunk(b'IEND', b''))


def bubbles(path):
    width, height = 320, 200
    random = generator(7)
    discs = [(next(random) % width, next(random) % height, 12 + next(random) % 34,
              bytes((60 + next(random) % 196, 60 + next(random) % 196, 60 + next(random) % 196)))
             for _ in range(26)]
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            pixel = b'\0\0\0\0'
            for cx, cy, r, colour in discs:
                # Sixteenths of a pixel inside the rim: the rim is two pixels soft.
                inside = 16 * r - root(256 * ((x - cx) ** 2 + (y - cy) ** 2))
                if inside > 0:
                    pixel = colour + bytes((min(255, inside * 8),))
            row += pixel
        rows.append(bytes(row))
    write_png_rgba(path, width, height, rows)


def cells(path):
    width, height = 256, 192
    random = generator(11)
    spots = [(next(random) % width, next(random) % height, 5 + next(random) % 9,
              2000 + next(random) % 9000) for _ in range(70)]
    data = bytearray()
    for y in range(height):
        for x in range(width):
            value = 900
            for cx, cy, r, peak in spots:
                left = r * r - (x - cx) ** 2 - (y - cy) ** 2
                if left > 0:
                    value += peak * left // (r * r)
            # Shot noise grows with the root of the signal.
            spread = 4 * root(value)
            value += (next(random) % (2 * spread + 1) + next(random) % (2 * spread + 1)) // 2 - spread
            data += struct.pack('<H', max(0, min(65535, value)))
    description = b'ImageJ=1.53\nimages=1\nunit=um\nmin=0\nmax=12000\n\0'
    description += b'\0' * (len(description) % 2)
    # Entries: tag, type (2 ASCII, 3 SHORT, 4 LONG, 5 RATIONAL), count, value or offset.
    entries = 12
    after = 8 + 2 + 12 * entries + 4
    resolution, pixels = after + len(description), after + len(description) + 8
    directory = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 16), (259, 3, 1, 1),
                 (262, 3, 1, 1), (270, 2, len(description), after), (273, 4, 1, pixels),
                 (277, 3, 1, 1), (278, 3, 1, height), (279, 4, 1, len(data)),
                 (282, 5, 1, resolution), (283, 5, 1, resolution)]
    assert len(directory) == entries
    with open(path, 'wb') as f:
        f.write(b'II*\0' + struct.pack('<IH', 8, entries))
        for tag, kind, count, value in directory:
            f.write(struct.pack('<HHII', tag, kind, count, value))
        f.write(struct.pack('<I', 0) + description + struct.pack('<II', 4, 1) + data)


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: make_pictures.py FOLDER')
    bubbles(sys.argv[1] + '/bubbles_rgba.png')
    cells(sys.argv[1] + '/cells_16bit.tif')


main()
