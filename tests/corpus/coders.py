"""Encoders for a few codings that only single tests need: flat JPEG blocks of several
components, predictor 3 of TIFF, a row of Group 4, and a TIFF page from data that is already coded."""
import struct

from common import pack_bits
from tiff_files import LONG, SHORT, Tiff


def number_bits(value):
    """JPEG: the size of a DC difference as a code of 4 bits, then its bits."""
    size = abs(value).bit_length()
    tail = format(value if value > 0 else value + 2**size - 1, '0%db' % size) if size else ''
    return format(size, '04b') + tail


def segment(marker, body):
    return bytes((0xff, marker)) + struct.pack('>H', len(body) + 2) + body


def flat_jpeg(width, height, units, sampling=((1, 1),), adobe=None, progressive=False, keep=1.0):
    """`units` is a list of MCUs, each the values of its 8x8 blocks in order of components. Only
    DC coefficients, in whole steps, so every decoder gives these values (before any colour
    conversion). A progressive file has the one scan of DC. `keep` is the part of the coded data
    that is there."""
    components = len(sampling)
    out = b'\xff\xd8'
    if adobe is not None:
        out += segment(0xee, b'Adobe' + struct.pack('>HHHB', 100, 0, 0, adobe))
    out += segment(0xdb, b'\0' + bytes([8] * 64))
    out += segment(0xc2 if progressive else 0xc0, struct.pack('>BHHB', 8, height, width, components)
                   + b''.join(bytes((i + 1, h << 4 | v, 0)) for i, (h, v) in enumerate(sampling)))
    out += segment(0xc4, bytes([0, 0, 0, 0, 9] + [0] * 12) + bytes(range(9)))
    out += segment(0xc4, bytes([0x10, 1] + [0] * 15) + b'\0')
    out += segment(0xda, bytes([components]) + b''.join(bytes((i + 1, 0)) for i in range(components))
                   + bytes((0, 0 if progressive else 63, 0)))
    bits, last = '', [128] * components
    for unit in units:
        values = iter(unit)
        for i, (h, v) in enumerate(sampling):
            for _ in range(h * v):
                value = next(values)
                bits += number_bits(value - last[i]) + ('' if progressive else '0')
                last[i] = value
    bits += '1' * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, 'big').replace(b'\xff', b'\xff\0')
    return out + (data + b'\xff\xd9' if keep == 1 else data[:int(len(data) * keep)])


def float_predictor(values, code):
    """One row: the most significant bytes of all samples first, then the next ones, ...; each
    byte as the difference from the one before. The same in both byte orders."""
    samples = [struct.pack('>' + code, v) for v in values]
    row = bytes(s[i] for i in range(len(samples[0])) for s in samples)
    return bytes((b - a) % 256 for a, b in zip(b'\0' + row, row))


def group4_row():
    """Group 4 of CCITT, one row of 8: black 3, white 1, black 4."""
    horizontal, end = '001', '000000000001'
    code = (horizontal + '00110101' + '10'      # white 0, black 3
            + horizontal + '000111' + '011'     # white 1, black 4
            + end * 2)
    return pack_bits([int(bit) for bit in code], 1)


def coded_page(data, width, height, bits, photometric, compression, endian='<', channels=1, **more):
    """A TIFF of one strip that is coded already. A tag of None is left out."""
    f = Tiff(endian)
    at = f.append(data)
    tags = {'width': (LONG, [width]), 'height': (LONG, [height]), 'bits': (SHORT, [bits] * channels),
            'compression': (SHORT, [compression]), 'photometric': (SHORT, [photometric]),
            'samples': (SHORT, [channels]), 'rows_per_strip': (LONG, [height]), 'offsets': (LONG, [at]),
            'counts': (LONG, [len(data)])}
    if 'tile_width' in more:
        for old, new in (('offsets', 'tile_offsets'), ('counts', 'tile_counts')):
            tags[new] = tags.pop(old)
        del tags['rows_per_strip']
    tags.update(more)
    f.directory({t: v for t, v in tags.items() if v is not None})
    return f.bytes()
