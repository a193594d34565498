"""NPY files made and read by the format's description alone, without NumPy.

npy_made.py make FILE EXPECTED DESCR ORDER VERSION N[,N...]   samples from a fixed sequence; EXPECTED gets
                                                             them in C order, little-endian
npy_made.py header FILE VERSION TEXT [BYTES]                  any header, then BYTES zeros
npy_made.py show FILE                                         version and header text; samples as bytes
"""
import struct
import sys


def head(version, text, aligned=True):
    text = text.encode("latin-1")
    size = 4 if version > 1 else 2
    if aligned:
        text += b" " * (-(6 + 2 + size + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<I" if version > 1 else "<H", len(text)) + text


def fill(count):
    state, out = 12345, bytearray()
    while len(out) < count:
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out += struct.pack("<H", state >> 8 & 0xFFFF)
    return bytes(out[:count])


def swapped(data, size):
    out = bytearray(len(data))
    for i in range(size):
        out[i::size] = data[size - 1 - i::size]
    return bytes(out)


def turned(data, shape, size):
    """The samples of an array in C order, in Fortran order: the last axis outermost."""
    if len(shape) == 1:
        return data
    last, rest = shape[-1], shape[:-1]
    out = bytearray()
    for i in range(last):
        part = bytearray(len(data) // last)
        for b in range(size):
            part[b::size] = data[i * size + b::last * size]
        out += turned(bytes(part), rest, size)
    return bytes(out)


def make(path, expected, descr, order, version, shape):
    shape = [int(n) for n in shape.split(",")]
    size, count = int(descr[2:]), 1
    for n in shape:
        count *= n
    data = fill(count * size)
    if descr[1] == "b":
        data = bytes(b & 1 for b in data)
    if descr[1] == "f":  # no NaN, nor infinities
        data = bytes(b & 0xBF if i % size == size - 1 else b for i, b in enumerate(data))
    with open(expected, "wb") as f:
        f.write(data)
    stored = turned(data, shape, size) if order == "F" else data
    if descr[0] == ">":
        stored = swapped(stored, size)
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, order == "F", "".join("%d, " % n for n in shape))
    with open(path, "wb") as f:
        f.write(head(int(version), text) + stored)


def show(path):
    data = open(path, "rb").read()
    assert data[:6] == b"\x93NUMPY"
    size = struct.unpack("<H", data[8:10])[0]
    print(data[6], data[7], (10 + size) % 64, data[10:10 + size].decode().rstrip(), data[10 + size:].hex())


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "header":
    with open(sys.argv[2], "wb") as made:
        made.write(head(int(sys.argv[3]), sys.argv[4]) + bytes(int(sys.argv[5]) if sys.argv[5:] else 0))
else:
    show(sys.argv[2])
