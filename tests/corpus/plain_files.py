"""The simple formats: PNM, PFM, BMP, TGA, Radiance HDR, JPEG of flat blocks, raw."""
import struct

from common import CODES, flat, image, pack_bits, sample, signed


def pnm(out):
    width, height = 13, 7
    for channels, text, binary, kind in ((1, b'P2', b'P5', 'pgm'), (3, b'P3', b'P6', 'ppm')):
        for top in (255, 65535, 1023, 100):
            bits = 8 if top < 256 else 16
            values = [v % (top + 1) for v in flat(image(bits, width, height, channels))]
            code = '>%d%s' % (len(values), 'B' if bits == 8 else 'H')
            head = b'\n%d %d\n%d\n' % (width, height, top)
            out.good('good-pnm-%s-%d.%s' % (binary.decode().lower(), top, kind), binary + head
                     + struct.pack(code, *values), width, height, channels, 'u%d' % bits, values)
            out.good('good-pnm-%s-%d.%s' % (text.decode().lower(), top, kind), text + head
                     + b' '.join(b'%d' % v for v in values) + b'\n', width, height, channels, 'u%d' % bits, values)
    bitmap = image(1, width, height)
    seen = [255 - 255 * v for v in flat(bitmap)]  # 1 is ink
    out.good('good-pnm-p4.pbm', b'P4 %d %d\n' % (width, height)
             + b''.join(pack_bits(flat([row]), 1) for row in bitmap), width, height, 1, 'u8', seen)
    out.good('good-pnm-p1.pbm', b'P1\n%d %d\n' % (width, height)
             + b''.join(b'%d' % v for v in flat(bitmap)), width, height, 1, 'u8', seen)
    values = flat(image(8, 3, 2))
    out.good('good-pnm-comments.pgm', b'P5 # a comment\n# another\n 3\t#3\n2 255\n' + bytes(values), 3, 2, 1, 'u8',
             values)
    out.good('good-pnm-text-comment.pgm', b'P2\n3 2\n# here\n255\n1 2 3\n4 5 255', 3, 2, 1, 'u8', [1, 2, 3, 4, 5, 255])
    rgba = flat(image(8, 5, 3, 4))
    out.good('good-pnm-pam.pam', b'P7\nWIDTH 5\nHEIGHT 3\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
             + bytes(rgba), 5, 3, 4, 'u8', rgba, status='0|3|5')

    def bad(name, data, status='3'):
        out.bad('bad-pnm-%s.pgm' % name, data, status)
    body = bytes(values)
    bad('truncated', b'P5 3 2 255\n' + body[:-1])
    bad('truncated-16', b'P5 3 2 65535\n' + body + body[:-1])
    bad('truncated-text', b'P2 3 2 255\n1 2 3 4 5')
    bad('header-only', b'P5 3 2 255\n')
    bad('header-cut', b'P5 3 2')
    bad('magic-only', b'P5')
    bad('zero-width', b'P5 0 2 255\n' + body)
    bad('zero-height', b'P5 3 0 255\n' + body)
    bad('negative', b'P5 -3 2 255\n' + body)
    bad('maxval-0', b'P5 3 2 0\n' + body)
    bad('maxval-65536', b'P5 3 2 65536\n' + body * 2)
    bad('above-maxval', b'P2 3 2 100\n1 2 3 4 5 101\n')
    bad('not-a-number', b'P2 3 2 255\n1 2 x 4 5 6\n')
    bad('huge', b'P5 4294967295 4294967295 255\n' + body, '3|6')
    bad('wraps-64', b'P5 18446744073709551617 1 255\n' + body)
    bad('huge-text', b'P2 2147483647 2147483647 255\n1 2 3', '3|6')


def pfm(out):
    width, height = 5, 4
    for channels, magic in ((1, b'Pf'), (3, b'PF')):
        rows = [[[signed(v, 16) / 32 for v in p] for p in row] for row in image(16, width, height, channels)]
        upside_down = flat(rows[::-1])
        for name, scale, code in (('le', b'-1.0', '<'), ('be', b'1.0', '>')):
            out.good('good-pfm-%d-%s.pfm' % (channels, name), magic + b'\n%d %d\n' % (width, height) + scale + b'\n'
                     + struct.pack('%s%df' % (code, len(upside_down)), *upside_down), width, height, channels, 'f32',
                     flat(rows))
    out.bad('bad-pfm-truncated.pfm', b'Pf\n2 2\n-1.0\n' + bytes(15))
    out.bad('bad-pfm-zero.pfm', b'Pf\n0 2\n-1.0\n' + bytes(16))
    out.bad('bad-pfm-scale-zero.pfm', b'Pf\n2 2\n0\n' + bytes(16))
    out.bad('bad-pfm-huge.pfm', b'PF\n2000000000 2000000000\n-1.0\n' + bytes(16), '3|6')


def bmp(rows, bits, palette=(), top_down=False, masks=b'', compression=0):
    """Rows of stored values, [B, G, R(, A)] order made here."""
    height, width = len(rows), len(rows[0])
    lines = []
    for row in rows if top_down else rows[::-1]:
        if bits <= 8:
            line = pack_bits([v for [v] in row], bits)
        else:
            line = b''.join(bytes((p[2], p[1], p[0]) + tuple(p[3:])) for p in row)
        lines.append(line + bytes(-len(line) % 4))
    data = b''.join(lines)
    table = b''.join(bytes((c[2], c[1], c[0], 0)) for c in palette)
    info = struct.pack('<IiiHHIIiiII', 40 + len(masks), width, -height if top_down else height, 1, bits, compression,
                       len(data), 2835, 2835, len(palette), 0) + masks
    start = 14 + len(info) + len(table)
    return b'BM' + struct.pack('<IHHI', start + len(data), 0, 0, start) + info + table + data


def bmps(out):
    width, height = 13, 7
    rgb = image(8, width, height, 3)
    out.good('good-bmp-24.bmp', bmp(rgb, 24), width, height, 3, 'u8', flat(rgb))
    out.good('good-bmp-24-top-down.bmp', bmp(rgb, 24, top_down=True), width, height, 3, 'u8', flat(rgb))
    for bits in (1, 4, 8):
        rows = image(bits, width, height)
        palette = [[sample(8, i, 7, c, 8) for c in range(3)] for i in range(2**bits)]
        out.good('good-bmp-palette%d.bmp' % bits, bmp(rows, bits, palette), width, height, 3, 'u8',
                 [v for [i] in sum(rows, []) for v in palette[i]])
    rgba = image(8, width, height, 4)
    # Version 4: masks and a colour space of zeros.
    masks = struct.pack('<IIII', 0xff0000, 0xff00, 0xff, 0xff000000) + bytes(52)
    out.good('good-bmp-32-alpha.bmp', bmp(rgba, 32, masks=masks, compression=3), width, height, 4, 'u8', flat(rgba))
    whole = bmp(rgb, 24)
    for length in (2, 14, 20, 54, len(whole) - 1, len(whole) // 2):
        out.bad('bad-bmp-truncated-%03d.bmp' % length, whole[:length], '3|5' if length < 20 else '3')
    out.bad('bad-bmp-huge.bmp', whole[:18] + struct.pack('<ii', 2**30, 2**30) + whole[26:], '3|6')
    out.bad('bad-bmp-zero.bmp', whole[:18] + struct.pack('<ii', 0, 7) + whole[26:])
    out.bad('bad-bmp-bits.bmp', whole[:28] + struct.pack('<H', 7) + whole[30:], '3|5')
    out.bad('bad-bmp-data-beyond.bmp', whole[:10] + struct.pack('<I', 10**6) + whole[14:])
    out.bad('unsupported-bmp-rle.bmp', bmp(image(8, 4, 4), 8, [[0] * 3] * 256, compression=1), '3|5')


def tga(rows, kind, bits, top_down=False, rle=False, palette=()):
    height, width = len(rows), len(rows[0])
    table = b''.join(bytes((c[2], c[1], c[0])) for c in palette)
    head = struct.pack('<BBBHHBHHHHBB', 0, 1 if palette else 0, kind + (8 if rle else 0), 0, len(palette),
                       24 if palette else 0, 0, 0, width, height, bits,
                       (0x20 if top_down else 0) | (8 if bits == 32 else 0))
    data = b''
    for row in rows if top_down else rows[::-1]:
        pixels = [bytes((p[2], p[1], p[0]) + tuple(p[3:])) if len(p) > 1 else bytes(p) for p in row]
        if rle:
            # A run of the first pixel repeated is only right where pixels repeat, so: literals,
            # but equal neighbours as a run.
            i = 0
            while i < len(pixels):
                run = 1
                while i + run < len(pixels) and pixels[i + run] == pixels[i] and run < 128:
                    run += 1
                data += bytes((0x80 | (run - 1),) if run > 1 else (0,)) + pixels[i]
                i += run
        else:
            data += b''.join(pixels)
    return head + table + data


def tgas(out):
    width, height = 13, 7
    rgb, rgba, gray = (image(8, width, height, c) for c in (3, 4, 1))
    out.good('good-tga-24.tga', tga(rgb, 2, 24), width, height, 3, 'u8', flat(rgb))
    out.good('good-tga-24-top-down.tga', tga(rgb, 2, 24, True), width, height, 3, 'u8', flat(rgb))
    out.good('good-tga-32.tga', tga(rgba, 2, 32), width, height, 4, 'u8', flat(rgba))
    out.good('good-tga-gray.tga', tga(gray, 3, 8), width, height, 1, 'u8', flat(gray))
    steps = [[[x // 4 * 30, y * 20, 7] for x in range(width)] for y in range(height)]
    out.good('good-tga-rle.tga', tga(steps, 2, 24, rle=True), width, height, 3, 'u8', flat(steps))
    palette = [[sample(8, i, 4, c, 2) for c in range(3)] for i in range(256)]
    out.good('good-tga-palette.tga', tga(gray, 1, 8, palette=palette), width, height, 3, 'u8',
             [v for [i] in sum(gray, []) for v in palette[i]])
    whole, runs = tga(rgb, 2, 24), tga(steps, 2, 24, rle=True)
    out.bad('bad-tga-truncated.tga', whole[:-1])
    out.bad('bad-tga-truncated-rle.tga', runs[:-2])
    out.bad('bad-tga-header.tga', whole[:17], '3|5')
    out.bad('bad-tga-zero.tga', whole[:12] + bytes(2) + whole[14:], '3|5')


def hdr(out):
    """Radiance pictures narrower than 8 pixels are not run-length coded."""
    rows = [[[sample(8, x, y, c) for c in range(3)] + [120 + sample(4, x, y, 3)] for x in range(5)] for y in range(3)]
    values = [m * 2.0**(p[3] - 136) for row in rows for p in row for m in p[:3]]
    data = b'#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 3 +X 5\n' + bytes(flat(rows))
    out.good('good-hdr.hdr', data, 5, 3, 3, 'f32', values)
    out.bad('bad-hdr-truncated.hdr', data[:-1])
    out.bad('bad-hdr-header.hdr', data[:30], '3|5')


def jpeg(blocks, across, exif=None, cut=0):
    """A gray JPEG of flat 8x8 blocks of the given values: exact in every decoder, because
    only DC coefficients are not zero, and they are whole steps."""
    down = len(blocks) // across
    out = b'\xff\xd8'
    if exif:
        # Little- and big-endian directories in turn.
        e = '<' if exif % 2 else '>'
        body = b'Exif\0\0' + (b'II' if e == '<' else b'MM') + struct.pack(
            e + 'HIHHHIHHI', 42, 8, 1, 0x112, 3, 1, exif, 0, 0)
        out += b'\xff\xe1' + struct.pack('>H', len(body) + 2) + body
    out += b'\xff\xdb' + struct.pack('>HB', 67, 0) + bytes([8] * 64)
    out += b'\xff\xc0' + struct.pack('>HBHHBBBB', 11, 8, down * 8, across * 8, 1, 1, 0x11, 0)
    # DC: sizes 0..8 as codes of 4 bits; AC: only the end of block, one bit.
    out += b'\xff\xc4' + struct.pack('>HB', 19 + 9, 0) + bytes([0, 0, 0, 9] + [0] * 12) + bytes(range(9))
    out += b'\xff\xc4' + struct.pack('>HB', 19 + 1, 0x10) + bytes([1] + [0] * 15) + bytes([0])
    out += b'\xff\xda' + struct.pack('>HBBBBBB', 8, 1, 1, 0, 0, 63, 0)
    bits, last = '', 128
    for value in blocks:
        difference, last = value - last, value
        size = abs(difference).bit_length()
        bits += format(size, '04b')
        if size:
            bits += format(difference if difference > 0 else difference + 2**size - 1, '0%db' % size)
        bits += '0'
    bits += '1' * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, 'big').replace(b'\xff', b'\xff\0')
    return out + data[:len(data) - cut] + (b'' if cut else b'\xff\xd9')


TURNS = {  # orientation: size and source of the upright picture's pixel (x, y), stored w x h
    1: lambda w, h: (w, h, lambda x, y: (x, y)),
    2: lambda w, h: (w, h, lambda x, y: (w - 1 - x, y)),
    3: lambda w, h: (w, h, lambda x, y: (w - 1 - x, h - 1 - y)),
    4: lambda w, h: (w, h, lambda x, y: (x, h - 1 - y)),
    5: lambda w, h: (h, w, lambda x, y: (y, x)),
    6: lambda w, h: (h, w, lambda x, y: (y, h - 1 - x)),
    7: lambda w, h: (h, w, lambda x, y: (w - 1 - y, h - 1 - x)),
    8: lambda w, h: (h, w, lambda x, y: (w - 1 - y, x)),
}


def jpegs(out):
    blocks, across, down = [10, 90, 200, 255, 0, 130], 3, 2
    stored = [[blocks[y // 8 * across + x // 8] for x in range(8 * across)] for y in range(8 * down)]
    for orientation in range(9):
        w, h, source = TURNS[orientation or 1](8 * across, 8 * down)
        seen = []
        for y in range(h):
            for x in range(w):
                sx, sy = source(x, y)
                seen.append(stored[sy][sx])
        out.good('good-jpeg-exif%d.jpg' % orientation, jpeg(blocks, across, orientation), w, h, 1, 'u8', seen)
    whole = jpeg(blocks, across)
    out.bad('bad-jpeg-header.jpg', whole[:60])
    out.bad('bad-jpeg-scan-missing.jpg', whole[:whole.index(b'\xff\xda')])
    out.bad('bad-jpeg-truncated.jpg', jpeg(list(range(0, 250)) * 4, 25, cut=400))
    out.bad('bad-jpeg-start-only.jpg', b'\xff\xd8\xff')


def raw(out):
    width, height, depth = 5, 4, 3
    for kind, code in CODES.items():
        bits = 8 * struct.calcsize('<' + code)
        if kind[0] == 'f':
            values = [signed(sample(11, x, y, 0, z), 11) / 8 for z in range(depth) for y in range(height)
                      for x in range(width)]
        else:
            values = [sample(bits, x, y, 0, z) for z in range(depth) for y in range(height) for x in range(width)]
            if kind[0] == 'i':
                values = [signed(v, bits) for v in values]
        for order, e in (('le', '<'), ('be', '>')) if bits > 8 else (('', '<'),):
            out.good('good-raw_5x4x3_%s%s.raw' % (kind, order), struct.pack('%s%d%s' % (e, len(values), code), *values),
                     width, height, 1, kind, values, depth=depth)
    flat_values = [sample(8, x, y) for y in range(4) for x in range(5)]
    out.good('good-raw-2d_5x4_u8.raw', bytes(flat_values), 5, 4, 1, 'u8', flat_values)
    body = bytes(60)
    out.bad('bad-raw-byte-missing_5x4x3_u8.raw', body[:-1])
    out.bad('bad-raw-byte-more_5x4x3_u8.raw', body + b'\0')
    out.bad('bad-raw-empty_5x4x3_u8.raw', b'')
    out.bad('bad-raw-zero_5x0x3_u8.raw', body, '2|3')
    out.bad('bad-raw-huge_4294967295x4294967295x4294967295_u8.raw', body, '2|3|6')
    out.bad('bad-raw-wraps_8589934592x2147483648x1_u8.raw', body, '2|3|6')
    out.bad('bad-raw-no-size.raw', body, '2|3')


def nothing(out):
    out.bad('bad-empty.png', b'')
    out.bad('bad-empty.tif', b'')
    out.bad('bad-zeros.png', bytes(1000), '3|5')
    out.bad('bad-text.png', b'This is not a picture.\n', '3|5')
    out.bad('unsupported-gif.gif', b'GIF89a\1\0\1\0\0\0\0;', '3|5')


def make(out):
    for maker in (pnm, pfm, bmps, tgas, hdr, jpegs, raw, nothing):
        maker(out)
