#!/usr/bin/env python3
"""NIfTI between the program and nibabel, both ways: samples and geometry must be equal.

    nifti_peer.py GPUFILT

Works in the current folder; prints what differs and ends with status 1. Status 77: no nibabel.
"""
import os
import struct
import subprocess
import sys
import warnings

try:
    import nibabel
    import numpy
except ImportError:
    print('nifti_peer.py: no nibabel')
    sys.exit(77)

warnings.simplefilter('ignore')
TILTED = numpy.array([[-1.5, 0.1, 0.25, 90.5], [0.2, 1.25, 0.75, -126], [-0.1, -0.5, 2.5, -72.25], [0, 0, 0, 1]])
SCANNER = numpy.array([[-2, 0, 0, 11], [0, 1.2, 1.6, -22], [0, -0.9, 1.2, 33], [0, 0, 0, 1.]])
MODULES = {1: (nibabel.Nifti1Image, nibabel.Nifti1Pair), 2: (nibabel.Nifti2Image, nibabel.Nifti2Pair)}
wrong = 0


def need(holds, *words):
    global wrong
    if not holds:
        wrong += 1
        print(*words)


def run(*arguments):
    done = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=False)
    need(done.returncode == 0 and not done.stderr, arguments, done.returncode, done.stderr)


def data(shape, kind, seed):
    random = numpy.random.default_rng(seed)
    if numpy.dtype(kind).kind == 'f':
        return random.normal(size=shape).astype(kind)
    info = numpy.iinfo(kind)
    return random.integers(info.min, info.max, shape, kind, True)


def make(path, samples, version=1, pair=False, e='<', units='mm'):
    header = MODULES[version][0].header_class(endianness=e)
    header.set_data_dtype(samples.dtype)
    image = MODULES[version][pair](samples, None, header)
    image.set_qform(SCANNER, 1)
    image.set_sform(TILTED, 4)
    h = image.header
    h.set_xyzt_units(units, 'msec')
    h.set_dim_info(0, 1, 2)
    h['slice_start'], h['slice_end'], h['slice_code'], h['slice_duration'] = 0, 2, 3, 0.5
    h['descrip'], h['aux_file'], h['cal_max'], h['cal_min'] = b'from nibabel', b'none', 900, -5
    h['toffset'], h['intent_name'] = 2.5, b'a name'
    h['pixdim'][4:7] = 1.75, 3, 4
    h.extensions.append(nibabel.nifti1.Nifti1Extension('comment', b'kept'))
    h.extensions.append(nibabel.nifti1.Nifti1Extension(100, b'\0\1binary\xff'))
    nibabel.save(image, path)
    return image


def load(path):
    image = nibabel.load(path)
    return image, numpy.asanyarray(image.dataobj)


def fields(header, *without):
    return {k: header[k].tobytes() for k in header.keys() if k not in without}


def kept():
    """Every kind through the program, with another compression and form: nothing changes."""
    for kind in ('u1', 'i1', 'u2', 'i2', 'u4', 'i4', 'f4', 'f8'):
        for e in '<>':
            for version in (1, 2):
                samples = data((5, 4, 3), kind, 1)
                make('in.nii', samples, version, e=e)
                for out in ('out.nii', 'out.nii.gz', 'out.hdr', 'out.hdr.gz'):
                    run('convert', 'in.nii', out)
                    was, _ = load('in.nii')
                    now, got = load(out)
                    what = (kind, e, version, out)
                    need(got.dtype == samples.dtype.newbyteorder(e) and (got == samples).all(), *what, 'samples')
                    without = ('scl_slope', 'scl_inter', 'magic', 'vox_offset')
                    need(fields(was.header, *without) == fields(now.header, *without), *what, 'header')
                    need(now.header.endianness == e, *what, 'byte order')
                    need([(x.get_code(), x.get_content()) for x in was.header.extensions] ==
                         [(x.get_code(), x.get_content()) for x in now.header.extensions] and
                         len(now.header.extensions) == 2, *what, 'extensions')
                    need((now.affine == was.affine).all(), *what, 'affine')
                    # And back from there.
                    run('convert', out, 'back.nii')
                    need(open('back.nii', 'rb').read()[352:] == open(out, 'rb').read()[352:] or out != 'out.nii',
                         *what, 'back')
                    _, got = load('back.nii')
                    need((got == samples).all(), *what, 'samples back')


def pairs():
    for end in ('', '.gz'):
        samples = data((5, 4, 3, 2), 'i2', 2)
        make('pair.hdr' + end, samples, pair=True)
        for named in ('pair.hdr', 'pair.img'):
            run('convert', named + end, 'out.nii.gz')
            now, got = load('out.nii.gz')
            need((got == samples).all() and len(now.header.extensions) == 2, named, end)


def axes():
    for shape in ((7,), (7, 6), (7, 6, 1, 5), (7, 6, 5, 1, 3), (2, 3, 1, 1, 2, 1, 2)):
        samples = data(shape, 'i2', 3)
        for version in (1, 2):
            make('in.nii', samples, version)
            run('convert', 'in.nii', 'out.nii')
            _, got = load('out.nii')
            need(got.shape == shape and (got == samples).all(), shape, got.shape)


def scaled():
    for kind, as_type in (('u1', 'f4'), ('i2', 'f4'), ('i4', 'f8'), ('f8', 'f8')):
        samples = data((5, 4, 3), kind, 4)
        image = make('in.nii', samples)
        image.header.set_slope_inter(0.1, -3)
        nibabel.save(image, 'in.nii')
        raw = bytearray(open('in.nii', 'rb').read())
        raw[112:120] = struct.pack('<ff', 0.1, -3)
        start = int(struct.unpack_from('<f', raw, 108)[0])
        raw[start:] = samples.tobytes(order='F')
        open('in.nii', 'wb').write(raw)
        run('convert', 'in.nii', 'out.nii')
        now, got = load('out.nii')
        need(got.dtype == as_type, kind, got.dtype)
        want = samples.astype('f8') * float(numpy.float32(0.1)) - 3
        need((got == want.astype(as_type)).all(), kind, 'scaled samples')
        _, seen = load('in.nii')
        need(numpy.allclose(got, seen, rtol=1e-6), kind, 'what nibabel scales')
        need(struct.unpack_from('<ff', open('out.nii', 'rb').read(), 112) == (1, 0), 'slope written')


def colours():
    for kind, channels in (([('R', 'u1'), ('G', 'u1'), ('B', 'u1')], 3),
                           ([('R', 'u1'), ('G', 'u1'), ('B', 'u1'), ('A', 'u1')], 4)):
        samples = data((5, 4, 3, channels), 'u1', 5)
        image = nibabel.Nifti1Image(samples.view(kind)[..., 0], SCANNER)
        nibabel.save(image, 'in.nii')
        run('convert', 'in.nii', 'out.nii.gz')
        now, got = load('out.nii.gz')
        need((got == samples.view(kind)[..., 0]).all(), channels, 'colours')
        need((now.affine == nibabel.load('in.nii').affine).all(), channels, 'affine')


def moved():
    samples = data((9, 8, 7), 'i2', 6)
    shift = numpy.eye(4)
    shift[:3, 3] = 2, 1, 3
    for units, version in (('mm', 1), ('micron', 1), ('meter', 2)):
        make('in.nii', samples, version, units=units)
        was = nibabel.load('in.nii')
        run('convert', '--roi', '2,1,3+4x5x2', 'in.nii', 'out.nii')
        now, got = load('out.nii')
        need((got == samples[2:6, 1:6, 3:5]).all(), units, 'part')
        for form in ('get_sform', 'get_qform'):
            want, code = getattr(was, form)(coded=True)
            found, found_code = getattr(now, form)(coded=True)
            need(code == found_code and numpy.allclose(found, want @ shift, rtol=1e-6, atol=1e-4), units, form, found,
                 want @ shift)
        need(now.header['slice_code'] == 0 and now.header['slice_end'] == 0, 'slices of the whole')
        # A border of `valid` loses one voxel on each side.
        run('correlate', '-k', 'box3', '-b', 'valid', 'in.nii', 'out.nii')
        one = numpy.eye(4)
        one[:3, 3] = 1
        now, got = load('out.nii')
        need(got.shape == (7, 6, 5), got.shape)
        need(numpy.allclose(now.get_sform(), was.get_sform() @ one, rtol=1e-6, atol=1e-4), units, 'valid')


def spaced():
    samples = data((9, 8, 7), 'i2', 7)
    for version in (1, 2):
        make('in.nii', samples, version)
        was = nibabel.load('in.nii')
        run('convert', '--spacing', '3,0.5,2', 'in.nii', 'out.nii')
        now = nibabel.load('out.nii')
        sizes = numpy.sqrt((was.get_sform()[:3, :3]**2).sum(0))
        want = was.get_sform() @ numpy.diag([*(numpy.array([3, 0.5, 2]) / sizes), 1])
        need(numpy.allclose(now.get_sform(), want, rtol=1e-6, atol=1e-5), version, 'spacing')
        need(now.header['sform_code'] == 4 and now.header['qform_code'] == 1, 'codes')
        # Without any form: pixdim.
        plain = MODULES[version][0](samples, None)
        plain.header['pixdim'][1:4] = 2, 3, 4
        nibabel.save(plain, 'in.nii')
        run('convert', '--spacing', '3,0.5,2', 'in.nii', 'out.nii')
        now = nibabel.load('out.nii')
        need(now.header.get_zooms() == (3, 0.5, 2) and now.header['sform_code'] == 0, 'pixdim', now.header.get_zooms())


def fresh():
    """From a raw volume: no form, the spacing in pixdim; a size that needs NIfTI-2."""
    samples = data((6, 5, 4), 'u2', 8)
    samples.T.tofile('in_6x5x4_u16le.raw')
    run('convert', '--spacing', '0.5,0.25,2', 'in_6x5x4_u16le.raw', 'out.nii')
    now, got = load('out.nii')
    need((got == samples).all() and now.header.get_zooms() == (0.5, 0.25, 2), 'raw')
    need(now.header['qform_code'] == 0 and now.header['sform_code'] == 0, 'codes')
    need(now.header.get_xyzt_units()[0] == 'mm', now.header.get_xyzt_units())
    numpy.arange(40000, dtype='u2').tofile('in_40000x1_u16le.raw')
    for out in ('out.nii', 'out.nii.gz', 'out.hdr'):
        run('convert', 'in_40000x1_u16le.raw', out)
        now, got = load(out)
        need(isinstance(now, (nibabel.Nifti2Image, nibabel.Nifti2Pair)) and (got.ravel() == numpy.arange(40000)).all(),
             out, type(now), got.shape)


def from_nrrd():
    """The geometry of an NRRD, in LPS, is that of the NIfTI in RAS."""
    samples = data((6, 5, 4), 'u2', 9)
    with open('in.nrrd', 'wb') as f:
        vectors = ' '.join('(%s)' % ','.join(repr(float(-v if b < 2 else v)) for b, v in enumerate(TILTED[:3, a]))
                           for a in range(3))
        origin = ','.join(repr(float(-v if b < 2 else v)) for b, v in enumerate(TILTED[:3, 3]))
        f.write(('NRRD0004\ntype: ushort\ndimension: 3\nspace: left-posterior-superior\nsizes: 6 5 4\n'
                 'space directions: %s\nspace origin: (%s)\nendian: little\nencoding: raw\n\n' % (vectors, origin))
                .encode() + samples.tobytes(order='F'))
    run('convert', 'in.nrrd', 'out.nii')
    now, got = load('out.nii')
    need((got == samples).all(), 'NRRD samples')
    need(numpy.allclose(now.get_sform(), TILTED, rtol=1e-6) and now.header['sform_code'] == 1, now.get_sform())
    header = nibabel.Nifti1Header()
    header.set_data_shape((6, 5, 4))
    header.set_qform(TILTED, 1, strip_shears=True)
    need(numpy.allclose(now.get_qform(), header.get_qform(), rtol=1e-5, atol=1e-5), now.get_qform(), header.get_qform())


def main():
    os.environ.pop('GPUFILT_TEST_IO', None)
    for test in (kept, pairs, axes, scaled, colours, moved, spaced, fresh, from_nrrd):
        before = wrong
        test()
        print('%s: %d wrong' % (test.__name__, wrong - before))
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
