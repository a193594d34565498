# The same bytes for any slab, any number of threads and any memory: the pipeline's halos.
load helpers

# same ARGUMENTS: gpufilt ARGUMENTS OUT gives the same file with slabs of 1, 2, 3 and 7 units on
# one and on three threads as in one piece.
same()
{
    local slab jobs
    "$GPUFILT" "$@" -q --sync none -j 1 whole.raw -f raw || fail "gpufilt $*"
    for slab in 1 2 3 7; do
        for jobs in 1 3; do
            GPUFILT_TEST_SLAB=$slab "$GPUFILT" "$@" -q --sync none -j $jobs part.raw -f raw ||
                fail "slab $slab: gpufilt $*"
            cmp whole.raw part.raw || fail "slab $slab, $jobs threads: gpufilt $*"
        done
    done
}

noise()
{
    python3 - "$1" "$2" <<'END'
import random, sys
random.seed(7)
open(sys.argv[1], 'wb').write(bytes(random.randrange(256) for _ in range(int(sys.argv[2]))))
END
}

@test "slabs of rows: every border, masks smaller and larger than the picture" {
    has_hooks || skip "a build without test hooks"
    noise in.raw $((23 * 19))
    for border in zero clamp wrap symmetric reflect101 normalize; do
        for mask in gauss3 box31 "1,2;3,4;5,6;7,8"; do
            same correlate --raw 23x19:u8 -k "$mask" -b "$border" in.raw
        done
    done
    same correlate --raw 23x19:u8 -k gauss5 -b valid in.raw
    same correlate --raw 23x19:u8 -k gauss5 --roi 3,11+17x6 in.raw
}

@test "slabs of pictures with alpha, and of pages" {
    has_hooks || skip "a build without test hooks"
    python3 - <<'END'
import random, struct, zlib
random.seed(8)
w, h = 21, 17
def chunk(k, b): return struct.pack('>I', len(b)) + k + b + struct.pack('>I', zlib.crc32(k + b))
rows = b''.join(b'\0' + random.randbytes(w * 4) for y in range(h))
open('in.png', 'wb').write(b'\x89PNG\r\n\x1a\n'
    + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 6, 0, 0, 0))
    + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
# Three pages of 16-bit gray, each in one strip.
pages, at, file = 3, 8, b''
for page in range(pages):
    data = random.randbytes(w * h * 2)
    tags = [(256, 4, w), (257, 4, h), (258, 3, 16), (259, 3, 1), (262, 3, 1), (273, 4, at),
            (277, 3, 1), (278, 4, h), (279, 4, len(data))]
    folder = at + len(data)
    at = folder + 2 + 12 * len(tags) + 4
    after = at + w * h * 2 if page + 1 < pages else 0
    file += data + struct.pack('<H', len(tags))
    file += b''.join(struct.pack('<HHII', tag, kind, 1, value) for tag, kind, value in tags)
    file += struct.pack('<I', after)
open('in.tif', 'wb').write(struct.pack('<2sHI', b'II', 42, 8 + w * h * 2) + file)
END
    # A derivative keeps alpha as it is, a blur weighs colour with it.
    same correlate -k sobel-x in.png
    same correlate -k sobel-x --alpha independent in.png
    same blur -k gauss5 in.png
    same blur -k gauss5 -b normalize in.png
    same blur -k gauss5 in.tif
    same correlate -k box15 -b wrap in.tif
    same correlate -k sobel-x --roi 3,4+11x9 in.tif
}

@test "slabs of planes: every border, and slice by slice" {
    has_hooks || skip "a build without test hooks"
    noise in.raw $((7 * 9 * 11 * 2))
    for border in zero clamp wrap symmetric reflect101 normalize; do
        for mask in gauss5 box15 "1,2;3,4;;5,6;7,8;;9,1;2,3"; do
            same correlate --raw 7x9x11:u16 -k "$mask" -b "$border" in.raw
        done
    done
    same blur --raw 7x9x11:u16 --sigma 1.2 in.raw
    same blur --raw 7x9x11:u16 --sigma 1.2 --2d in.raw
    same correlate --raw 7x9x11:u16 -k gauss3 -b valid in.raw
    same blur --raw 7x9x11:u16 --sigma 1 --roi 1,2,5+4x5x6 in.raw
    same blur --raw 7x9x11:u16 --sigma 1 --2d --roi 1,2,5+4x5x6 in.raw
}

# Wrapping needs the other end of the image: what is read in order is kept whole, or read twice.
@test "slabs that wrap, of images that are read in order" {
    has_hooks || skip "a build without test hooks"
    local mask slab roi want
    noise flat.raw $((23 * 19))
    "$GPUFILT" convert --raw 23x19:u8 flat.raw in.png
    noise vol.raw $((7 * 9 * 11 * 2))
    "$GPUFILT" convert --raw 7x9x11:u16 vol.raw in.nii.gz
    mkdir slices
    "$GPUFILT" convert --raw 7x9x11:u16 vol.raw 'slices/s%d.png'
    for mask in "1,2;3,4;5,6;7,8" box31 "1;2;3;4;5;6;7;8;9;1;2;3"; do
        for roi in "" "--roi 2,0+9x5" "--roi 2,15+9x4" "--roi 2,9+9x3"; do
            # shellcheck disable=SC2086
            "$GPUFILT" correlate --raw 23x19:u8 -k "$mask" -b wrap $roi flat.raw -q -f raw want.raw
            for slab in 1 2 3 7; do
                # shellcheck disable=SC2086
                GPUFILT_TEST_ENDS=1 GPUFILT_TEST_SLAB=$slab "$GPUFILT" correlate -k "$mask" -b wrap \
                    $roi in.png -q -f raw part.raw || fail "$mask $roi"
                cmp want.raw part.raw || fail "ends: $mask $roi, slab $slab"
                # shellcheck disable=SC2086
                GPUFILT_TEST_SLAB=$slab "$GPUFILT" correlate -k "$mask" -b wrap $roi - <in.png -q \
                    -f raw part.raw || fail "$mask $roi"
                cmp want.raw part.raw || fail "whole: $mask $roi, slab $slab"
            done
        done
    done
    for mask in gauss5 box15 "1,2;3,4;;5,6;7,8;;9,1;2,3" "1;;2;;3;;4;;5;;6;;7"; do
        for roi in "" "--roi 1,2,0+4x5x3" "--roi 1,2,8+4x5x3" "--roi 1,2,5+4x5x2"; do
            # shellcheck disable=SC2086
            "$GPUFILT" correlate --raw 7x9x11:u16 -k "$mask" -b wrap $roi vol.raw -q -f raw want.raw
            for slab in 1 2 3 7; do
                for in in in.nii.gz 'slices/s%d.png'; do
                    # shellcheck disable=SC2086
                    GPUFILT_TEST_ENDS=1 GPUFILT_TEST_SLAB=$slab "$GPUFILT" correlate -k "$mask" \
                        -b wrap $roi "$in" -q -f raw part.raw || fail "$mask $roi $in"
                    cmp want.raw part.raw || fail "$in: $mask $roi, slab $slab"
                done
            done
        done
    done
    # Planes one by one, which cannot be gone back to.
    "$GPUFILT" correlate --raw 7x9x11:u16 -k box15 --2d -b wrap vol.raw -q -f raw want.raw
    for in in in.nii.gz 'slices/s%d.png'; do
        GPUFILT_TEST_ENDS=1 GPUFILT_TEST_SLAB=2 "$GPUFILT" correlate -k box15 --2d -b wrap "$in" \
            -q -f raw part.raw || fail "$in"
        cmp want.raw part.raw || fail "$in, slice by slice"
    done
}

@test "a picture with checksums is read to its end when only a part is wanted" {
    cp "$samples/camera.png" cut.png
    # One bit of the last rows' data.
    python3 - <<'END'
data = bytearray(open('cut.png', 'rb').read())
data[-40] ^= 1
open('cut.png', 'wb').write(data)
END
    refused 3 convert --roi 0,0+16x16 cut.png out.png
    [ ! -e out.png ]
}
