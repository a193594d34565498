"""What all makers of the corpus share: the samples, and the list of what must come out."""
import hashlib
import os
import struct

BYTES = {'u8': 1, 'i8': 1, 'u16': 2, 'i16': 2, 'u32': 4, 'i32': 4, 'f16': 2, 'f32': 4, 'f64': 8}
CODES = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h', 'u32': 'I', 'i32': 'i', 'f16': 'e',
         'f32': 'f', 'f64': 'd'}


def sample(bits, x, y, c=0, p=0):
    """The stored value at a place, below 2**bits: scattered, with both extremes in row 0."""
    if y == 0 and p == 0 and x < 2:
        return (0, 2**bits - 1)[(x + c) % 2]
    h = (x * 73856093 ^ y * 19349663 ^ c * 83492791 ^ p * 49979687) % 2**32
    h = (h ^ h >> 15) * 2654435761 % 2**64
    return (h * 6364136223846793005 + 1442695040888963407) % 2**64 >> (64 - bits)


def signed(value, bits):
    return value - 2**bits if value >= 2**(bits - 1) else value


def image(bits, width, height, channels=1, page=0):
    """Stored values as [row][column][channel]."""
    return [[[sample(bits, x, y, c, page) for c in range(channels)] for x in range(width)]
            for y in range(height)]


def flat(rows):
    return [value for row in rows for pixel in row for value in pixel]


def packed(values, kind):
    return struct.pack('<%d%s' % (len(values), CODES[kind]), *values)


def pack_bits(values, bits):
    """Values of 1 to 64 bits, the highest bit first, padded to a byte."""
    number = 0
    for value in values:
        number = number << bits | value
    length = len(values) * bits
    return (number << -length % 8).to_bytes((length + 7) // 8, 'big')


class Corpus:
    """Writes files into a folder and remembers what reading each must give."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = []

    def write(self, name, data):
        with open(os.path.join(self.folder, name), 'wb') as f:
            f.write(data)

    def good(self, name, data, width, height, channels, kind, values, depth=1, images=1,
             status='0', options=''):
        """`values` are the samples as they must be read, of all images in order. A status
        such as '0|5' allows a refusal as well, but nothing else."""
        samples = values if isinstance(values, bytes) else packed(values, kind)
        self.write(name, data)
        self.rows.append((name, status, width, height, depth, images, channels, kind,
                          hashlib.sha256(samples).hexdigest(), options or '-'))

    def bad(self, name, data, status='3', options=''):
        self.write(name, data)
        self.rows.append((name, status) + ('-',) * 7 + (options or '-',))

    def finish(self):
        names = [row[0] for row in self.rows]
        assert len(set(names)) == len(names), 'two files of one name'
        with open(os.path.join(self.folder, 'expected.tsv'), 'w', encoding='ascii') as f:
            f.write('#file\tstatus\twidth\theight\tdepth\timages\tchannels\ttype\tsha256\toptions\n')
            for row in self.rows:
                f.write('\t'.join(str(field) for field in row) + '\n')
