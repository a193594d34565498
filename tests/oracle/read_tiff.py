#!/usr/bin/env python3
"""Writes the samples of all pages of an uncompressed TIFF of whole-byte samples to standard
output, little-endian: an independent reader for what the program wrote."""
import struct
import sys

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
CODES = {1: 'B', 3: 'H', 4: 'I', 13: 'I', 16: 'Q'}


def main():
    with open(sys.argv[1], 'rb') as f:
        data = f.read()
    e = {b'II': '<', b'MM': '>'}[data[:2]]
    big = struct.unpack_from(e + 'H', data, 2)[0] == 43
    word, entry, head = ('Q', 20, 'Q') if big else ('I', 12, 'H')
    at = struct.unpack_from(e + word, data, 8 if big else 4)[0]
    while at:
        count = struct.unpack_from(e + head, data, at)[0]
        at += struct.calcsize(head)
        tags = {}
        for _ in range(count):
            tag, kind, n = struct.unpack_from(e + 'HH' + word, data, at)
            place = at + entry - struct.calcsize(word)
            if n * SIZES[kind] > struct.calcsize(word):
                place = struct.unpack_from(e + word, data, place)[0]
            if kind in CODES:
                tags[tag] = struct.unpack_from('%s%d%s' % (e, n, CODES[kind]), data, place)
            at += entry
        at = struct.unpack_from(e + word, data, at)[0]
        page(data, e, tags)


def page(data, e, tags):
    width, height = tags[256][0], tags[257][0]
    bits, channels = tags.get(258, (1,))[0], tags.get(277, (1,))[0]
    assert tags.get(259, (1,))[0] == 1, 'compressed'
    assert bits % 8 == 0, 'samples of parts of bytes'
    size = bits // 8
    planes = channels if tags.get(284, (1,))[0] == 2 else 1
    step = size * channels // planes
    rows = [bytearray(height * width * step) for _ in range(planes)]
    if 322 in tags:
        across, down, offsets = tags[322][0], tags[323][0], list(tags[324])
    else:
        across, down, offsets = width, min(tags.get(278, (height,))[0], height), list(tags[273])
    for plane in rows:
        for y in range(0, height, down):
            for x in range(0, width, across):
                start = offsets.pop(0)
                for line in range(min(down, height - y)):
                    length = min(across, width - x) * step
                    source = start + line * across * step
                    assert source + length <= len(data), 'beyond the end of the file'
                    target = ((y + line) * width + x) * step
                    plane[target:target + length] = data[source:source + length]
    assert not offsets, 'more strips than rows'
    out = rows[0] if planes == 1 else bytearray(b''.join(
        plane[i:i + size] for i in range(0, len(rows[0]), size) for plane in rows))
    if e == '>':
        for i in range(0, len(out), size):
            out[i:i + size] = out[i:i + size][::-1]
    sys.stdout.buffer.write(out)


main()
