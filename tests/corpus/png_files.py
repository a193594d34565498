"""PNG: every kind of pixel, interlaced or not, every row filter, and everything that can be wrong."""
import struct
import zlib

from common import flat, image, pack_bits, sample

SIGNATURE = b'\x89PNG\r\n\x1a\n'
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2))  # x, y of the first pixel, steps in x and y


def chunk(kind, body, crc=None):
    crc = zlib.crc32(kind + body) if crc is None else crc
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', crc)


def header(width, height, bits, colour, interlace=0, compression=0, filtering=0):
    return chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, bits, colour, compression,
                                      filtering, interlace))


def paeth(a, b, c):
    distances = [(abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c)]
    return min(distances)[2]


def filter_row(kind, row, above, step):
    out = bytearray([kind])
    for i, value in enumerate(row):
        a = row[i - step] if i >= step else 0
        b = above[i]
        c = above[i - step] if i >= step else 0
        guess = (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]
        out.append((value - guess) % 256)
    return bytes(out)


def filtered(rows, bits, filters):
    """Rows of pixels to filtered bytes; `filters` gives the filter of row y."""
    if not rows or not rows[0]:
        return b''
    channels = len(rows[0][0])
    step = max(1, channels * bits // 8)
    out, above = b'', None
    for y, row in enumerate(rows):
        data = pack_bits([value for pixel in row for value in pixel], bits)
        out += filter_row(filters(y), data, above or bytes(len(data)), step)
        above = data
    return out


def scanlines(rows, bits, interlace, filters):
    if not interlace:
        return filtered(rows, bits, filters)
    return b''.join(filtered([row[x::dx] for row in rows[y::dy]], bits, filters)
                    for x, y, dx, dy in ADAM7)


def png(rows, bits, colour, interlace=0, filters=lambda y: y % 5, before=b'', after=b'', split=0):
    stream = zlib.compress(scanlines(rows, bits, interlace, filters), 9)
    pieces = [stream[i:i + split] for i in range(0, len(stream), split)] if split else [stream]
    return (SIGNATURE + header(len(rows[0]), len(rows), bits, colour, interlace) + before
            + b''.join(chunk(b'IDAT', piece) for piece in pieces) + after + chunk(b'IEND', b''))


def palette(entries):
    return [[sample(8, i, 1, c, 5) for c in range(3)] for i in range(entries)]


def palette_chunk(colours):
    return chunk(b'PLTE', bytes(value for colour in colours for value in colour))


def scaled(rows, bits):
    """Gray of 1, 2, 4 bits to 0..255."""
    if bits >= 8:
        return rows
    return [[[value * 255 // (2**bits - 1) for value in pixel] for pixel in row] for row in rows]


def good(out):
    width, height = 13, 11
    for colour, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (3, (1, 2, 4, 8)), (4, (8, 16)),
                           (6, (8, 16))):
        for bits in depths:
            for interlace in (0, 1):
                name = 'png-c%d-b%d-i%d' % (colour, bits, interlace)
                kind = 'u16' if bits == 16 else 'u8'
                rows = image(bits, width, height, CHANNELS[colour])
                if colour == 3:
                    colours = palette(2**bits)
                    plte = palette_chunk(colours)
                    seen = [[colours[pixel[0]] for pixel in row] for row in rows]
                    out.good('good-%s.png' % name, png(rows, bits, colour, interlace, before=plte),
                             width, height, 3, kind, flat(seen))
                    # Fewer alphas than colours: the others are opaque.
                    alphas = [sample(8, i, 2, 0, 9) for i in range(2**bits // 2 + 1)]
                    seen = [[colours[i] + [alphas[i] if i < len(alphas) else 255] for [i] in row]
                            for row in rows]
                    out.good('good-%s-trns.png' % name,
                             png(rows, bits, colour, interlace, before=plte + chunk(b'tRNS', bytes(alphas))),
                             width, height, 4, kind, flat(seen))
                    continue
                out.good('good-%s.png' % name, png(rows, bits, colour, interlace), width, height,
                         CHANNELS[colour], kind, flat(scaled(rows, bits)))
                if colour in (0, 2):
                    key = rows[5][5]
                    top = 2**max(bits, 8) - 1
                    seen = [[grey + [0 if pixel == key else top] for pixel, grey in zip(row, greys)]
                            for row, greys in zip(rows, scaled(rows, bits))]
                    trns = chunk(b'tRNS', struct.pack('>%dH' % len(key), *key))
                    out.good('good-%s-trns.png' % name,
                             png(rows, bits, colour, interlace, before=trns), width, height,
                             CHANNELS[colour] + 1, kind, flat(seen))
    for kind in range(5):
        rows = image(8, 17, 6, 3)
        out.good('good-png-filter%d.png' % kind, png(rows, 8, 2, filters=lambda y, k=kind: k), 17, 6, 3,
                 'u8', flat(rows))
    for width, height in ((1, 1), (2, 1), (1, 2), (3, 2), (4, 5), (5, 4), (8, 8), (9, 1), (1, 9)):
        rows = image(8, width, height)
        out.good('good-png-adam7-%dx%d.png' % (width, height), png(rows, 8, 0, 1), width, height, 1, 'u8',
                 flat(rows))

    rows = image(8, 9, 7)
    def grey(name, **how):
        out.good('good-png-%s.png' % name, png(rows, 8, 0, **how), 9, 7, 1, 'u8', flat(rows))
    grey('idat-bytes', split=1)
    grey('idat-empty', before=chunk(b'IDAT', b''))
    grey('private-chunk', before=chunk(b'vpAg', b'123456789'))
    grey('after-idat', after=chunk(b'tEXt', b'Comment\0after the pixels'))
    text = (chunk(b'tEXt', b'Title\0A title') + chunk(b'zTXt', b'Comment\0\0' + zlib.compress(b'x' * 99))
            + chunk(b'iTXt', b'Author\0\0\0fr\0\0' + 'Zo\u00e9'.encode('utf-8')))
    grey('metadata', before=chunk(b'gAMA', struct.pack('>I', 45455))
         + chunk(b'cHRM', struct.pack('>8I', 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))
         + chunk(b'sRGB', b'\0') + chunk(b'bKGD', b'\0\7') + chunk(b'pHYs', struct.pack('>IIB', 2835, 2835, 1))
         + chunk(b'tIME', bytes((7, 234, 1, 2, 3, 4, 5)))
         + chunk(b'eXIf', b'II*\0\x08\0\0\0\0\0\0\0\0\0') + text)
    # sBIT names the significant bits; the samples stay as stored.
    grey('sbit', before=chunk(b'sBIT', b'\5'))
    plte = palette_chunk(palette(5))
    rows3 = image(8, 9, 7, 3)
    out.good('good-png-suggested-palette.png', png(rows3, 8, 2, before=plte), 9, 7, 3, 'u8', flat(rows3))


def bad(out):
    rows = image(8, 16, 12, 3)
    whole = png(rows, 8, 2)
    raw = scanlines(rows, 8, 0, lambda y: y % 5)
    stream = zlib.compress(raw, 9)
    end = chunk(b'IEND', b'')
    ihdr = header(16, 12, 8, 2)

    def file(name, *pieces, status='3'):
        out.bad('bad-png-%s.png' % name, SIGNATURE + b''.join(pieces), status)

    def flipped(kind, before=b'', after=b''):
        """A file where the CRC of the first chunk of this kind is wrong."""
        data = bytearray(png(rows, 8, 2, before=before, after=after))
        at = data.index(kind)
        length = struct.unpack('>I', data[at - 4:at])[0]
        data[at + 4 + length] ^= 1
        out.bad('bad-png-crc-%s.png' % kind.decode(), bytes(data))

    for kind, before, after in (
            (b'IHDR', b'', b''), (b'IDAT', b'', b''), (b'IEND', b'', b''),
            (b'PLTE', palette_chunk(palette(4)), b''), (b'gAMA', chunk(b'gAMA', b'\0\0\xb1\x8f'), b''),
            (b'tEXt', b'', chunk(b'tEXt', b'Comment\0x')), (b'tRNS', chunk(b'tRNS', bytes(6)), b''),
            (b'vpAg', chunk(b'vpAg', b'private'), b'')):
        flipped(kind, before, after)
    for length in (0, 1, 7, 8, 20, 32, 33, 41, len(whole) // 2, len(whole) - 13, len(whole) - 12, len(whole) - 1):
        out.bad('bad-png-truncated-%03d.png' % length, whole[:length])
    out.bad('bad-png-signature.png', b'\x89PNG\n\r\x1a\n' + whole[8:], '3|5')
    out.bad('bad-png-signature-text-mode.png', whole.replace(b'\r\n', b'\n'), '3|5')

    file('adler', ihdr, chunk(b'IDAT', stream[:-1] + bytes([stream[-1] ^ 1])), end)
    file('adler-missing', ihdr, chunk(b'IDAT', stream[:-4]), end)
    file('idat-short', ihdr, chunk(b'IDAT', zlib.compress(raw[:-49])), end)
    file('idat-one-byte-short', ihdr, chunk(b'IDAT', zlib.compress(raw[:-1])), end)
    file('idat-long', ihdr, chunk(b'IDAT', zlib.compress(raw + raw[:49])), end)
    # All samples are there and checked; libpng overlooks what follows them.
    out.good('good-png-idat-trailing.png', SIGNATURE + ihdr + chunk(b'IDAT', stream + b'more') + end, 16, 12, 3,
             'u8', flat(rows), status='0|3')
    file('idat-cut-stream', ihdr, chunk(b'IDAT', stream[:len(stream) // 2]), end)
    file('idat-missing', ihdr, end)
    file('idat-only-empty', ihdr, chunk(b'IDAT', b''), end)
    file('idat-apart', ihdr, chunk(b'IDAT', stream[:50]), chunk(b'tEXt', b'Comment\0between'),
         chunk(b'IDAT', stream[50:]), end)
    file('zlib-header', ihdr, chunk(b'IDAT', b'\x79' + stream[1:]), end)
    file('zlib-dictionary', ihdr, chunk(b'IDAT', b'\x78\xbb\0\0\0\1' + stream[2:]), end)
    # One literal, then a copy from before the beginning.
    file('deflate-distance', ihdr, chunk(b'IDAT', b'\x78\x9c\x63\x60\x84\x03\0\0\0\0\0'), end)
    file('row-filter', ihdr, chunk(b'IDAT', zlib.compress(b'\5' + raw[1:])), end)
    file('zero-width', header(0, 12, 8, 2), chunk(b'IDAT', stream), end)
    file('zero-height', header(16, 0, 8, 2), chunk(b'IDAT', stream), end)
    for bits, colour in ((3, 0), (0, 0), (32, 0), (4, 2), (16, 3), (4, 4), (2, 6), (8, 1), (8, 5), (8, 7)):
        file('ihdr-c%d-b%d' % (colour, bits), header(16, 12, bits, colour), chunk(b'IDAT', stream), end)
    file('ihdr-interlace', header(16, 12, 8, 2, 2), chunk(b'IDAT', stream), end)
    file('ihdr-compression', header(16, 12, 8, 2, 0, 1), chunk(b'IDAT', stream), end)
    file('ihdr-filter', header(16, 12, 8, 2, 0, 0, 1), chunk(b'IDAT', stream), end)
    file('ihdr-short', chunk(b'IHDR', ihdr[8:20]), chunk(b'IDAT', stream), end)
    file('ihdr-twice', ihdr, ihdr, chunk(b'IDAT', stream), end)
    file('ihdr-missing', chunk(b'IDAT', stream), end)
    file('unknown-critical', ihdr, chunk(b'VPAg', b''), chunk(b'IDAT', stream), end, status='3|5')
    file('chunk-length', ihdr, b'\xff\xff\xff\xffIDAT' + stream, end)
    file('chunk-length-2g', ihdr, b'\x7f\xff\xff\xffIDAT' + stream, end)
    file('huge', header(2**31 - 1, 2**31 - 1, 16, 6), chunk(b'IDAT', stream), end, status='3|6')
    file('huge-60000', header(60000, 60000, 8, 0), chunk(b'IDAT', zlib.compress(bytes(9999))), end,
         status='3|6')
    file('size-above-31-bits', header(2**31, 12, 8, 2), chunk(b'IDAT', stream), end)
    file('empty', b'')
    indices = image(8, 16, 12)
    istream = zlib.compress(scanlines(indices, 8, 0, lambda y: 0))
    file('palette-missing', header(16, 12, 8, 3), chunk(b'IDAT', istream), end)
    file('palette-index', header(16, 12, 8, 3), palette_chunk(palette(100)), chunk(b'IDAT', istream), end)
    file('palette-length', header(16, 12, 8, 3), chunk(b'PLTE', bytes(100)), chunk(b'IDAT', istream), end)
    file('palette-late', header(16, 12, 8, 3), chunk(b'IDAT', istream), palette_chunk(palette(256)), end)
    # 4000x4000 zero bytes in 16 KB: honest, but beyond the memory that is allowed.
    side = 4000
    bomb = zlib.compress(bytes((side + 1) * side), 9)
    out.good('good-png-bomb.png', SIGNATURE + header(side, side, 8, 0) + chunk(b'IDAT', bomb) + end,
             side, side, 1, 'u8', bytes(side * side), status='0|6', options='--max-memory 4M')
    out.good('good-png-flat.png', SIGNATURE + header(side, side, 8, 0) + chunk(b'IDAT', bomb) + end,
             side, side, 1, 'u8', bytes(side * side))


def make(out):
    good(out)
    bad(out)
