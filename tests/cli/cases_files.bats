#!/usr/bin/env bats
# What tools like this one got wrong in PNG, JPEG and TIFF, each with the right answer as
# literal numbers.
load helpers
load numbers

# ---- PNG ----

@test "PNG: gray of 1 and 2 bits is 0..255, with rows that end within a byte" {
    make <<'END'
save('two.png', png(rows(4, [0, 1, 2, 3]), 2, 0))
save('one.png', png(rows(9, [1, 0, 1, 0, 1, 0, 1, 0, 1]), 1, 0))
save('tall.png', png(rows(9, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0]), 1, 0))
save('square.png', png(rows(8, [(x + y) % 2 for y in range(8) for x in range(8)]), 1, 0))
END
    reads two.png u8 '0 85 170 255'
    reads one.png u8 '255 0 255 0 255 0 255 0 255'
    reads tall.png u8 '255 0 255 0 255 0 255 0 255 0 255 255 0 0 0 0 0 0'
    # A wider type keeps the values.
    ok convert -t u16 square.png out.png
    reads out.png u16 "$(repeat 4 "$(repeat 4 '0 255') $(repeat 4 '255 0')")"
}

@test "PNG: 16 bits keep both bytes" {
    make <<'END'
save('in.png', png(rows(4, [32768, 1, 256, 65535]), 16, 0))
END
    reads in.png u16 '32768 1 256 65535'
    ok convert in.png out.png
    reads out.png u16 '32768 1 256 65535'
    gives u8 '255 1 255 255' convert in.png
}

@test "PNG: interlaced gray and alpha of 16 bits, with passes that are empty" {
    make <<'END'
for width in range(1, 10):
    r = [[[1000 * y + x, 65535 - 1000 * y - x] for x in range(width)] for y in range(9)]
    save('plain%d.png' % width, png(r, 16, 4))
    save('adam%d.png' % width, png(r, 16, 4, 1))
    save('flat%d.png' % width, png(r[:1], 16, 4, 1))
END
    for width in 1 2 3 4 5 6 7 8 9; do
        ok convert plain$width.png -f raw plain.raw
        ok convert adam$width.png -f raw adam.raw
        cmp plain.raw adam.raw
    done
    reads adam1.png u16 \
        '0 65535 1000 64535 2000 63535 3000 62535 4000 61535 5000 60535 6000 59535 7000 58535 8000 57535'
    reads flat3.png u16 '0 65535 1 65534 2 65533'
    reads flat9.png u16 '0 65535 1 65534 2 65533 3 65532 4 65531 5 65530 6 65529 7 65528 8 65527'
}

@test "PNG: a transparent colour is compared at the depth of the file, in all of its bytes" {
    make <<'END'
def key(*values):
    return chunk(b'tRNS', struct.pack('>%dH' % len(values), *values))
save('gray8.png', png(rows(2, [10, 20]), 8, 0, before=key(10)))
save('gray2.png', png(rows(2, [1, 2]), 2, 0, before=key(1)))
save('gray16.png', png(rows(2, [0x100, 1]), 16, 0, before=key(1)))
save('rgb8.png', png([[[10, 20, 30], [10, 20, 31]]], 8, 2, before=key(10, 20, 30)))
save('rgb16.png', png([[[257, 2, 3], [1, 2, 3]]], 16, 2, before=key(1, 2, 3)))
END
    reads gray8.png u8 '10 0 20 255'
    reads gray2.png u8 '85 0 170 255'
    reads gray16.png u16 '256 65535 1 0'
    reads rgb8.png u8 '10 20 30 0 10 20 31 255'
    reads rgb16.png u16 '257 2 3 65535 1 2 3 0'
}

@test "PNG: gray stays gray, and gAMA touches nothing, alpha least" {
    make <<'END'
gamma = chunk(b'gAMA', struct.pack('>I', 45000))
save('gray.png', png(rows(2, [7, 200]), 8, 0, before=gamma))
save('alpha.png', png([[[100, 192]]], 8, 4, before=gamma))
END
    reads gray.png u8 '7 200'
    ok convert gray.png out.png
    ok info --json out.png
    prints '"channels": 1,'
    reads alpha.png u8 '100 192'
    ok convert alpha.png out.png
    reads out.png u8 '100 192'
}

@test "headers that promise absurd sizes are refused at once" {
    make <<'END'
data = chunk(b'IDAT', zlib.compress(bytes(1000)))
end = chunk(b'IEND', b'')
for w, h, bits, colour in ((65535, 65535, 16, 6), (2**31 - 1, 2**31 - 1, 8, 6), (2**31 - 1, 1, 16, 6),
                           (50000, 85899, 8, 0), (1, 2**31 - 1, 1, 0)):
    save('bad-%dx%d.png' % (w, h), SIGNATURE + header(w, h, bits, colour) + data + end)
    for e in '<>':
        for compression in (1, 5, 8, 32773):
            save('bad-%dx%d-%d%d.tif' % (w, h, compression, e == '>'),
                 coded_page(bytes(100), w * 2 + 1, h * 2 + 1, 16, RGB, compression, e, channels=3))
save('bad.pgm', b'P5 4294967295 4294967295 65535\nab')
save('bad.pfm', b'PF\n4294967295 4294967295\n-1\nab')
END
    for file in bad*; do
        expect '3|6' timeout 5 "$GPUFILT" blur -k gauss3 "$file" out.tif
        says "$file"
    done
    [ ! -e out.tif ]
}

@test "PNG: bytes after the end are reported, and the picture is whole" {
    make <<'END'
save('in.png', png(rows(2, [10, 20]), 8, 0) + b'garbage')
END
    expect 0 "$GPUFILT" convert in.png -f raw out.raw
    says '7 bytes'
    holds out.raw '10 20'
}

# ---- JPEG ----

@test "JPEG: CMYK is named and refused, not shown as RGBA" {
    make <<'END'
four = ((1, 1),) * 4
save('cmyk.jpg', flat_jpeg(8, 8, [[10, 20, 30, 40]], four, adobe=0))
save('ycck.jpg', flat_jpeg(8, 8, [[10, 20, 30, 40]], four, adobe=2))
save('plain.jpg', flat_jpeg(8, 8, [[10, 20, 30, 40]], four))
END
    for file in cmyk.jpg ycck.jpg plain.jpg; do
        for out in out.png out.tif; do
            refused 5 convert $file $out
            says CMYK
        done
    done
    only cmyk.jpg plain.jpg ycck.jpg
}

@test "JPEG: its orientation does not depend on other options, and info says what is read" {
    make <<'END'
for o in (1, 6, 8):
    save('o%d.jpg' % o, jpeg([10, 90, 200, 255, 0, 130], 3, o))
END
    ok info o1.jpg
    prints '24 x 16'
    for o in 6 8; do
        ok info o$o.jpg
        prints '16 x 24'
        ok info --json o$o.jpg
        prints '"width": 16, "height": 24'
        ok convert o$o.jpg -f raw plain.raw
        for options in '-t u8' '-j 1' '--max-memory 1M' '--spacing 1'; do
            # shellcheck disable=SC2086
            ok convert $options o$o.jpg -f raw other.raw
            cmp plain.raw other.raw || fail "$options"
        done
        gives u16 "$(numbers plain.raw u8)" convert o$o.jpg
        gives f32 "$(numbers plain.raw u8)" convert o$o.jpg
        ok correlate -k '1x1: 1' o$o.jpg -f raw other.raw
        cmp plain.raw other.raw
    done
    # Across the middle of the first row: the stored first column upwards, the last one downwards.
    gives u8 '255 10' convert --roi 7,0+2x1 o6.jpg
    gives u8 '200 130' convert --roi 7,0+2x1 o8.jpg
}

@test "JPEG: cut in the middle is an error, baseline and progressive" {
    make <<'END'
units = [[(i * 37) % 256] for i in range(400)]
for progressive in (False, True):
    for keep in (1, 0.9, 0.5, 0.1):
        save('%s-%g.jpg' % ('progressive' if progressive else 'baseline', keep),
             flat_jpeg(160, 160, units, progressive=progressive, keep=keep))
END
    for kind in baseline progressive; do
        ok convert $kind-1.jpg -f raw $kind.raw
        [ "$(numbers $kind.raw u8 | cut -d' ' -f1,8,9,17,25600)" = '0 0 37 74 171' ] || fail "$kind: other samples"
        for keep in 0.9 0.5 0.1; do
            refused 3 convert $kind-$keep.jpg out.png
            says truncated
        done
    done
    [ ! -e out.png ]
}

# ---- TIFF ----

@test "TIFF: min-is-white is turned at every depth and in every coding" {
    make <<'END'
for bits in (1, 4, 8, 16):
    top = 2**bits - 1
    r = rows(8, [top, top, top, 0, top, top, top, top])
    for name, how in (('none', {}), ('lzw', dict(compression=5)), ('deflate', dict(compression=8)),
                      ('packbits', dict(compression=32773)), ('be', dict(endian='>'))):
        save('w%d-%s.tif' % (bits, name), tiff(r, bits, GRAY_WHITE_0, **how))
save('w1-g4.tif', coded_page(group4_row(), 8, 1, 1, GRAY_WHITE_0, 4))
save('b1-g4.tif', coded_page(group4_row(), 8, 1, 1, GRAY, 4))
save('float.tif', tiff([[[12.8], [396.8]]], 32, GRAY_WHITE_0, code='f', format=(SHORT, [3])))
END
    for coding in none lzw deflate packbits be; do
        for bits in 1 4 8; do
            reads w$bits-$coding.tif u8 '0 0 0 255 0 0 0 0'
        done
        reads w16-$coding.tif u16 '0 0 0 65535 0 0 0 0'
    done
    reads w1-g4.tif u8 '0 0 0 255 0 0 0 0'
    reads b1-g4.tif u8 '255 255 255 0 255 255 255 255'
    # Floats have no largest value to turn at.
    reads float.tif f32 '12.8 396.8'
}

@test "TIFF: planes apart, in compressed strips and tiles, are the samples of the contiguous file" {
    make <<'END'
r = [[[10 * y + x, 100 + 10 * y + x, 200 + 5 * y + x] for x in range(4)] for y in range(6)]
save('contiguous.tif', tiff(r, 8, RGB))
for n in (1, 2, 4, 6):
    for compression in (1, 5, 8):
        save('p%d-%d.tif' % (n, compression), tiff(r, 8, RGB, planar=2, compression=compression, rows_per_strip=n))
save('p-tiles.tif', tiff(r, 8, RGB, planar=2, compression=5, tile=(16, 16)))
END
    ok convert contiguous.tif -f raw wanted.raw
    [ "$(numbers wanted.raw u8 | cut -d' ' -f1-6,70-72)" = '0 100 200 1 101 201 53 153 228' ]
    for file in p*.tif; do
        ok convert "$file" -f raw found.raw
        cmp wanted.raw found.raw || fail "$file"
    done
}

@test "TIFF: rows of 12 bits and 1 bit begin at whole bytes" {
    make <<'END'
save('twelve.tif', tiff(rows(3, [1, 4095, 256, 2048, 3, 1000]), 12, GRAY))
save('one.tif', tiff(rows(5, [1, 0, 1, 0, 1, 0, 1, 1, 0, 0]), 1, GRAY))
END
    reads twelve.tif u16 '1 4095 256 2048 3 1000'
    reads one.tif u8 '255 0 255 0 255 0 255 255 0 0'
}

@test "TIFF: an ImageJ hyperstack keeps all of its planes" {
    make <<'END'
f = Tiff()
for p in range(24):
    more = {}
    if p == 0:
        more['description'] = (ASCII, b'ImageJ=1.53t\nimages=24\nchannels=2\nslices=3\nframes=4\nhyperstack=true\n\0')
    f.page([[[p * 10 + x] for x in range(2)]], 8, GRAY, **more)
save('in.tif', f.bytes())
END
    ok convert in.tif -f raw out.raw
    found=$(numbers out.raw u8 | tr ' ' '\n' | sort -n | paste -sd' ')
    [ "$found" = "$(for p in $(seq 0 23); do echo $((p * 10)) $((p * 10 + 1)); done | paste -sd' ')" ] ||
        fail "holds $found"
    ok correlate -k '1x1: 1' in.tif out.tif
    ok convert out.tif -f raw again.raw
    cmp out.raw again.raw
}

@test "TIFF: pages of different sizes are all filtered" {
    make <<'END'
f = Tiff()
f.page(rows(4, list(range(16))), 8, GRAY)
f.page(rows(2, [100, 101, 102, 103]), 8, GRAY)
save('in.tif', f.bytes())
END
    ok correlate --compression none -k '0,0,1' -t u8 in.tif out.tif
    # shellcheck disable=SC2154
    python3 "$tests/oracle/read_tiff.py" out.tif >out.raw
    holds out.raw '1 2 3 3 5 6 7 7 9 10 11 11 13 14 15 15 101 101 103 103'
    # Samples alone do not say where a page ends, and PNG has one picture.
    refused 5 convert in.tif -f raw no.raw
    refused 5 convert in.tif no.png
    only in.tif out.raw out.tif
}

@test "TIFF: other files that an OME description names are not left out silently" {
    make <<'END'
def plane(z, name):
    return ('<TiffData FirstZ="%d" IFD="0" PlaneCount="1"><UUID FileName="%s">'
            'urn:uuid:0000000%d-0000-0000-0000-000000000000</UUID></TiffData>' % (z, name, z))
xml = ('<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
       '<Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint8" SizeX="2" SizeY="1" SizeZ="2" '
       'SizeC="1" SizeT="1"><Channel ID="Channel:0:0" SamplesPerPixel="1"/>'
       + plane(0, 'z1.ome.tif') + plane(1, 'z2.ome.tif') + '</Pixels></Image></OME>')
for z in (0, 1):
    save('z%d.ome.tif' % (z + 1), tiff(rows(2, [10 * z + 5, 10 * z + 6]), 8, GRAY,
                                       description=(ASCII, xml.encode() + b'\0')))
END
    expect 0 "$GPUFILT" convert z2.ome.tif -f raw out.raw
    holds out.raw '15 16'
    says OME
}

@test "TIFF: the floating-point predictor, in both byte orders" {
    make <<'END'
for e, order in (('<', 'le'), ('>', 'be')):
    for bits, code in ((16, 'e'), (32, 'f'), (64, 'd')):
        for name, compression in (('deflate', 8), ('lzw', 5)):
            data = float_predictor([1, 2, 3, 4], code)
            data = zlib.compress(data) if compression == 8 else lzw(data)
            save('f%d-%s-%s.tif' % (bits, name, order), coded_page(data, 4, 1, bits, GRAY, compression, e,
                 predictor=(SHORT, [3]), format=(SHORT, [3])))
    for name, predictor, form in (('unknown', 4, 3), ('integer', 3, 1)):
        save('%s-%s.tif' % (name, order), coded_page(zlib.compress(bytes(16)), 4, 1, 32, GRAY, 8, e,
             predictor=(SHORT, [predictor]), format=(SHORT, [form])))
END
    for order in le be; do
        for coding in deflate lzw; do
            for type in f16 f32 f64; do
                reads $type-$coding-$order.tif $type '1 2 3 4'
            done
        done
        refused '3|5' convert unknown-$order.tif out.tif
        refused '3|5' convert integer-$order.tif out.tif
    done
    [ ! -e out.tif ]
}

@test "TIFF: the sample format is obeyed" {
    make <<'END'
save('u16.tif', tiff([[[32768]]], 16, GRAY))
save('u32.tif', tiff([[[4294967295]]], 32, GRAY))
save('i32.tif', tiff([[[4294967295]]], 32, GRAY, format=(SHORT, [2])))
save('i8.tif', tiff([[[255]]], 8, GRAY, format=(SHORT, [2])))
save('f32.tif', tiff([[[1.0]]], 32, GRAY, code='f', format=(SHORT, [3])))
END
    for row in 'u16 32768' 'u32 4294967295' 'i32 -1' 'i8 -1' 'f32 1'; do
        # shellcheck disable=SC2086
        set -- $row
        reads "$1.tif" "$1" "$2"
        ok convert "$1.tif" out.tif
        reads out.tif "$1" "$2"
    done
}

# tags FILE NUMBER...: the values of these tags of the first page, '-' where absent.
tags()
{
    python3 -S -I - "$@" <<'END'
import struct, sys
with open(sys.argv[1], 'rb') as f:
    data = f.read()
e = {b'II': '<', b'MM': '>'}[data[:2]]
assert struct.unpack_from(e + 'H', data, 2)[0] == 42
at = struct.unpack_from(e + 'I', data, 4)[0]
found = {}
for i in range(struct.unpack_from(e + 'H', data, at)[0]):
    tag, kind, n = struct.unpack_from(e + 'HHI', data, at + 2 + 12 * i)
    code = {1: 'B', 3: 'H', 4: 'I', 5: 'I'}.get(kind)
    if code is None:
        continue
    n *= 2 if kind == 5 else 1
    place = at + 10 + 12 * i
    if n * struct.calcsize(code) > 4:
        place = struct.unpack_from(e + 'I', data, place)[0]
    values = struct.unpack_from('%s%d%s' % (e, n, code), data, place)
    if kind == 5:
        values = ['%g' % (a / b) for a, b in zip(values[::2], values[1::2])]
    found[tag] = ','.join(map(str, values))
print(*(found.get(int(tag), '-') for tag in sys.argv[2:]))
END
}

# tagged FILE NUMBERS VALUES
tagged()
{
    local found
    # shellcheck disable=SC2086
    found=$(tags "$1" $2)
    [ "$found" = "$3" ] || fail "$1: tags $2 are '$found', not '$3'"
}

@test "TIFF: further samples stay, as what they were called" {
    make <<'END'
pixel = [1, 2, 3, 4, 5]
for extra in (0, 1, 2):
    save('e%d.tif' % extra, tiff([[pixel[:4]]], 8, RGB, extra=(SHORT, [extra])))
save('five.tif', tiff([[pixel]], 8, RGB, extra=(SHORT, [0, 0])))
save('none.tif', tiff([[pixel[:4]]], 8, RGB))
save('gray.tif', tiff([[pixel[:3]]], 8, GRAY, extra=(SHORT, [0, 0])))
END
    for extra in 0 1 2; do
        reads e$extra.tif u8 '1 2 3 4'
        ok convert e$extra.tif out.tif
        reads out.tif u8 '1 2 3 4'
        tagged out.tif '262 277 338' "2 4 $extra"
    done
    ok convert five.tif out.tif
    reads out.tif u8 '1 2 3 4 5'
    tagged out.tif '262 277 338' '2 5 0,0'
    ok convert gray.tif out.tif
    reads out.tif u8 '1 2 3'
    tagged out.tif '262 277 338' '1 3 0,0'
    # Four samples, and no word about the fourth.
    ok convert none.tif out.tif
    reads out.tif u8 '1 2 3 4'
    tagged out.tif '262 277 338' '2 4 0'
}

@test "TIFF: the resolution keeps its unit" {
    make <<'END'
for unit in (None, 1, 2, 3):
    more = {} if unit is None else dict(unit=(SHORT, [unit]))
    save('u%s.tif' % unit, tiff(rows(2, [1, 2]), 8, GRAY, xres=(RATIONAL, [(100, 1)]),
                                yres=(RATIONAL, [(50, 1)]), **more))
END
    for unit in 1 2 3; do
        ok blur -k gauss3 u$unit.tif out.tif
        tagged out.tif '282 283 296' "100 50 $unit"
    done
    # Without a unit it is inches.
    ok blur -k gauss3 uNone.tif out.tif
    tagged out.tif '282 283 296' '100 50 2' || tagged out.tif '282 283 296' '100 50 -'
}

@test "TIFF: more rows to a strip than the picture has" {
    make <<'END'
r = [[[(3 * x + 7 * y) % 256] for x in range(5)] for y in range(38)]
save('wanted.tif', tiff(r, 8, GRAY))
for n in (95318, 2**31, 2**32 - 1):
    for compression in (1, 5, 8):
        save('r%d-%d.tif' % (n, compression), tiff(r, 8, GRAY, compression=compression, rows_per_strip_tag=(LONG, [n])))
END
    ok convert wanted.tif -f raw wanted.raw
    for file in r*.tif; do
        ok convert --max-memory 1M "$file" -f raw found.raw
        cmp wanted.raw found.raw || fail "$file"
    done
}

@test "TIFF: strips said to have 0 bytes are never a black picture" {
    make <<'END'
for compression in (1, 5, 8):
    save('z%d.tif' % compression, tiff(rows(4, [9, 8, 7, 6]), 8, GRAY, compression=compression, counts=(LONG, [0])))
save('g4.tif', coded_page(group4_row(), 8, 1, 1, GRAY, 4, counts=(LONG, [0])))
END
    for file in z1.tif z5.tif z8.tif g4.tif; do
        expect '0|3' "$GPUFILT" convert $file -f raw out.raw
        if [ "$status" -ne 0 ]; then
            [ ! -e out.raw ]
        elif [ $file = g4.tif ]; then
            holds out.raw '255 255 255 0 255 255 255 255'
        else
            holds out.raw '9 8 7 6'
        fi
        rm -f out.raw
    done
}

@test "TIFF: JPEG with subsampled colour, a strip and a tile larger than the picture" {
    make <<'END'
# Y 120, Cb 100, Cr 160: red 164.9, green 106.8, blue 70.4.
halved = ((2, 2), (1, 1), (1, 1))
unit = [120, 120, 120, 120, 100, 160]
save('tile.tif', coded_page(flat_jpeg(16, 16, [unit], halved), 13, 11, 8, YCBCR, 7, channels=3,
     tile_width=(LONG, [16]), tile_height=(LONG, [16]), ycbcr_sub=(SHORT, [2, 2])))
save('strip.tif', coded_page(flat_jpeg(13, 11, [unit], halved), 13, 11, 8, YCBCR, 7, channels=3,
     ycbcr_sub=(SHORT, [2, 2])))
END
    for file in tile.tif strip.tif; do
        ok convert $file -f raw out.raw
        python3 -S -I - <<'END'
with open('out.raw', 'rb') as f:
    data = f.read()
assert len(data) == 13 * 11 * 3, len(data)
for i in range(0, len(data), 3):
    assert all(abs(a - b) <= 1 for a, b in zip(data[i:i + 3], (165, 107, 70))), list(data[i:i + 3])
END
    done
}
