"""Volumes of u8 with known places of their voxels, made by the descriptions of their formats alone, and
what such a file says, read the same way.

volume_made.py make FILE W H D [SX SY SZ OX OY OZ]   steps along x, y, z in mm and the place of voxel 0 in
                                                     RAS; x leads to the left; format by the name
volume_made.py place FILE                            steps and origin of a NIfTI, NRRD or MetaImage file
volume_made.py raw FILE W H D                        the same samples alone
"""
import re
import struct
import sys


def samples(count):
    state, out = 99, bytearray()
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(state >> 16 & 0xFF)
    return bytes(out)


def nifti(size, step, origin, data):
    h = bytearray(352)
    struct.pack_into("<i", h, 0, 348)
    struct.pack_into("<8h", h, 40, 3, *size, 1, 1, 1, 1)
    struct.pack_into("<hh", h, 70, 2, 8)
    struct.pack_into("<8f", h, 76, 1, *step, 0, 0, 0, 0)
    struct.pack_into("<f", h, 108, 352)
    h[123] = 2
    struct.pack_into("<hh", h, 252, 0, 1)
    struct.pack_into("<12f", h, 280, -step[0], 0, 0, origin[0], 0, step[1], 0, origin[1], 0, 0, step[2], origin[2])
    h[344:348] = b"n+1\0"
    return bytes(h) + data


def nrrd(size, step, origin, data):
    return ("NRRD0004\ntype: uchar\ndimension: 3\nspace: right-anterior-superior\nsizes: %d %d %d\n" % size
            + "space directions: (%r,0,0) (0,%r,0) (0,0,%r)\n" % (-step[0], step[1], step[2])
            + "encoding: raw\nspace origin: (%r,%r,%r)\n\n" % origin).encode() + data


def metaimage(size, step, origin, data):
    # Its space is LPS.
    return ("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
            "CompressedData = False\nTransformMatrix = 1 0 0 0 -1 0 0 0 1\n"
            + "Offset = %r %r %r\n" % (-origin[0], -origin[1], origin[2])
            + "ElementSpacing = %r %r %r\nDimSize = %d %d %d\n" % (*step, *size)
            + "ElementType = MET_UCHAR\nElementDataFile = LOCAL\n").encode() + data


def tiff(size, description, data, resolution=None):
    """Pages one after the other, one strip each."""
    plane, at, out = size[0] * size[1], 8, bytearray(b"II*\0\x08\0\0\0")
    text = description.encode() + b"\0"
    for z in range(size[2]):
        tags = [(256, 4, 1, size[0]), (257, 4, 1, size[1]), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
                (273, 4, 1, None), (277, 3, 1, 1), (278, 4, 1, size[1]), (279, 4, 1, plane)]
        if z == 0:
            tags.append((270, 2, len(text), None))
        if resolution:
            tags += [(282, 5, 1, None), (283, 5, 1, None), (296, 3, 1, 1)]
        tags.sort()
        extra = at + 2 + 12 * len(tags) + 4
        entries, tail = b"", b""
        for tag, kind, count, value in tags:
            place = extra + len(tail)
            if tag == 270:
                value, tail = place, tail + text + b"\0" * (len(text) % 2)
            elif kind == 5:
                value, tail = place, tail + struct.pack("<II", *resolution[tag - 282])
            elif tag == 273:
                value = -1
            entries += struct.pack("<HHIi", tag, kind, count, value)
        strip = extra + len(tail)
        entries = entries.replace(struct.pack("<HHIi", 273, 4, 1, -1), struct.pack("<HHIi", 273, 4, 1, strip))
        after = strip + plane
        after += after % 2
        page = struct.pack("<H", len(tags)) + entries + struct.pack("<I", after if z + 1 < size[2] else 0) + tail
        out += page + data[z * plane:(z + 1) * plane]
        out += b"\0" * (len(out) % 2)
        at = after
    return bytes(out)


def imagej(size, step, origin, data):
    text = "ImageJ=1.53\nimages=%d\nslices=%d\nunit=um\nspacing=%r\n" % (size[2], size[2], step[2] * 1000)
    return tiff(size, text, data, [(10000, round(s * 1e7)) for s in step[:2]])


def ome(size, step, origin, data):
    text = ('<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
            '<Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint8" SizeX="%d" SizeY="%d" SizeZ="%d" SizeC="1" '
            'SizeT="1" PhysicalSizeX="%r" PhysicalSizeXUnit="mm" PhysicalSizeY="%r" PhysicalSizeYUnit="mm" '
            'PhysicalSizeZ="%r"><TiffData/></Pixels></Image></OME>' % (*size, step[0], step[1], step[2] * 1000))
    return tiff(size, text, data)


def pages(size, step, origin, data):
    return tiff(size, "pages", data)


def make(path, *numbers):
    size = tuple(int(n) for n in numbers[:3])
    rest = [float(n) for n in numbers[3:]] or [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    kinds = {".nii": nifti, ".nrrd": nrrd, ".mha": metaimage, ".ij.tif": imagej, ".ome.tif": ome, ".tif": pages}
    kind = next(kinds[end] for end in kinds if path.endswith(end))
    with open(path, "wb") as f:
        f.write(kind(size, tuple(rest[:3]), tuple(rest[3:6]), samples(size[0] * size[1] * size[2])))


def place(path):
    data = open(path, "rb").read()
    if path.endswith(".nii"):
        assert struct.unpack_from("<h", data, 254)[0] > 0, "no sform"
        m = struct.unpack_from("<12f", data, 280)
        step, origin = [[m[4 * b + a] for b in range(3)] for a in range(3)], [m[3], m[7], m[11]]
    elif path.endswith(".nrrd"):
        text = data[:data.index(b"\n\n")].decode()
        vectors = re.search(r"^space directions: *(.*)$", text, re.M).group(1)
        step = [[float(n) for n in v.split(",")] for v in re.findall(r"\(([^)]*)\)", vectors)]
        origin = [float(n) for n in re.search(r"^space origin: *\((.*)\)$", text, re.M).group(1).split(",")]
        space = re.search(r"^space: *(.*)$", text, re.M).group(1)
        if space in ("left-posterior-superior", "LPS"):
            step, origin = [[-v[0], -v[1], v[2]] for v in step], [-origin[0], -origin[1], origin[2]]
        else:
            assert space in ("right-anterior-superior", "RAS"), space
    else:
        field = {k.strip(): v.split() for k, v in
                 (line.split("=", 1) for line in data[:data.index(b"ElementDataFile")].decode().splitlines())}
        turn = [float(n) for n in field["TransformMatrix"]]
        length = [float(n) for n in field["ElementSpacing"]]
        origin = [float(n) for n in field["Offset"]]
        step = [[turn[3 * a + b] * length[a] * (-1 if b < 2 else 1) for b in range(3)] for a in range(3)]
        origin = [-origin[0], -origin[1], origin[2]]
    print("; ".join(" ".join("%g" % (n + 0.0) for n in v) for v in step + [origin]))


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "place":
    place(sys.argv[2])
else:
    with open(sys.argv[2], "wb") as f:
        w, h, d = (int(n) for n in sys.argv[3:6])
        f.write(samples(w * h * d))
