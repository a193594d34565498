# What a user would lose without noticing: inputs replaced before they are read, samples under a
# name that says something else of them, bytes down a pipe that were to be held back.
load helpers

# unchanged COMMAND...: refused as a usage error, and the folder is as it was.
unchanged()
{
    local before after
    before=$(find . -type f -exec sha256sum {} + | LC_ALL=C sort)
    refused 2 "$@"
    after=$(find . -type f -exec sha256sum {} + | LC_ALL=C sort)
    [ "$before" = "$after" ] || fail "files changed"
}

@test "a batch does not replace an input of its own" {
    cp "$samples/cell.png" a.png
    cp "$samples/chelsea.png" a_b.png
    unchanged blur -k box3 --suffix _b -o . a.png a_b.png
    says 'a_b.png: is an input, and the output of a.png would replace it'
    unchanged blur -k box3 --suffix _b -o . a_b.png a.png
    unchanged blur -k box3 --suffix _b -o . "$PWD/a_b.png" a.png
    # By another name: a link in a folder of its own.
    mkdir links
    ln -s ../a.png links/other.png
    unchanged blur -k box3 -o . a.png links/other.png
    ln -s a.png same.png
    unchanged blur -k box3 -o . a.png same.png
    says 'both would be written to'
    # Every file onto itself is what in place means.
    ok blur -k box3 -o . a.png a_b.png
    ok blur -k box3 --suffix _c -o . a.png a_b.png
}

@test "a raw file is written in the byte order of its name" {
    write q_2x1_u16be.raw 1 2 3 4
    ok convert q_2x1_u16be.raw r_2x1_u16be.raw
    holds r_2x1_u16be.raw '1 2 3 4'
    ok convert q_2x1_u16be.raw r_2x1_u16le.raw
    holds r_2x1_u16le.raw '2 1 4 3'
    ok correlate -k identity q_2x1_u16be.raw q_2x1_u16be.raw
    holds q_2x1_u16be.raw '1 2 3 4'
    ok convert -f raw q_2x1_u16be.raw -
    [ "$(od -An -tu1 "$BATS_TEST_TMPDIR/stdout" | tr -s ' ')" = ' 2 1 4 3' ]
    write w_2x1_f64be.raw 63 240 0 0 0 0 0 1  192 8 0 0 0 0 0 2
    ok convert w_2x1_f64be.raw v_2x1_f64be.raw
    cmp w_2x1_f64be.raw v_2x1_f64be.raw
}

@test "a raw file is not written under a name that says something else of it" {
    write q_2x2_u16le.raw 1 0 2 0 3 0 4 0
    for name in r_2x2_i16le.raw r_2x2_u8.raw r_3x2_u16le.raw r_2x2x2_u16le.raw r_2x2_u16x2le.raw; do
        refused 5 convert q_2x2_u16le.raw "$name"
        says "$name: the name says"
    done
    refused 5 convert -t u8 q_2x2_u16le.raw q_2x2_u16le.raw
    refused 5 blur -k gauss3 -b valid --roi 1,1+1x1 q_2x2_u16le.raw out_1x1_u16.raw
    refused 5 convert -t i16 -o out q_2x2_u16le.raw
    [ ! -e out/q_2x2_u16le.raw ]
    holds q_2x2_u16le.raw '1 0 2 0 3 0 4 0'
    ok convert -t u8 q_2x2_u16le.raw r_2x2_u8.raw
    ok convert -t u8 q_2x2_u16le.raw plain.raw
}

@test "--on-clip error: nothing down a pipe either" {
    write q_2x1_u16.raw 1 0 255 255
    for format in raw png tiff pnm; do
        refused 1 convert --on-clip error -t u8 -f $format q_2x1_u16.raw -
        says 'standard output: not written'
        [ ! -s "$BATS_TEST_TMPDIR/stdout" ] || fail "bytes of $format"
        ok convert --on-clip error -f $format q_2x1_u16.raw -
        [ -s "$BATS_TEST_TMPDIR/stdout" ] || fail "no bytes of $format"
    done
}

@test "orientation survives TIFF to PNG to TIFF" {
    python3 - <<'END'
import struct
tags = [(256, 4, 2), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (274, 3, 6),
        (277, 3, 1), (278, 4, 1), (279, 4, 2)]
with open('in.tif', 'wb') as f:
    f.write(b'II*\0' + struct.pack('<I', 10) + b'\x01\x02' + struct.pack('<H', len(tags)))
    for tag, kind, value in tags:
        f.write(struct.pack('<HHI', tag, kind, 1) + struct.pack('<I', value))
    f.write(b'\0\0\0\0')
END
    ok convert in.tif out.png
    ok blur -k gauss3 out.png again.png
    ok convert again.png out.tif
    python3 - <<'END'
import struct, zlib
for name in 'out.png', 'again.png':
    d = open(name, 'rb').read()
    at = d.index(b'eXIf')
    size, = struct.unpack('>I', d[at - 4:at])
    exif = d[at + 4:at + 4 + size]
    assert zlib.crc32(d[at:at + 4 + size]) == struct.unpack('>I', d[at + 4 + size:at + 8 + size])[0]
    assert exif[:8] == b'MM\0*\0\0\0\x08', exif
    assert exif[8:20] == struct.pack('>HHHIH', 1, 274, 3, 1, 6), exif
d = open('out.tif', 'rb').read()
assert struct.pack('<HHIH', 274, 3, 1, 6) in d
END
    attempt "$GPUFILT" convert -v in.tif out.pgm
    says orientation
    # Upright, nothing is added.
    ok blur -k gauss3 "$samples/rocket_exif6.jpg" up.png
    ok blur -k gauss3 "$samples/cells_16bit.tif" cells.tif
}

@test "empty names, and options that would be ignored, are usage errors" {
    cp "$samples/cell.png" a.png
    unchanged blur -k box3 -o '' a.png
    unchanged blur -k box3 -o '' a.png a.png
    unchanged blur -k box3 a.png ''
    says 'name of the output is empty'
    unchanged blur -k box3 --suffix _b -o out.png a.png
    says '--suffix goes with -o DIR'
    unchanged convert -k box3 a.png out.png
    says '-k: not an option of convert but of'
    unchanged blur -k box3 -Z a.png out.png
    says '-Z: unknown option'
}

@test "convert: every sample type to every other, at all of its edges" {
    python3 "$tests/oracle/value_sweep.py" convert "$GPUFILT"
}

@test "Gaussians of any width, unit and border against sums in exact arithmetic" {
    python3 "$tests/oracle/value_sweep.py" gauss "$GPUFILT"
}

@test "a memory limit that one thread obeys is enough for four" {
    truncate -s 160000000 flat_10000000x4_f32.raw
    ok convert --max-memory 120M -j 1 --sync none flat_10000000x4_f32.raw one.raw -f raw
    ok convert --max-memory 120M -j 4 --sync none flat_10000000x4_f32.raw four.raw -f raw
    cmp one.raw four.raw
}

@test "--dry-run takes a folder that the run would make" {
    cp "$samples/cell.png" a.png
    ok blur -k gauss5 --dry-run -o newdir a.png
    [ ! -e newdir ]
}

@test "--spacing of x and y keeps z, and what pages say about themselves" {
    ok convert --spacing 1,1,3 "$samples/ct_96x96x64_u16le.raw" stack.tif
    ok convert --spacing 2,2 stack.tif out.tif
    ok info --json out.tif
    prints '"spacing_mm": [2, 2, 3]'
    python3 - <<'END'
import struct
# Three pages of one sample, each with its own description.
out, at, links = bytearray(b'II*\0' + bytes(4)), 4, []
for page in range(3):
    text = b'page %d of three\0' % page
    text_at = len(out)
    out += text + bytes([page]) + b'\0' * (-(len(text) + 1) % 2)
    struct.pack_into('<I', out, at, len(out))
    tags = [(256, 4, 1, 1), (257, 4, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
            (270, 2, len(text), text_at), (273, 4, 1, text_at + len(text)), (277, 3, 1, 1),
            (278, 4, 1, 1), (279, 4, 1, 1)]
    out += struct.pack('<H', len(tags))
    for tag in tags:
        out += struct.pack('<HHII', *tag)
    at = len(out)
    out += bytes(4)
open('pages.tif', 'wb').write(out)
END
    ok convert --spacing 0.5,0.5 pages.tif spaced.tif
    for page in 0 1 2; do grep -q "page $page of three" spaced.tif || fail "page $page lost its words"; done
}
