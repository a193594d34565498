"""NIfTI-1 and NIfTI-2: both byte orders, one file and pairs, every sample type, headers that lie."""
import gzip
import struct

from common import BYTES, CODES, flat, image, signed

TYPES = {'u8': 2, 'i16': 4, 'i32': 8, 'f32': 16, 'f64': 64, 'i8': 256, 'u16': 512, 'u32': 768}


def header(dim, code, bits, e='<', version=1, magic=None, offset=None, slope=1.0, inter=0.0, pixdim=(1.0,) * 8,
           size=None, **more):
    """The bytes of a header. `more`: dim_info, intent_code, units, slice_start, slice_end, slice_code, cal (max and
    min), descrip, aux, qform, sform, quatern, qoffset, srow, intent_name, toffset, slice_duration."""
    get = more.get
    dim = list(dim) + [1] * (8 - len(dim))
    quatern, qoffset = get('quatern', (0.0,) * 3), get('qoffset', (0.0,) * 3)
    srow = get('srow', (0.0,) * 12)
    if version == 1:
        magic = b'n+1' if magic is None else magic
        offset = 352 if offset is None else offset
        return struct.pack(
            e + 'i35xB8h3fhhhh8ffffhBBffffii80s24shh3f3f12f16s4s', 348 if size is None else size, get('dim_info', 0),
            *dim, *get('intent_p', (0.0,) * 3), get('intent_code', 0), code, bits, get('slice_start', 0), *pixdim,
            offset, slope, inter, get('slice_end', 0), get('slice_code', 0), get('units', 2), *get('cal', (0.0, 0.0)),
            get('slice_duration', 0.0), get('toffset', 0.0), 0, 0, get('descrip', b''), get('aux', b''),
            get('qform', 0), get('sform', 0), *quatern, *qoffset, *srow, get('intent_name', b''), magic)
    magic = b'n+2\0\r\n\x1a\n' if magic is None else magic
    offset = 544 if offset is None else offset
    return struct.pack(
        e + 'i8shh8q3d8dqddddddqq80s24sii3d3d12diii16sB15x', 540 if size is None else size, magic, code, bits, *dim,
        *get('intent_p', (0.0,) * 3), *pixdim, offset, slope, inter, *get('cal', (0.0, 0.0)),
        get('slice_duration', 0.0), get('toffset', 0.0), get('slice_start', 0), get('slice_end', 0),
        get('descrip', b''), get('aux', b''), get('qform', 0), get('sform', 0), *quatern, *qoffset, *srow,
        get('slice_code', 0), get('units', 2), get('intent_code', 0), get('intent_name', b''), get('dim_info', 0))


def extension(code, content, e='<'):
    """With its size, which is a multiple of 16."""
    room = -(-(len(content) + 8) // 16) * 16
    return struct.pack(e + 'ii', room, code) + content.ljust(room - 8, b'\0')


def single(head, body, behind=b'\0\0\0\0'):
    return head + behind + body


def values_of(kind, width, height, planes):
    bits = 8 * BYTES[kind]
    if kind in ('f32', 'f64'):
        return [signed(v, 16) / 8 for p in range(planes) for v in flat(image(16, width, height, 1, p))]
    values = [v for p in range(planes) for v in flat(image(bits, width, height, 1, p))]
    return [signed(v, bits) for v in values] if kind[0] == 'i' else values


def stored(values, kind, e='<'):
    return struct.pack('%s%d%s' % (e, len(values), CODES[kind]), *values)


def good(out):
    w, h, d = 5, 4, 3
    for kind, code in TYPES.items():
        values = values_of(kind, w, h, d)
        for e, order in (('<', 'le'), ('>', 'be')):
            for version in (1, 2):
                head = header((3, w, h, d), code, 8 * BYTES[kind], e, version)
                out.good('good-nifti%d-%s-%s.nii' % (version, kind, order), single(head, stored(values, kind, e)),
                         w, h, 1, kind, values, depth=d)
    values = values_of('i16', w, h, d)
    body = stored(values, 'i16')
    head = header((3, w, h, d), 4, 16)
    packed = gzip.compress(single(head, body), mtime=0)
    out.good('good-nifti-gz.nii.gz', packed, w, h, 1, 'i16', values, depth=d)
    out.good('good-nifti-gz-by-content.nii', packed, w, h, 1, 'i16', values, depth=d)
    out.good('good-nifti-plain-by-content.nii.gz', single(head, body), w, h, 1, 'i16', values, depth=d)
    parts = single(head, body)
    out.good('good-nifti-members.nii.gz', gzip.compress(parts[:200], mtime=0) + gzip.compress(parts[200:], mtime=0),
             w, h, 1, 'i16', values, depth=d)

    # Two files. What is named may be either.
    pair = header((3, w, h, d), 4, 16, magic=b'ni1', offset=0)
    for name, end, pack in (('pair', '', bytes), ('pair-gz', '.gz', lambda b: gzip.compress(b, mtime=0))):
        for named, other, which in (('hdr', 'img', 0), ('img', 'hdr', 1)):
            files = [pack(pair + b'\0\0\0\0'), pack(body)]
            out.write('good-nifti-%s-%s.%s%s' % (name, named, other, end), files[1 - which])
            out.good('good-nifti-%s-%s.%s%s' % (name, named, named, end), files[which], w, h, 1, 'i16', values, depth=d)
    out.write('good-nifti-pair-mixed.img.gz', gzip.compress(b'skip' + body, mtime=0))
    out.good('good-nifti-pair-mixed.hdr', header((3, w, h, d), 4, 16, '>', magic=b'ni1', offset=4), w, h, 1,
             'i16', [struct.unpack('>h', struct.pack('<h', v))[0] for v in values], depth=d)
    out.write('good-nifti2-pair.img', body)
    out.good('good-nifti2-pair.hdr', header((3, w, h, d), 4, 16, version=2, magic=b'ni2\0\r\n\x1a\n', offset=0), w, h, 1,
             'i16', values, depth=d)
    out.write('good-nifti-CAPITALS.IMG', body)
    out.good('good-nifti-CAPITALS.HDR', pair, w, h, 1, 'i16', values, depth=d)
    # Samples that begin as gzip does are plain when the file is as long as they are.
    out.write('good-nifti-like-gzip.img', b'\x1f\x8b\x08\x00\x01\x02')
    out.good('good-nifti-like-gzip.hdr', header((3, 3, 2, 1), 2, 8, magic=b'ni1', offset=0), 3, 2, 1, 'u8',
             [0x1f, 0x8b, 8, 0, 1, 2])

    # Where the samples begin.
    for offset, place in ((0, 352), (352, 352), (353, 353), (1024, 1024)):
        out.good('good-nifti-offset-%d.nii' % offset, single(header((3, w, h, d), 4, 16, offset=offset), body,
                 bytes(place - 348)), w, h, 1, 'i16', values, depth=d)
    note = extension(6, b'a comment') + extension(4, b'<AFNI_attributes/>')
    out.good('good-nifti-extensions.nii', single(header((3, w, h, d), 4, 16, offset=352 + len(note)), body,
             b'\1\0\0\0' + note), w, h, 1, 'i16', values, depth=d)

    # Some writers leave room behind the last one.
    out.good('good-nifti-extensions-room.nii', single(header((3, w, h, d), 4, 16, offset=352 + len(note) + 32), body,
             b'\1\0\0\0' + note + bytes(32)), w, h, 1, 'i16', values, depth=d)

    # Volumes one after the other; axes of length 1; any number of axes.
    many = values_of('u16', w, h, 2 * 3)
    out.good('good-nifti-4d.nii', single(header((4, w, h, 3, 2), 512, 16), stored(many, 'u16')), w, h, 1, 'u16', many,
             depth=3, images=2)
    out.good('good-nifti-5d-vector.nii', single(header((5, w, h, 1, 2, 3), 512, 16, intent_code=1007),
             stored(many, 'u16')), w, h, 1, 'u16', many, images=6)
    out.good('good-nifti-3d-of-pages.nii', single(header((4, w, h, 1, 6), 512, 16), stored(many, 'u16')), w, h, 1,
             'u16', many, depth=6, options='--3d')
    out.good('good-nifti-7d.nii', single(header((7, w, 1, 1, 1, 2, 1, 3), 512, 16), stored(many[:w * 6], 'u16')), w, 1,
             1, 'u16', many[:w * 6], images=6)
    out.good('good-nifti-1d.nii', single(header((1, w), 512, 16), stored(many[:w], 'u16')), w, 1, 1, 'u16', many[:w])
    out.good('good-nifti-2d.nii', single(header((2, w, h), 512, 16), stored(many[:w * h], 'u16')), w, h, 1, 'u16',
             many[:w * h])
    # What stands beyond the number of axes counts for nothing.
    out.good('good-nifti-2d-rest.nii', single(header((2, w, h, 7, -3), 512, 16), stored(many[:w * h], 'u16')), w, h, 1,
             'u16', many[:w * h])
    wide = [v % 251 for v in range(40000)]
    out.good('good-nifti2-40000.nii', single(header((2, 40000, 1), 2, 8, version=2), bytes(wide)), 40000, 1, 1, 'u8',
             wide)

    colours = [v for p in range(2) for v in flat(image(8, w, h, 3, p))]
    out.good('good-nifti-rgb.nii', single(header((3, w, h, 2), 128, 24, slope=2.0, inter=1.0), bytes(colours)), w, h,
             3, 'u8', colours, depth=2)
    colours = [v for p in range(2) for v in flat(image(8, w, h, 4, p))]
    out.good('good-nifti-rgba.nii', single(header((4, w, h, 1, 2), 2304, 32), bytes(colours)), w, h, 4, 'u8', colours,
             images=2)


def scaled(out):
    nan, inf = float('nan'), float('inf')
    body = stored([1, 2, 3, -4], 'i16')

    def same(name, slope, inter):
        out.good('good-nifti-slope-%s.nii' % name, single(header((2, 4, 1), 4, 16, slope=slope, inter=inter), body), 4,
                 1, 1, 'i16', [1, 2, 3, -4])
    same('1-0', 1.0, 0.0)
    same('0-0', 0.0, 0.0)
    same('0-9', 0.0, 9.0)
    same('nan-nan', nan, nan)
    same('inf-0', inf, 0.0)
    # In double; f32 for all but 32-bit integers and f64.
    for kind, code in TYPES.items():
        values = [1, 2, 3, 100]
        for e in '<>':
            head = header((2, 4, 1), code, 8 * BYTES[kind], e, slope=2.0, inter=8.0)
            out.good('good-nifti-scaled-%s-%s.nii' % (kind, 'le' if e == '<' else 'be'),
                     single(head, stored(values, kind, e)), 4, 1, 1, 'f64' if kind in ('u32', 'i32', 'f64') else 'f32',
                     [10.0, 12.0, 14.0, 208.0])
    slope = struct.unpack('<f', struct.pack('<f', 0.1))[0]
    out.good('good-nifti-scaled-0.1.nii', single(header((2, 4, 1), 4, 16, slope=slope, inter=-1.5), body), 4, 1, 1,
             'f32', [slope * v - 1.5 for v in (1, 2, 3, -4)])
    out.good('good-nifti2-scaled-0.1.nii', single(header((2, 4, 1), 8, 32, version=2, slope=0.1), stored([1, 2, 3, 2**31 - 1], 'i32')),
             4, 1, 1, 'f64', [0.1 * 1, 0.1 * 2, 0.1 * 3, 0.1 * (2**31 - 1)])
    out.good('good-nifti-shifted.nii', single(header((2, 4, 1), 4, 16, inter=-1024.0), body), 4, 1, 1, 'f32',
             [-1023.0, -1022.0, -1021.0, -1028.0])
    out.bad('bad-nifti-intercept-nan.nii', single(header((2, 4, 1), 4, 16, slope=2.0, inter=nan), body))


def bad(out):
    w, h, d = 5, 4, 3
    body = bytes(w * h * d * 2)
    good_one = single(header((3, w, h, d), 4, 16), body)
    out.bad('bad-nifti-short.nii', good_one[:-1])
    out.bad('bad-nifti-long.nii', good_one + b'\0')
    out.bad('bad-nifti-header-only.nii', good_one[:348])
    out.bad('bad-nifti-header-cut.nii', good_one[:347])
    out.bad('bad-nifti2-header-cut.nii', header((3, w, h, d), 4, 16, version=2)[:539])
    out.bad('bad-nifti-cut.nii.gz', gzip.compress(good_one, mtime=0)[:-9])
    out.bad('bad-nifti-short.nii.gz', gzip.compress(good_one[:-1], mtime=0))
    out.bad('bad-nifti-long.nii.gz', gzip.compress(good_one + b'\0', mtime=0))
    packed = bytearray(gzip.compress(good_one, mtime=0))
    packed[-5] ^= 1
    out.bad('bad-nifti-crc.nii.gz', bytes(packed))
    out.bad('bad-nifti-bomb.nii.gz', gzip.compress(single(header((3, 2000, 2000, 2000), 4, 16), b''), mtime=0))
    out.bad('bad-nifti-huge.nii', single(header((7,) + (32767,) * 7, 2, 8), body))
    out.bad('bad-nifti2-huge.nii', single(header((7,) + (2**62,) * 7, 2, 8, version=2), body))
    out.bad('bad-nifti2-wraps.nii', single(header((3, 2**32, 2**32, 1), 2, 8, version=2), body))
    out.bad('bad-nifti2-volumes-wrap.nii', single(header((5, 1, 1, 1, 2**32, 2**32), 2, 8, version=2), body))
    for number in (0, -1, 8, 200, -32768):
        out.bad('bad-nifti-axes%d.nii' % number, single(header((number, w, h, d), 4, 16), body))
    for axis in range(1, 8):
        for size in (0, -1, 40000 - 65536):
            dim = [7, 2, 2, 2, 2, 2, 2, 2]
            dim[axis] = size
            out.bad('bad-nifti-axis%d-%d.nii' % (axis, size), single(header(dim, 2, 8), bytes(128)))
    for name, offset in (('low', 351.0), ('negative', -352.0), ('half', 352.5), ('nan', float('nan')), ('large', 1e30),
                         ('beyond', 4096.0), ('inf', float('inf')), ('tiny', 1e-30)):
        out.bad('bad-nifti-offset-%s.nii' % name, single(header((3, w, h, d), 4, 16, offset=offset), body))
    for name, offset in (('negative', -1), ('large', 2**63 - 1), ('beyond', 2**40), ('low', 543)):
        out.bad('bad-nifti2-offset-%s.nii' % name, single(header((3, w, h, d), 4, 16, version=2, offset=offset), body))
    out.bad('bad-nifti-offset-bomb.nii.gz', gzip.compress(single(header((3, w, h, d), 4, 16, offset=1e15), body), mtime=0))
    for name, size in (('4', 4), ('7', 7), ('negative', -16), ('large', 48), ('huge', 2**31 - 1)):
        out.bad('bad-nifti-extension-%s.nii' % name, single(header((3, w, h, d), 4, 16, offset=384), body,
                b'\1\0\0\0' + struct.pack('<ii', size, 6) + bytes(24)))
    out.bad('bad-nifti-size-0.nii', single(header((3, w, h, d), 4, 16, size=0), body))
    out.bad('bad-nifti-size-540.nii', single(header((3, w, h, d), 4, 16, size=540), body))
    out.bad('bad-nifti2-as-text.nii', single(header((3, w, h, d), 4, 16, version=2, magic=b'n+2\0\n\x1a\n\0'), body))
    out.bad('bad-nifti-no-img.hdr', header((3, w, h, d), 4, 16, magic=b'ni1', offset=0))
    out.bad('bad-nifti-no-hdr.img', body)
    out.bad('bad-nifti-pair-as.nii', header((3, w, h, d), 4, 16, magic=b'ni1', offset=0))
    out.write('bad-nifti-pair-short.img', body[:-1])
    out.bad('bad-nifti-pair-short.hdr', header((3, w, h, d), 4, 16, magic=b'ni1', offset=0))
    out.write('bad-nifti-pair-cut.img.gz', gzip.compress(body, mtime=0)[:-1])
    out.bad('bad-nifti-pair-cut.hdr', header((3, w, h, d), 4, 16, magic=b'ni1', offset=0))
    out.write('bad-nifti-pair-single.hdr', good_one)
    out.bad('bad-nifti-pair-single.img', body)
    for code in (0, 3, 255, -1, 32767):
        out.bad('bad-nifti-type%d.nii' % code, single(header((3, w, h, d), code, 16), body))


def unsupported(out):
    for code, bits in ((1, 1), (32, 64), (1024, 64), (1280, 64), (1536, 128), (1792, 128), (2048, 256)):
        out.bad('unsupported-nifti-type%d.nii' % code, single(header((2, 4, 1), code, bits), bytes(4 * bits // 8)), '5')
    for e in '<>':
        out.bad('unsupported-analyze-%s.hdr' % ('le' if e == '<' else 'be'), header((4, 5, 4, 3, 1), 4, 16, e, magic=b''),
                '5')


def make(out):
    for maker in (good, scaled, bad, unsupported):
        maker(out)
