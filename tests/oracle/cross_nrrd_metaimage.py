#!/usr/bin/env python3
"""NRRD and MetaImage between gpufilt, pynrrd and SimpleITK: equal samples, equal places in space.

    cross_nrrd_metaimage.py GPUFILT

Works in the current folder. Every sample type, pictures and volumes, turned in space, plain and
compressed, header and samples together and apart; written by one and read by the other.
"""
import itertools
import subprocess
import sys

import numpy as np
import nrrd
import SimpleITK as sitk

FAULTS = []


def check(holds, what):
    if not holds:
        FAULTS.append(what)


def convert(source, target, *options):
    run = subprocess.run([sys.argv[1], 'convert', '-q', *options, source, target], capture_output=True, text=True)
    check(run.returncode == 0 and not run.stderr, '%s to %s: %d %s' % (source, target, run.returncode, run.stderr))
    return run.returncode == 0


def same_images(a, b, what):
    check(np.array_equal(sitk.GetArrayFromImage(a), sitk.GetArrayFromImage(b)), what + ': samples')
    check(a.GetPixelIDTypeAsString() == b.GetPixelIDTypeAsString(), what + ': type')
    for get in ('GetSpacing', 'GetOrigin', 'GetDirection'):
        x, y = np.array(getattr(a, get)()), np.array(getattr(b, get)())
        check(x.shape == y.shape and np.allclose(x, y, rtol=1e-12, atol=1e-12), '%s: %s %s %s' % (what, get, x, y))


def itk(kind, dimensions, channels, packed, random):
    shape = (5, 4, 3)[-dimensions:] + (channels,) * (channels > 1)
    samples = (random.random(shape) * 200).astype(kind)
    image = sitk.GetImageFromArray(samples, isVector=channels > 1)
    c, s = np.cos(.3), np.sin(.3)
    image.SetSpacing([.5, .75, 2.25][:dimensions])
    image.SetOrigin([10.5, -20.25, 7][:dimensions])
    image.SetDirection([c, -s, 0, s, c, 0, 0, 0, 1] if dimensions == 3 else [c, -s, s, c])
    coding = ('--compression', 'gzip' if packed else 'none')
    for source in ('mha', 'mhd', 'nrrd', 'nhdr'):
        sitk.WriteImage(image, 'in.' + source, useCompression=packed)
        for target in ('mha', 'mhd', 'nrrd', 'nhdr'):
            what = '%s, %dD, %d channels, packed %d, %s to %s' % (kind, dimensions, channels, packed, source, target)
            if convert('in.' + source, 'out.' + target, *coding):
                same_images(image, sitk.ReadImage('out.' + target), what)
                if target[0] == 'n':
                    data, head = nrrd.read('out.' + target, index_order='C')
                    check(np.array_equal(data, samples) and data.dtype == samples.dtype, what + ': pynrrd')


def pynrrd(kind, random):
    samples = (random.random((4, 3, 5)) * 200).astype(kind)
    head = {'space': 'right-anterior-superior', 'space directions': [[.5, .1, 0], [0, .25, 0], [.1, 0, 2]],
            'space origin': [1, 2, 3.5], 'kinds': ['domain'] * 3, 'labels': ['x', 'y y', 'z'],
            'space units': ['um', 'um', 'um'], 'DWMRI_gradient_0000': '0 0 1', 'thicknesses': [1, 2, 3]}
    for encoding, ending, order in itertools.product(('raw', 'gzip', 'ascii'), ('nrrd', 'nhdr'), ('little', 'big')):
        what = 'pynrrd, %s, %s, %s, %s' % (kind, encoding, ending, order)
        data = samples if encoding == 'ascii' else samples.astype(samples.dtype.newbyteorder('<>'[order == 'big']))
        nrrd.write('in.' + ending, data, dict(head, encoding=encoding, endian=order), index_order='F')
        if convert('in.' + ending, 'out.nrrd'):
            back, found = nrrd.read('out.nrrd', index_order='F')
            check(np.array_equal(back, samples), what + ': samples')
            for key in head:
                check(np.array_equal(np.array(found.get(key)), np.array(head[key])), '%s: %s: %s' % (what, key, found.get(key)))


def main():
    random = np.random.default_rng(1)
    kinds = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'float32', 'float64']
    for kind in kinds:
        for dimensions, packed in itertools.product((2, 3), (False, True)):
            itk(kind, dimensions, 1, packed, random)
        pynrrd(kind, random)
    for channels in (2, 3, 4):
        itk('uint8', 3, channels, False, random)
    for fault in FAULTS[:20]:
        print(fault, file=sys.stderr)
    sys.exit(bool(FAULTS))


if __name__ == '__main__':
    main()
