#!/usr/bin/env bats
# NPY: NumPy's arrays.
load helpers

made=$tests/oracle/npy_made.py

# reads DESCR ORDER VERSION SHAPE: such a file gives the samples that were put in.
reads()
{
    python3 "$made" make a.npy wanted.raw "$@"
    attempt "$GPUFILT" convert -q a.npy got.raw
    [ "$status" -eq 0 ] || fail "$*"
    cmp got.raw wanted.raw || fail "$*"
}

@test "every type, in both byte orders and in both orders of axes" {
    local descr order
    for descr in '|u1' '|i1' '|b1' '<u2' '<i2' '<u4' '<i4' '<f2' '<f4' '<f8' '>u2' '>i2' '>u4' '>i4' \
        '>f2' '>f4' '>f8'; do
        for order in C F; do
            reads "$descr" "$order" 1 4,5,7
        done
    done
    ok info --json a.npy
    prints '"type": "f64"'
    python3 "$made" make a.npy wanted.raw '|b1' C 1 3,4
    ok info --json a.npy
    prints '"type": "u8"'
}

@test "versions and numbers of axes" {
    local version order shape
    for order in C F; do
        for version in 1 2 3; do
            reads '>u2' $order $version 6,11
        done
        for shape in 9 5,7 1,7 7,1 4,5,7 1,5,7 4,5,7,1 4,5,7,3 4,5,7,4 2,4,5,7,1 3,2,5,7,6; do
            reads '<i2' $order 1 $shape
        done
    done
}

@test "what the axes mean" {
    local shape words
    while read -r shape words; do
        python3 "$made" make a.npy wanted.raw '|u1' C 1 "$shape"
        ok info --json a.npy
        prints "$words"
    done <<'END'
7 "width": 7, "height": 1, "depth": 1, "channels": 1
5,7 "width": 7, "height": 5, "depth": 1, "channels": 1
4,5,7 "width": 7, "height": 5, "depth": 4, "channels": 1, "type": "u8", "color": "gray", "alpha": "none", "dimensions": 3
4,5,7,3 "width": 7, "height": 5, "depth": 4, "channels": 3, "type": "u8", "color": "rgb"
1,5,7,4 "width": 7, "height": 5, "depth": 1, "channels": 4, "type": "u8", "color": "other"
1,4,5,7,9 "width": 7, "height": 5, "depth": 4, "channels": 9
END
    python3 "$made" make a.npy wanted.raw '|u1' C 1 3,4,5,7,1
    ok info a.npy
    prints '3 images'
}

@test "a colour picture of three axes is said to be a volume" {
    python3 "$made" make a.npy wanted.raw '|u1' C 1 50,70,3
    expect 0 "$GPUFILT" info a.npy
    prints '3 x 70 x 50'
    says 'warning: a.npy: an array of 3 axes, (50, 70, 3), is a volume of 3 columns; if these are channels, save a[None], of shape (1, 50, 70, 3)'
}

@test "what is written is what numpy.save writes" {
    # Recorded from numpy 2.4: numpy.save() of numpy.arange(6, dtype='<u2').reshape(2, 3).
    write a_3x2_u16le.raw 0 0 1 0 2 0 3 0 4 0 5 0
    ok convert a_3x2_u16le.raw out.npy
    [ "$(sum out.npy)" = "$recorded_sum" ] || fail "$(od -c out.npy)"
    attempt python3 "$made" show out.npy
    [ "$output" = "1 0 0 {'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), } 000001000200030004000500" ] ||
        fail other
}
recorded_sum=6233a0de9d44550df16ae1db35d10fcf30d236f2766a09db8ccdee461025b59d

@test "an array keeps its number of axes" {
    local shape
    for shape in 7 1,7 1,5,7 4,5,7 1,4,5,7,1 3,1,5,7,1 2,5,7,1 1,5,7,3; do
        python3 "$made" make a.npy wanted.raw '<u2' C 1 $shape
        ok blur -k gauss3 a.npy b.npy
        attempt python3 "$made" show b.npy
        prints "'shape': (${shape//,/, }"
    done
    # Pages, and more channels than a series of volumes could be taken for.
    ok convert "$samples/cells_16bit.tif" b.npy
    python3 "$made" make a.npy wanted.raw '<u2' C 1 2,1,5,7,1
    ok convert a.npy a.tif
    ok convert a.tif b.npy
    cmp <(tail -c +129 b.npy) wanted.raw
    prints ''
    attempt python3 "$made" show b.npy
    prints "'shape': (2, 1, 5, 7, 1)"
    ok convert --raw 7x5:u8x5 "$(head -c 175 /dev/zero >z.bin && echo z.bin)" b.npy
    attempt python3 "$made" show b.npy
    prints "'shape': (1, 1, 5, 7, 5)"
}

@test "Fortran order in as many passes as memory allows" {
    local shape
    for shape in 64,200,160 3000,700 2,30,200,170,1; do
        python3 "$made" make a.npy wanted.raw '|u1' F 1 $shape
        ok convert --max-memory 5M a.npy got.raw
        cmp got.raw wanted.raw || fail "$shape"
        gzip -n -k -f a.npy
        ok convert --max-memory 7M a.npy.gz got.raw
        cmp got.raw wanted.raw || fail "$shape, through gzip"
    done
    # 64 GB: not without memory, and not a word of it from info.
    python3 "$made" header big.npy 1 "{'descr': '<u2', 'fortran_order': True, 'shape': (3200, 3200, 3200), }"
    truncate -s $((3200 * 3200 * 3200 * 2 + 128)) big.npy
    ok info big.npy
    refused 6 convert --max-memory 256M big.npy got.npy
    says 'big.npy: an array in Fortran order'
    says 'raise --max-memory, or save numpy.ascontiguousarray(a)'
    [ ! -e got.npy ]
}

@test "from the header alone, whatever the size" {
    python3 "$made" header big.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (5000, 5000, 5000), }"
    truncate -s $((5000 * 5000 * 5000 * 4 + 128)) big.npy
    SECONDS=0
    ok info big.npy
    prints '5000 x 5000 x 5000'
    [ $SECONDS -lt 5 ]
}

@test "gzip" {
    python3 "$made" make a.npy wanted.raw '>f4' C 1 4,5,7
    gzip -n -k a.npy
    ok convert a.npy.gz out.npy.gz
    [ "$(gzip -dc out.npy.gz | tail -c +129 | sha256sum)" = "$(sha256sum <wanted.raw)" ]
    ok info a.npy.gz
    prints 'compression  gzip'
    head -c 60 a.npy.gz >short.npy.gz
    refused 3 convert short.npy.gz out.raw
}

@test "headers that lie or are damaged" {
    local status_wanted text words
    while IFS=';' read -r status_wanted text words; do
        python3 "$made" header bad.npy 1 "$text" 24
        refused "$status_wanted" info bad.npy
        says bad.npy
        says "$words"
    done <<'END'
3;{'descr': '<u2', 'fortran_order': False, 'shape': (3, 5), };the file has
3;{'descr': '<u2', 'fortran_order': False, 'shape': (3, 3), };the file has
3;{'descr': '<u2', 'fortran_order': True, 'shape': (3, 5), };the file has
3;{'descr': '<u2', 'fortran_order': False, 'shape': (3, -4), };a number of the shape is needed where it has '-4
3;{'descr': '<u2', 'fortran_order': False, 'shape': (0, 4), };the array is empty: axis 1 of 2
3;{'descr': '<u2', 'fortran_order': False, 'shape': (12), };a comma in a shape of one number
3;{'descr': '<u2', 'fortran_order': False, 'shape': (3 4), };a comma or the end of the shape
3;{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,), };a number of the shape
3;{'descr': '<u2', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), };more than 2^63 bytes
3;{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296, 1, 1), };more
3;{'descr': '<u2', 'fortran_order': false, 'shape': (3, 4), };True or False is needed where it has 'false
3;{'descr': '<u2', 'fortran_order': False, };it has no 'shape'
3;{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), };each once
3;{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), 'more': 1};each once
3;{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), } + 1;the end after '}'
3;{'descr': '<u2' 'fortran_order': False, 'shape': (3, 4)};',' or '}'
3;{'descr': <u2, 'fortran_order': False, 'shape': (3, 4)};a type in quotes
3;{'descr': '<u2;a type in quotes
3;__import__('os').system('true');'{' is needed where it has '__import__
3;;'{' is needed
5;{'descr': '<i8', 'fortran_order': False, 'shape': (3,), };64-bit integers ('<i8'), which cannot be filtered; save a.astype('i4')
5;{'descr': '>u8', 'fortran_order': False, 'shape': (3,), };save a.astype('u4')
5;{'descr': '<c8', 'fortran_order': False, 'shape': (3,), };save a.real and a.imag
5;{'descr': '<f16', 'fortran_order': False, 'shape': (1,), };save a.astype('f8')
5;{'descr': '|O', 'fortran_order': False, 'shape': (3,), };Python objects
5;{'descr': '<U6', 'fortran_order': False, 'shape': (1,), };texts
5;{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), };dates
5;{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (3,), };structures
5;{'descr': '<x2', 'fortran_order': False, 'shape': (3,), };is unknown; known are
5;{'descr': '=u2', 'fortran_order': False, 'shape': (12,), };which byte comes first
5;{'descr': '<u2', 'fortran_order': False, 'shape': (), };a single number
5;{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 3, 4), };an array of 6 axes
5;{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 24), };too many for the channels of (z, y, x, c)
END
    printf '\x93NUMPY\x04\x00\x76\x00{}' >bad.npy
    refused 5 info bad.npy
    says 'NPY version 4.0; versions 1.0, 2.0 and 3.0 are read'
    printf '\x93NUMPY\x01\x00' >bad.npy
    refused 3 info bad.npy
    printf '\x93NUMPY\x02\x00\xff\xff\xff\xff{}' >bad.npy
    refused 3 info bad.npy
    says '4294967295 bytes of text'
    printf '\x93NUMPY\x01\x00\xff\xff{}' >bad.npy
    refused 3 info bad.npy
    says 'the file is shorter'
    # Any spelling that Python reads.
    python3 "$made" header fine.npy 1 '{ "shape" : (3L,4,) , "fortran_order":False,"descr":"<u2"}' 24
    ok info fine.npy
}

@test "NumPy reads what is written, and the other way round" {
    python3 -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
    python3 - "$GPUFILT" <<'END'
import subprocess
import sys
import numpy as np

rng = np.random.default_rng(5)
for shape in [(9,), (5, 7), (4, 5, 7), (4, 5, 7, 3), (2, 1, 5, 7, 1), (1, 2, 5, 7, 6)]:
    for descr in ["|b1", "|u1", "|i1", "<u2", ">u2", "<i2", ">i4", "<u4", "<f2", ">f2", "<f4", ">f8"]:
        for order in "CF":
            a = (rng.random(shape) * 200 - 50).astype("f8" if descr[1] == "f" else "i4").astype(descr)
            a = np.asarray(a, order=order)
            np.save("a.npy", a)
            subprocess.run([sys.argv[1], "convert", "-q", "a.npy", "b.npy"], check=True)
            b = np.load("b.npy", allow_pickle=False)
            wanted = a.astype("u1") if descr == "|b1" else a
            assert b.shape == a.shape and b.dtype == wanted.dtype.newbyteorder("<"), (shape, descr, b.dtype)
            assert np.array_equal(b, wanted), (shape, descr, order)
            np.save("c.npy", np.ascontiguousarray(b))
            assert open("b.npy", "rb").read() == open("c.npy", "rb").read(), (shape, descr)
END
}
