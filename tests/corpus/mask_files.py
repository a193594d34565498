"""Mask files in the format of gpufilt-mask(5): good ones in every way of writing, and one bad
one for each error."""
import os


def make(folder):
    """Writes them and expected.tsv: file, status, taps (rows by ';', planes by ';;'), divisor,
    origin x,y,z."""
    os.makedirs(folder, exist_ok=True)
    lines = ['#file\tstatus\ttaps\tdivisor\torigin']

    def write(name, text):
        with open(os.path.join(folder, name + '.mask'), 'wb') as f:
            f.write(text if isinstance(text, bytes) else text.encode('utf-8'))

    def good(name, text, taps, divisor=1, origin='-'):
        write('good-' + name, text)
        lines.append('good-%s.mask\t0\t%s\t%d\t%s' % (name, taps, divisor, origin))

    def bad(name, text, status='3'):
        write('bad-' + name, text)
        lines.append('bad-%s.mask\t%s\t-\t-\t-' % (name, status))

    square, taps = '1 2 1\n2 4 2\n1 2 1\n', '1 2 1; 2 4 2; 1 2 1'
    good('plain', square, taps)
    good('divisor', 'divisor 16\n' + square, taps, 16)
    good('comments', '# a mask\n\n  # indented\ndivisor 16 # sixteen\n' + square.replace('4', '4  '), taps, 16)
    good('commas', '1, 2,1\n2,4,2\n1 ,2, 1\n', taps)
    good('crlf', ('divisor 16\n' + square).replace('\n', '\r\n'), taps, 16)
    good('tabs', square.replace(' ', '\t'), taps)
    good('no-newline', square[:-1], taps)
    good('byte-order-mark', b'\xef\xbb\xbf' + square.encode(), taps)
    good('fractions', '1/4 1/2 1/4\n', '1 2 1', 4)
    good('decimals', '0.25 0.5 0.25\n', '1 2 1', 4)
    good('exponents', '25e-2 5e-1 2.5E-1\n', '1 2 1', 4)
    good('signs', '-1 +0 +1\n', '-1 0 1')
    good('origin', 'origin 0 1\n1 2 3\n4 5 6\n', '1 2 3; 4 5 6', 1, '0,1,0')
    good('even', '1 2\n3 4\n', '1 2; 3 4')
    good('column', '1\n2\n1\n', '1; 2; 1')
    good('one', '7\n', '7')
    good('planes', 'divisor 8\n1 1\n1 1\n---\n1 1\n1 1\n', '1 1; 1 1;; 1 1; 1 1', 8)
    good('planes-origin', 'origin 1 0 0\n1 2\n---\n3 4\n', '1 2;; 3 4', 1, '1,0,0')
    good('size', 'size 3 3\n' + square, taps)
    good('size-planes', 'size 2 1 2\n1 2\n3 4\n', '1 2;; 3 4')
    good('separable', 'divisor 16\nx 1 2 1\ny 1 2 1\n', taps, 16)
    good('separable-3d', 'divisor 4\nx 1 1\ny 1 1\nz 1 3\n', '1 1; 1 1;; 3 3; 3 3', 4)
    good('negative-divisor', 'divisor -2\n-2 -4 -2\n', '1 2 1', 1)

    bad('empty', '')
    bad('only-comments', '# nothing\n\n')
    bad('only-divisor', 'divisor 3\n')
    bad('ragged', '1 2 1\n2 4\n1 2 1\n')
    bad('ragged-planes', '1 2\n3 4\n---\n5 6\n')
    bad('plane-empty', '1 2\n---\n---\n3 4\n')
    bad('plane-last-empty', '1 2\n---\n')
    bad('nan', '1 nan 1\n')
    bad('inf', '1 inf 1\n')
    bad('overflow', '1 1e999 1\n')
    bad('word', '1 two 1\n')
    bad('trailing-letters', '1 2x 1\n')
    bad('hex', '0x10 1\n')
    bad('unknown-word', 'divider 3\n1 1 1\n')
    bad('divisor-zero', 'divisor 0\n1 1 1\n')
    bad('divisor-nan', 'divisor nan\n1 1 1\n')
    bad('divisor-inf', 'divisor inf\n1 1 1\n')
    bad('divisor-missing', 'divisor\n1 1 1\n')
    bad('divisor-two', 'divisor 2 3\n1 1 1\n')
    bad('divisor-twice', 'divisor 2\ndivisor 3\n1 1 1\n')
    bad('fraction-by-zero', '1/0 1\n')
    bad('origin-beyond', 'origin 3 0\n1 2 1\n')
    bad('origin-negative', 'origin -1 0\n1 2 1\n')
    bad('origin-fraction', 'origin 0.5 0\n1 2 1\n')
    bad('origin-huge', 'origin 99999999999 0\n1 2 1\n')
    bad('origin-short', 'origin 1\n1 2 1\n')
    bad('size-wrong', 'size 3 2\n' + square)
    bad('size-zero', 'size 0 3\n' + square)
    bad('size-huge', 'size 4294967297 1\n1\n')
    bad('comma-twice', '1,,2\n')
    bad('comma-first', ',1 2\n')
    bad('comma-last', '1 2,\n')
    bad('rows-and-factors', 'x 1 2 1\n1 2 1\n')
    bad('factors-order', 'y 1 2 1\nx 1 2 1\n')
    bad('factor-empty', 'x\ny 1 2 1\n')
    bad('nul', b'1 2\0 1\n')
    bad('control', b'1 \x1b[31m2 1\n')
    bad('binary', bytes(range(256)))
    bad('picture', b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR')
    bad('row-too-long', '0 ' * (2**20 + 1) + '\n')

    with open(os.path.join(folder, 'expected.tsv'), 'w', encoding='ascii') as f:
        f.write('\n'.join(lines) + '\n')
