"""TIFF: sample types, layouts, photometrics, pages, and broken directories."""
import struct
import zlib

from common import flat, image, pack_bits, packed, sample, signed

SHORT, LONG, RATIONAL, ASCII, LONG8 = 3, 4, 5, 2, 16
SIZES = {1: 1, ASCII: 1, SHORT: 2, LONG: 4, RATIONAL: 8, LONG8: 8}
NAMES = {'width': 256, 'height': 257, 'bits': 258, 'compression': 259, 'photometric': 262,
         'fillorder': 266, 'description': 270, 'offsets': 273, 'orientation': 274, 'samples': 277,
         'rows_per_strip': 278, 'counts': 279, 'xres': 282, 'yres': 283, 'planar': 284,
         'unit': 296, 'predictor': 317, 'colormap': 320, 'tile_width': 322, 'tile_height': 323,
         'tile_offsets': 324, 'tile_counts': 325, 'extra': 338, 'format': 339, 'ycbcr_sub': 530,
         'refblackwhite': 532, 'private': 60000}
GRAY_WHITE_0, GRAY, RGB, PALETTE, CMYK, YCBCR, LAB = 0, 1, 2, 3, 5, 6, 8


class Tiff:
    """Builds a file front to back: header, then for each page its data and its directory."""

    def __init__(self, endian='<', big=False):
        self.e, self.big = endian, big
        magic = b'II' if endian == '<' else b'MM'
        if big:
            self.data = bytearray(magic + struct.pack(endian + 'HHHQ', 43, 8, 0, 0))
            self.link = 8
        else:
            self.data = bytearray(magic + struct.pack(endian + 'HI', 42, 0))
            self.link = 4
        self.directories = []

    def offset(self, value):
        return struct.pack(self.e + ('Q' if self.big else 'I'), value)

    def append(self, piece):
        self.data += bytes(-len(self.data) % 8)
        at = len(self.data)
        self.data += piece
        return at

    def entry_value(self, kind, values):
        if kind == ASCII:
            return values
        if kind == RATIONAL:
            return b''.join(struct.pack(self.e + 'II', *v) for v in values)
        return struct.pack('%s%d%s' % (self.e, len(values), {1: 'B', SHORT: 'H', LONG: 'I', LONG8: 'Q'}[kind]),
                           *values)

    def directory(self, tags):
        """`tags` is {name or number: (type, values)}."""
        room = 8 if self.big else 4
        entries = []
        for tag, (kind, values) in sorted((NAMES.get(t, t), v) for t, v in tags.items()):
            body = self.entry_value(kind, values)
            count = len(body) // SIZES[kind]
            if len(body) > room:
                body = self.offset(self.append(body))
            entries.append(struct.pack(self.e + ('HHQ' if self.big else 'HHI'), tag, kind, count)
                           + body.ljust(room, b'\0'))
        at = self.append(struct.pack(self.e + ('Q' if self.big else 'H'), len(entries)) + b''.join(entries))
        self.data[self.link:self.link + room] = self.offset(at)
        self.link = len(self.data)
        self.data += self.offset(0)
        self.directories.append(at)

    def endian_pack(self, values, bits, code=None):
        """One row (or tile row) of stored values."""
        if bits in (8, 16, 32, 64):
            return struct.pack('%s%d%s' % (self.e, len(values), code or {8: 'B', 16: 'H', 32: 'I', 64: 'Q'}[bits]),
                               *values)
        if bits == 24:
            return b''.join(v.to_bytes(3, 'little' if self.e == '<' else 'big') for v in values)
        return pack_bits(values, bits)

    def page(self, rows, bits, photometric, planar=1, compression=1, predictor=1, tile=None,
             rows_per_strip=None, code=None, reverse=False, without=(), **more):
        """`rows` are stored values as [row][column][channel]; `more` are further or changed tags
        (bits_tag: the tag alone)."""
        height, width, channels = len(rows), len(rows[0]), len(rows[0][0])
        tags = {'width': (LONG, [width]), 'height': (LONG, [height]), 'bits': (SHORT, [bits] * channels),
                'compression': (SHORT, [compression]), 'photometric': (SHORT, [photometric]),
                'samples': (SHORT, [channels]), 'planar': (SHORT, [planar])}
        planes = [rows] if planar == 1 else [[[[pixel[c]] for pixel in row] for row in rows]
                                             for c in range(channels)]
        offsets, counts = [], []
        across, down = tile or (width, rows_per_strip or height)
        for plane in planes:
            for y in range(0, height, down):
                for x in range(0, width, across):
                    block = [row[x:x + across] for row in plane[y:y + down]]
                    if tile:
                        blank = [0] * len(plane[0][0])
                        block = [row + [blank] * (across - len(row)) for row in block]
                        block += [[blank] * across] * (down - len(block))
                    lines = []
                    for row in block:
                        if predictor == 2:
                            row = row[:1] + [[(b - a) % 2**bits for a, b in zip(left, right)]
                                             for left, right in zip(row, row[1:])]
                        lines.append(self.endian_pack(flat([row]), bits, code))
                    piece = b''.join(lines)
                    if compression == 8:
                        piece = zlib.compress(piece)
                    elif compression == 32773:
                        piece = b''.join(packbits(line) for line in lines)
                    elif compression == 5:
                        piece = lzw(piece)
                    if reverse:
                        piece = bytes(int('{:08b}'.format(byte)[::-1], 2) for byte in piece)
                    offsets.append(self.append(piece))
                    counts.append(len(piece))
        kind = LONG8 if self.big else LONG
        if tile:
            tags.update(tile_width=(LONG, [across]), tile_height=(LONG, [down]),
                        tile_offsets=(kind, offsets), tile_counts=(kind, counts))
        else:
            tags.update(rows_per_strip=(LONG, [down]), offsets=(kind, offsets), counts=(kind, counts))
        if predictor != 1:
            tags['predictor'] = (SHORT, [predictor])
        tags.update({t.replace('_tag', ''): v for t, v in more.items()})
        self.directory({t: v for t, v in tags.items() if t not in without})
        return self

    def bytes(self):
        return bytes(self.data)


def packbits(line):
    """Runs where three bytes are the same, literals elsewhere."""
    out, i = bytearray(), 0
    while i < len(line):
        run = 1
        while run < 128 and i + run < len(line) and line[i + run] == line[i]:
            run += 1
        if run >= 3:
            out += bytes((257 - run, line[i]))
            i += run
            continue
        start = i
        while i < len(line) and i - start < 128 and line[i:i + 3] != line[i:i + 1] * 3:
            i += 1
        out += bytes((i - start - 1,)) + line[start:i]
    return bytes(out)


def lzw(data):
    """A clear code before every 200 literals: no table to build, codes of 9 bits."""
    codes = []
    for i in range(0, len(data), 200):
        codes += [256] + list(data[i:i + 200])
    return pack_bits(codes + [257], 9)


def tiff(rows, bits, photometric, endian='<', big=False, **how):
    return Tiff(endian, big).page(rows, bits, photometric, **how).bytes()


def good(out):
    width, height = 21, 13
    orders = (('le', '<'), ('be', '>'))

    def unsigned(values, bits):
        if bits < 8:
            top = 2**bits - 1
            return 'u8', [(v * 255 * 2 + top) // (2 * top) for v in values]
        return {8: 'u8', 16: 'u16', 32: 'u32'}.get(bits if bits in (8, 32) else 16), values

    # Unsigned integers of every width, gray, both byte orders.
    for bits in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 32):
        rows = image(bits, width, height)
        kind, values = unsigned(flat(rows), bits)
        for order, endian in orders:
            out.good('good-tiff-u%d-%s.tif' % (bits, order), tiff(rows, bits, GRAY, endian, rows_per_strip=4),
                     width, height, 1, kind, values)
    rows = image(24, width, height)
    for order, endian in orders:
        out.good('good-tiff-u24-%s.tif' % order, tiff(rows, 24, GRAY, endian), width, height, 1, 'u32',
                 flat(rows), status='0|5')
    # 64-bit integers fit no type of the program exactly.
    for fmt, name in ((1, 'u64'), (2, 'i64')):
        rows = image(50, width, height)
        out.good('good-tiff-%s.tif' % name, tiff(rows, 64, GRAY, format=(SHORT, [fmt])), width, height, 1,
                 'f64', flat(rows), status='0|5')
    for bits in (8, 16, 32):
        rows = image(bits, width, height)
        for order, endian in orders:
            out.good('good-tiff-i%d-%s.tif' % (bits, order),
                     tiff(rows, bits, GRAY, endian, format=(SHORT, [2])), width, height, 1, 'i%d' % bits,
                     [signed(v, bits) for v in flat(rows)])
    # Floats: multiples of 1/8, exact in every width; 24 bits are 1 sign, 7 exponent, 16 mantissa.
    numbers = [[[signed(v, 11) / 8] for [v] in row] for row in image(11, width, height)]
    for order, endian in orders:
        for bits, code, kind in ((16, 'e', 'f16'), (32, 'f', 'f32'), (64, 'd', 'f64')):
            out.good('good-tiff-f%d-%s.tif' % (bits, order),
                     tiff(numbers, bits, GRAY, endian, code=code, format=(SHORT, [3])), width, height, 1,
                     kind, flat(numbers))
        short = [[[float24(v)] for [v] in row] for row in numbers]
        out.good('good-tiff-f24-%s.tif' % order, tiff(short, 24, GRAY, endian, format=(SHORT, [3])),
                 width, height, 1, 'f32', flat(numbers))
    specials = [[[v] for v in (float('inf'), float('-inf'), 0.0, -0.0, 1e-45, 3.4028234663852886e38)]]
    out.good('good-tiff-f32-specials.tif', tiff(specials, 32, GRAY, code='f', format=(SHORT, [3])), 6, 1, 1,
             'f32', flat(specials))

    # Layouts, RGB and gray.
    for bits in (8, 16):
        rows = image(bits, width, height, 3)
        kind = 'u%d' % bits
        for name, how in (
                ('strips', dict(rows_per_strip=5)), ('one-row-strips', dict(rows_per_strip=1)),
                ('tiles', dict(tile=(16, 16))), ('planar', dict(planar=2, rows_per_strip=5)),
                ('planar-tiles', dict(planar=2, tile=(16, 16))),
                ('deflate', dict(compression=8, rows_per_strip=5)),
                ('deflate-predictor', dict(compression=8, predictor=2, rows_per_strip=5)),
                ('deflate-tiles-predictor', dict(compression=8, predictor=2, tile=(32, 16))),
                ('packbits', dict(compression=32773)), ('lzw', dict(compression=5, rows_per_strip=7))):
            for order, endian in orders:
                for big in (False, True):
                    if big and order == 'be' and name not in ('strips', 'tiles'):
                        continue
                    out.good('good-tiff-rgb%d-%s-%s%s.tif' % (bits, name, order, '-big' if big else ''),
                             tiff(rows, bits, RGB, endian, big, **how), width, height, 3, kind, flat(rows))
    rows = image(8, 40, 37)
    out.good('good-tiff-gray-tiles.tif', tiff(rows, 8, GRAY, tile=(16, 32)), 40, 37, 1, 'u8', flat(rows))

    # Photometrics.
    for bits in (1, 4, 8, 16):
        rows = image(bits, width, height)
        kind, values = unsigned([2**bits - 1 - v for v in flat(rows)], bits)
        out.good('good-tiff-white0-%d.tif' % bits, tiff(rows, bits, GRAY_WHITE_0), width, height, 1, kind, values)
    for bits in (1, 2, 4, 8, 16):
        rows = image(bits, width, height)
        if bits == 16:
            colours = [[(i * 7 + c * 50 + 3) % 256 for c in range(3)] for i in range(2**16)]
        else:
            colours = [[sample(8, i, 3, c, 6) for c in range(3)] for i in range(2**bits)]
        # A stored colour is 16 bits; the high and the low byte agree, so that both ways of
        # taking 8 bits of it give the same.
        colormap = [colour[c] * 257 for c in range(3) for colour in colours]
        out.good('good-tiff-palette%d.tif' % bits, tiff(rows, bits, PALETTE, colormap=(SHORT, colormap)),
                 width, height, 3, 'u8', [v for [i] in sum(rows, []) for v in colours[i]],
                 status='0' if bits < 16 else '0|5')
    rows = image(8, width, height, 4)
    out.good('good-tiff-cmyk.tif', tiff(rows, 8, CMYK), width, height, 4, 'u8', flat(rows))
    for name, extra in (('associated', 1), ('unassociated', 2), ('unspecified', 0)):
        for bits in (8, 16):
            rows = image(bits, width, height, 4)
            if extra == 1:
                rows = [[[v * p[3] // (2**bits - 1) for v in p[:3]] + p[3:] for p in row] for row in rows]
            out.good('good-tiff-rgba%d-%s.tif' % (bits, name), tiff(rows, bits, RGB, extra=(SHORT, [extra])),
                     width, height, 4, 'u%d' % bits, flat(rows))
    rows = image(8, width, height, 2)
    out.good('good-tiff-gray-alpha.tif', tiff(rows, 8, GRAY, extra=(SHORT, [2])), width, height, 2, 'u8', flat(rows))
    rows = image(16, width, height, 7)
    out.good('good-tiff-channels7.tif', tiff(rows, 16, GRAY, extra=(SHORT, [0] * 6)), width, height, 7, 'u16',
             flat(rows))
    out.good('good-tiff-channels7-planar.tif', tiff(rows, 16, GRAY, planar=2, extra=(SHORT, [0] * 6)), width,
             height, 7, 'u16', flat(rows))
    # Neutral chroma: RGB is Y whatever the rounding.
    gray = image(8, 20, 12)
    rows = [[[y, 128, 128] for [y] in row] for row in gray]
    reference = (RATIONAL, [(0, 1), (255, 1), (128, 1), (255, 1), (128, 1), (255, 1)])
    out.good('good-tiff-ycbcr-1x1.tif', tiff(rows, 8, YCBCR, ycbcr_sub=(SHORT, [1, 1]), refblackwhite=reference),
             20, 12, 3, 'u8', [v for [y] in sum(gray, []) for v in (y, y, y)], status='0|5')

    # Oddities that are sound.
    rows = image(1, width, height)
    values = [v * 255 for v in flat(rows)]
    out.good('good-tiff-fillorder2.tif', tiff(rows, 1, GRAY, reverse=True, fillorder=(SHORT, [2])), width, height,
             1, 'u8', values)
    out.good('good-tiff-bits-absent.tif', tiff(rows, 1, GRAY, without=('bits', 'samples', 'planar')), width,
             height, 1, 'u8', values)
    rows = image(8, width, height)
    def plain(name, status='0', **how):
        out.good('good-tiff-%s.tif' % name, tiff(rows, 8, GRAY, **how), width, height, 1, 'u8', flat(rows),
                 status=status)
    plain('no-rows-per-strip', without=('rows_per_strip',))
    plain('no-strip-byte-counts', status='0|3', without=('counts',))
    # A count one too small, though all samples are there: libtiff works it out.
    plain('strip-count-small', status='0|3', counts=(LONG, [width * height - 1]))
    plain('short-sizes', width=(SHORT, [width]), height=(SHORT, [height]))
    for unit in (1, 2, 3):
        plain('resolution-unit%d' % unit, xres=(RATIONAL, [(300, 1)]), yres=(RATIONAL, [(1500, 10)]),
              unit=(SHORT, [unit]))
    plain('resolution-zero', xres=(RATIONAL, [(0, 0)]), yres=(RATIONAL, [(0, 0)]), unit=(SHORT, [2]))
    plain('resolution-huge', xres=(RATIONAL, [(2**32 - 1, 1)]), yres=(RATIONAL, [(1, 2**32 - 1)]))
    # Only a JPEG is turned by its orientation.
    plain('orientation6', orientation=(SHORT, [6]))
    plain('description', description=(ASCII, b'a description that is longer than four bytes\0'))
    plain('description-not-utf8', description=(ASCII, b'caf\xe9 \x1b[31m\0'))
    plain('private-tag', private=(ASCII, b'of nobody\0'))

    # Pages and volumes.
    def pages(shapes, **how):
        f = Tiff(how.pop('endian', '<'), how.pop('big', False))
        values = []
        for p, (w, h) in enumerate(shapes):
            rows = image(16, w, h, 1, p)
            f.page(rows, 16, GRAY, **how)
            values += flat(rows)
        return f.bytes(), values
    for name, how in (('', {}), ('-be', dict(endian='>')), ('-big', dict(big=True)),
                      ('-tiles', dict(tile=(16, 16)))):
        data, values = pages([(11, 9)] * 4, **how)
        out.good('good-tiff-pages4%s.tif' % name, data, 11, 9, 1, 'u16', values, depth=4, options='--3d')
    data, values = pages([(11, 9), (5, 4), (1, 1)])
    out.good('good-tiff-pages-differ.tif', data, 11, 9, 1, 'u16', values, images=3)
    for name, text in (('imagej', b'ImageJ=1.53\nimages=4\nslices=4\nunit=um\nspacing=2.0\n\0'),
                       ('imagej-loop', b'ImageJ=1.53\nimages=4\nslices=4\nunit=micron\nloop=false\n\0')):
        data, values = pages([(11, 9)] * 4, description=(ASCII, text), xres=(RATIONAL, [(4, 1)]),
                             yres=(RATIONAL, [(4, 1)]), unit=(SHORT, [1]))
        out.good('good-tiff-%s.tif' % name, data, 11, 9, 1, 'u16', values, depth=4)
    # ImageJ's way beyond 4 GiB, here small: one directory, all slices behind it.
    rows = [image(16, 11, 9, 1, p) for p in range(3)]
    f = Tiff('>')
    strip = f.append(b''.join(f.endian_pack(flat(r), 16) for r in rows))
    f.directory({'width': (LONG, [11]), 'height': (LONG, [9]), 'bits': (SHORT, [16]), 'compression': (SHORT, [1]),
                 'photometric': (SHORT, [GRAY]), 'samples': (SHORT, [1]), 'rows_per_strip': (LONG, [9]),
                 'offsets': (LONG, [strip]), 'counts': (LONG, [11 * 9 * 2]),
                 'description': (ASCII, b'ImageJ=1.53\nimages=3\nslices=3\n\0')})
    out.good('good-tiff-imagej-contiguous.tif', f.bytes(), 11, 9, 1, 'u16', sum((flat(r) for r in rows), []),
             depth=3, status='0|5')


def float24(value):
    """1 sign, 7 exponent (bias 63), 16 mantissa bits of a number that fits exactly."""
    bits = int.from_bytes(packed([value], 'f64'), 'little')
    sign, exponent, mantissa = bits >> 63, (bits >> 52 & 2047) - 1023, bits & (2**52 - 1)
    if value == 0:
        return sign << 23
    assert mantissa % 2**36 == 0 and -62 <= exponent <= 63
    return sign << 23 | (exponent + 63) << 16 | mantissa >> 36


def bad(out):
    rows = image(8, 16, 12)
    whole = tiff(rows, 8, GRAY, rows_per_strip=4)

    def file(name, data, status='3'):
        out.bad('bad-tiff-%s.tif' % name, data, status)

    def changed(name, status='3', endian='<', big=False, **how):
        file(name, tiff(rows, 8, GRAY, endian, big, **how), status)

    for length in (4, 7, 8, 50, 100, len(whole) // 2, len(whole) - 1, len(whole) - 4):
        file('truncated-%03d' % length, whole[:length])
    file('magic-44', b'II\x2c\0' + whole[4:], '3|5')
    file('no-directory', whole[:4] + bytes(4) + whole[8:])
    file('directory-beyond', whole[:4] + struct.pack('<I', 10**6) + whole[8:])
    file('directory-in-header', whole[:4] + struct.pack('<I', 4) + whole[8:])
    for name, big in (('', False), ('-big', True)):
        room = '<Q' if big else '<I'
        f = Tiff(big=big)
        f.page(rows, 8, GRAY)
        f.data[f.link:f.link + struct.calcsize(room)] = struct.pack(room, f.directories[0])
        file('loop-to-itself' + name, f.bytes())
        f = Tiff(big=big)
        for _ in range(3):
            f.page(rows, 8, GRAY)
        f.data[f.link:f.link + struct.calcsize(room)] = struct.pack(room, f.directories[1])
        file('loop-to-second' + name, f.bytes())
        f = Tiff(big=big)
        f.page(rows, 8, GRAY)
        f.data[f.link:f.link + struct.calcsize(room)] = struct.pack(room, 10**7)
        file('second-directory-beyond' + name, f.bytes())
    f = Tiff()
    f.directory({})
    file('directory-empty', f.bytes())
    f = Tiff()
    f.page(rows, 8, GRAY)
    f.data[f.directories[0]:f.directories[0] + 2] = b'\xff\xff'
    file('directory-count', f.bytes())

    changed('strips-none', without=('offsets', 'counts'))
    changed('strip-offsets-missing', without=('offsets',))
    changed('strip-beyond', offsets=(LONG, [10**6]))
    changed('strip-far-beyond', big=True, offsets=(LONG8, [2**63]))
    changed('strip-at-zero-short', offsets=(LONG, [0]), counts=(LONG, [0]))
    changed('strips-too-few', rows_per_strip=4, offsets=(LONG, [8]), counts=(LONG, [64]))
    changed('tile-size-zero', tile=(16, 16), tile_width=(LONG, [0]))
    changed('tile-size-huge', tile=(16, 16), tile_width=(LONG, [2**31]), tile_height=(LONG, [2**31]), status='3|6')
    changed('width-missing', without=('width',))
    changed('width-zero', width=(LONG, [0]))
    changed('height-zero', height=(LONG, [0]))
    changed('samples-zero', samples=(SHORT, [0]))
    changed('bits-zero', bits_tag=(SHORT, [0]), status='3|5')
    changed('bits-65', bits_tag=(SHORT, [65]), status='3|5')
    changed('height-too-large', height=(LONG, [2**31]), status='3|6')
    changed('absurd', width=(LONG, [2**32 - 1]), height=(LONG, [2**32 - 1]), status='3|6')
    changed('absurd-deflate', compression=8, width=(LONG, [2**30]), height=(LONG, [2**30]), status='3|6')
    changed('samples-65535', samples=(SHORT, [65535]), status='3|5|6')
    changed('sample-format-9', format=(SHORT, [9]), status='3|5')
    file('palette-missing', tiff(rows, 8, PALETTE), '3|5')
    file('palette-short', tiff(rows, 8, PALETTE, colormap=(SHORT, [0] * 30)), '3|5')

    good_stream = Tiff()
    good_stream.page(rows, 8, GRAY, compression=8)
    data = bytearray(good_stream.bytes())
    data[20] ^= 0xff
    file('deflate-corrupt', bytes(data))
    for name, stream in (('deflate-short', zlib.compress(bytes(16 * 11))),
                         ('deflate-cut', zlib.compress(bytes(range(192)))[:60])):
        f = Tiff()
        at = f.append(stream)
        f.directory({'width': (LONG, [16]), 'height': (LONG, [12]), 'bits': (SHORT, [8]),
                     'compression': (SHORT, [8]), 'photometric': (SHORT, [GRAY]), 'samples': (SHORT, [1]),
                     'rows_per_strip': (LONG, [12]), 'offsets': (LONG, [at]), 'counts': (LONG, [len(stream)])})
        file(name, f.bytes())
    data = bytearray(tiff([[[0]] * 200], 8, GRAY, compression=32773))
    data[8] = 100  # a literal of 101 bytes where 2 are left
    file('packbits-overrun', bytes(data))
    big = bytearray(tiff(rows, 8, GRAY, big=True))
    big[4] = 4
    file('bigtiff-offset-size', bytes(big), '3|5')

    def unsupported(name, data, status='5'):
        out.bad('unsupported-tiff-%s.tif' % name, data, status)
    unsupported('compression', tiff(rows, 8, GRAY, compression=12345), '3|5')
    unsupported('bits-differ', tiff(image(8, 16, 12, 3), 8, RGB, bits_tag=(SHORT, [8, 8, 16])), '3|5')
    unsupported('complex', tiff(image(64, 16, 12), 64, GRAY, format=(SHORT, [6])), '3|5')
    unsupported('float8', tiff(rows, 8, GRAY, format=(SHORT, [3])), '3|5')


def make(out):
    good(out)
    bad(out)
