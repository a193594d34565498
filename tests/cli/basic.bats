#!/usr/bin/env bats
# Every command once as its user would, exit statuses, and what goes to which stream.
load helpers

@test "blur a photograph: size and type stay" {
    ok blur -k gauss5 "$samples/chelsea.png" out.png
    only out.png
    ok info out.png
    prints 451
    prints 300
    prints u8
}

@test "blur with a sigma, of colour, gray, alpha, 16 bits, JPEG and a volume" {
    for picture in chelsea.png camera.png bubbles_rgba.png cells_16bit.tif rocket_exif6.jpg; do
        ok blur --sigma 1.5 "$samples/$picture" "${picture%.*}.png"
    done
    ok blur --sigma 1.5 "$samples/ct_96x96x64_u16le.raw" ct_96x96x64_u16le.raw
    [ "$(stat -c %s ct_96x96x64_u16le.raw)" -eq 1179648 ]
}

@test "blur in micrometres: through the pixel size of the file" {
    # 0.25 um a pixel: 1 um is 4 pixels.
    ok blur --sigma 1um "$samples/cells_16bit.tif" um.tif
    ok blur --sigma 4px "$samples/cells_16bit.tif" px.tif
    cmp um.tif px.tif
    ok blur --sigma 0.001mm "$samples/cells_16bit.tif" mm.tif
    cmp um.tif mm.tif
}

@test "a physical sigma without a pixel size is refused, and says what to do" {
    printf 'P5 2 2 255\nabcd' >in.pgm
    refused 5 blur --sigma 1mm in.pgm out.pgm
    says --spacing
    only in.pgm
    ok blur --sigma 1mm --spacing 1 in.pgm mm.pgm
    ok blur --sigma 1 in.pgm px.pgm
    cmp mm.pgm px.pgm
}

@test "fwhm is 2.3548 sigma" {
    ok blur --fwhm 4.7096400900618265 "$samples/cells_16bit.tif" fwhm.tif
    ok blur --sigma 2 "$samples/cells_16bit.tif" sigma.tif
    cmp fwhm.tif sigma.tif
}

@test "correlate as written, convolve turned round, with an even mask" {
    write in_5x1_u8.raw 0 0 1 0 0
    ok correlate -k '1,2' -b zero in_5x1_u8.raw out_5x1_u8.raw
    holds out_5x1_u8.raw '0 0 2 1 0'
    ok convolve -k '1,2' -b zero in_5x1_u8.raw out_5x1_u8.raw
    holds out_5x1_u8.raw '0 1 2 0 0'
}

@test "rounding is to the nearest, ties to even" {
    write in_5x1_u8.raw 0 1 2 3 4
    ok correlate -k '1,1 /2' in_5x1_u8.raw out_5x1_u8.raw
    holds out_5x1_u8.raw '0 0 2 2 4'
}

@test "clipped samples are counted; --on-clip decides" {
    write in_3x1_u8.raw 100 200 255
    expect 0 "$GPUFILT" correlate -k '2,0,0' -t u8 -b zero in_3x1_u8.raw out_3x1_u8.raw
    says 1
    holds out_3x1_u8.raw '0 200 255'
    ok correlate -k '2,0,0' -t u8 -b zero --on-clip ignore in_3x1_u8.raw quiet_3x1_u8.raw
    ok correlate -q -k '2,0,0' -t u8 -b zero in_3x1_u8.raw quiet_3x1_u8.raw
    refused 1 correlate -k '2,0,0' -t u8 -b zero --on-clip error in_3x1_u8.raw no_3x1_u8.raw
    only in_3x1_u8.raw out_3x1_u8.raw quiet_3x1_u8.raw
}

@test "convert between types saturates and keeps" {
    write in_4x1_u8.raw 0 1 128 255
    expect 0 "$GPUFILT" convert -t i8 in_4x1_u8.raw i8_4x1_i8.raw
    holds i8_4x1_i8.raw '0 1 127 127'
    ok convert -t u16 in_4x1_u8.raw w_4x1_u16.raw
    holds w_4x1_u16.raw '0 0 1 0 128 0 255 0'
    ok convert -t f32 in_4x1_u8.raw f_4x1_f32.raw
    holds f_4x1_f32.raw '0 0 0 0 0 0 128 63 0 0 0 67 0 0 127 67'
}

@test "a round trip through each format keeps every sample" {
    ok convert "$samples/chelsea.png" -f raw first.raw
    for format in png tiff pnm; do
        ok convert "$samples/chelsea.png" -f "$format" "out.$format"
        ok convert "out.$format" -f raw "$format.raw"
        cmp first.raw "$format.raw"
    done
    ok convert "$samples/cells_16bit.tif" -f raw first.raw
    for format in png tiff pnm; do
        ok convert "$samples/cells_16bit.tif" -f "$format" "cells.$format"
        ok convert "cells.$format" -f raw "$format.raw"
        cmp first.raw "$format.raw"
    done
}

@test "what a format cannot hold is refused with the command that converts it" {
    ok convert -t f32 "$samples/cell.png" f.tif
    refused 5 convert f.tif f.png
    says '-t'
    refused 5 convert "$samples/bubbles_rgba.png" out.ppm
    only f.tif
}

@test "standard input and output" {
    "$GPUFILT" blur -k gauss3 - - -f png <"$samples/cell.png" >piped.png
    ok blur -k gauss3 "$samples/cell.png" plain.png
    cmp piped.png plain.png
    cat "$samples/cell.png" | "$GPUFILT" blur -k gauss3 - -f png - | cat >piped.png
    cmp piped.png plain.png
    # A TIFF must be positioned in: it is spooled.
    "$GPUFILT" blur -k gauss3 "$samples/cells_16bit.tif" -f tiff - | cat >piped.tif
    ok blur -k gauss3 "$samples/cells_16bit.tif" plain.tif
    cmp piped.tif plain.tif
}

@test "options before, after and between the operands; -- ends them" {
    ok blur "$samples/cell.png" out1.png -k box3
    ok blur -k box3 "$samples/cell.png" out2.png
    ok blur "$samples/cell.png" -kbox3 out3.png
    ok blur --kernel=box3 "$samples/cell.png" -o out4.png
    cp "$samples/cell.png" ./-k.png
    ok blur -k box3 -- -k.png out5.png
    for n in 2 3 4 5; do cmp out1.png "out$n.png"; done
}

@test "info: what a file holds, as text and JSON" {
    ok info "$samples/cells_16bit.tif"
    prints 256
    prints 192
    prints u16
    ok info --json "$samples/cells_16bit.tif"
    python3 -c 'import json, sys; json.loads(sys.argv[1])' "$output"
    ok info "$samples/ct_96x96x64_u16le.raw"
    prints 64
    ok info "$samples/rocket_exif6.jpg"
    prints 320
}

@test "masks: list, show, make; what is made can be used" {
    ok masks list
    for mask in gauss3 gauss5 gauss7 gauss9 box3 sobel scharr prewitt laplace log5 log9 sharpen emboss identity; do
        prints "$mask"
    done
    ok masks show gauss5
    prints 256
    prints '1 4 6 4 1'
    "$GPUFILT" masks make gauss --sigma 2 >s.mask
    ok blur -k ./s.mask "$samples/cell.png" by-file.png
    ok blur --sigma 2 "$samples/cell.png" by-sigma.png
    cmp by-file.png by-sigma.png
    "$GPUFILT" masks make box --size 5,3 >b.mask
    ok blur -k ./b.mask "$samples/cell.png" made.png
}

@test "masks show: the form that there is, 2D of both" {
    ok masks show laplace6
    prints 'size       3x3x3'
    ok masks show sobel-z
    prints 'size       3x3x3'
    ok masks show gauss3
    prints 'size       3x3'
    ok masks show --3d gauss3
    prints 'size       3x3x3'
    refused 2 masks show --3d laplace8
    says 'in 2D alone'
    refused 2 masks show laplace7
    says 'no such mask'
    mkdir folder
    "$GPUFILT" masks make box --size 3 --3d >folder/mine-3d.mask
    GPUFILT_MASK_PATH=folder ok masks show mine
    prints 'size       3x3x3'
}

@test "masks make: one value, or one for every axis" {
    for option in 'gauss --sigma' 'log --sigma' 'box --size'; do
        # shellcheck disable=SC2086
        for values in 1 '1,2' '1 --3d' '1,2,3 --3d'; do ok masks make $option $values; done
        # shellcheck disable=SC2086
        for values in '1,2 --3d' '1,2,3'; do
            refused 2 masks make $option $values
            says "${option#* } has"
            says 'give one or t'
        done
    done
}

@test "masks make: a width for the smooth ones, a size for the box" {
    refused 2 masks make box --size 3 --sigma 2
    says '--size, not --sigma'
    refused 2 masks make gauss --sigma 2 --size 3
    says '--sigma, not --size'
}

@test "every mask that is listed can be shown and used" {
    printf 'P5 5 4 255\nabcdefghijklmnopqrst' >in.pgm
    # shellcheck disable=SC2046
    set -- $("$GPUFILT" masks list | awk '$1 ~ /^[a-z][a-z0-9-]*$/ {print $1}')
    [ $# -ge 14 ]
    for mask in "$@"; do
        ok masks show "$mask"
        prints "$mask"
    done
    for mask in gauss3 gauss5 gauss7 gauss9 box3 box31 sobel scharr prewitt laplace log5 log9 sharpen emboss identity; do
        expect 0 "$GPUFILT" correlate -q -k "$mask" -t f32 in.pgm "$mask.tif"
    done
}

@test "identity gives the input back, in every border and at every size" {
    for size in 1x1 1x7 7x1 2x2 3x5; do
        count=$((${size%x*} * ${size#*x}))
        # shellcheck disable=SC2046
        write "in_${size}_u8.raw" $(seq 1 "$count")
        for border in zero clamp wrap symmetric reflect101 normalize; do
            ok correlate -k '0,0,0;0,1,0;0,0,0' -b "$border" "in_${size}_u8.raw" "out_${size}_u8.raw"
            cmp "in_${size}_u8.raw" "out_${size}_u8.raw"
        done
    done
}

@test "a volume is filtered in 3D, and slice by slice with --2d" {
    write in_3x3x3_u8.raw 0 0 0 0 0 0 0 0 0 0 0 0 0 27 0 0 0 0 0 0 0 0 0 0 0 0 0
    ok blur -k box3 -b zero in_3x3x3_u8.raw out_3x3x3_u8.raw
    holds out_3x3x3_u8.raw "$(yes 1 | head -n 27 | tr '\n' ' ' | sed 's/ $//')"
    ok blur -k box3 -b zero --2d in_3x3x3_u8.raw out_3x3x3_u8.raw
    holds out_3x3x3_u8.raw '0 0 0 0 0 0 0 0 0 3 3 3 3 3 3 3 3 3 0 0 0 0 0 0 0 0 0'
}

@test "transparent pixels do not bleed" {
    # Two pixels: opaque 100, and 200 that nobody sees.
    python3 - <<'END'
import struct, zlib
def chunk(k, b): return struct.pack('>I', len(b)) + k + b + struct.pack('>I', zlib.crc32(k + b))
open('in.png', 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 2, 1, 8, 4, 0, 0, 0))
    + chunk(b'IDAT', zlib.compress(bytes((0, 100, 255, 200, 0)))) + chunk(b'IEND', b''))
END
    ok correlate -k '1,1,1 /3' in.png -f raw out.raw
    # Colour 100 wherever something is seen; alpha 170 = 255*2/3, 85 = 255/3.
    holds out.raw '100 170 100 85'
    ok correlate -k '1,1,1 /3' --alpha independent in.png -f raw out.raw
    holds out.raw '133 170 167 85'
}

@test "--roi writes a part of the whole result" {
    ok blur -k gauss5 "$samples/cell.png" -f raw whole_550x660_u8.raw
    ok blur -k gauss5 --roi 100,50+30x20 "$samples/cell.png" -f raw part.raw
    python3 - <<'END'
w = open('whole_550x660_u8.raw', 'rb').read()
assert b''.join(w[y * 550 + 100:y * 550 + 130] for y in range(50, 70)) == open('part.raw', 'rb').read()
END
}

@test "the result depends neither on the number of threads nor on the memory" {
    ok blur --sigma 2.5 -j 1 "$samples/ct_96x96x64_u16le.raw" a_96x96x64_u16le.raw
    for how in '-j 2' '-j 7' '--max-memory 8M' '--device cpu'; do
        # shellcheck disable=SC2086
        ok blur --sigma 2.5 $how "$samples/ct_96x96x64_u16le.raw" b_96x96x64_u16le.raw
        cmp a_96x96x64_u16le.raw b_96x96x64_u16le.raw
    done
}

@test "--explain and --dry-run: the plan, and nothing written" {
    expect 0 "$GPUFILT" blur -k gauss5 --dry-run "$samples/cell.png" out.png
    [[ $output$stderr == *gauss5* && $output$stderr == *clamp* ]] || fail 'the plan is not shown'
    only
    expect 0 "$GPUFILT" blur -k gauss5 --explain "$samples/cell.png" out.png
    [[ $output$stderr == *gauss5* ]] || fail 'the plan is not shown'
    only out.png
}

@test "--help and --version: on standard output, status 0" {
    ok --help
    prints blur
    ok help
    ok --version
    [[ $output == 'gpufilt '[0-9]* ]] || fail 'no version'
    for command in blur correlate convolve convert info masks devices selftest; do
        ok "$command" --help
        prints "$command"
        ok help "$command"
    done
}

@test "usage errors: status 2, one line, nothing read or written" {
    refused 2
    refused 2 frobnicate
    refused 2 blur
    refused 2 blur "$samples/cell.png"
    refused 2 blur --no-such-option "$samples/cell.png" out.png
    refused 2 blur -k "$samples/cell.png"
    refused 2 blur -k gauss5 --sigma 2 "$samples/cell.png" out.png
    refused 2 blur --sigma -1 "$samples/cell.png" out.png
    refused 2 blur --sigma nan "$samples/cell.png" out.png
    refused 2 blur --sigma 1e999 "$samples/cell.png" out.png
    refused 2 blur --sigma 2furlongs "$samples/cell.png" out.png
    refused 2 blur -k gauss5 -t u9 "$samples/cell.png" out.png
    refused 2 blur -k gauss5 -b round "$samples/cell.png" out.png
    refused 2 blur -k gauss5 --fill 1 "$samples/cell.png" out.png extra
    refused 2 blur -k gauss5 -f jpeg2000 "$samples/cell.png" out.png
    refused 2 blur -k gauss5 -j 0x "$samples/cell.png" out.png
    refused 2 blur -k gauss5 --max-memory lots "$samples/cell.png" out.png
    refused 2 blur -k gauss5 missing.png out.unknown-extension
    only
}

@test "did you mean: commands, masks, options, modes, types" {
    refused 2 blurr "$samples/cell.png" out.png
    says blur
    refused 2 blur -k gaus5 "$samples/cell.png" out.png
    says gauss5
    refused 2 blur --sigmaa 2 "$samples/cell.png" out.png
    says --sigma
    refused 2 blur -k gauss5 -b clam "$samples/cell.png" out.png
    says clamp
}

@test "missing and unreadable input: status 3, the file is named" {
    refused 3 blur -k gauss5 missing.png out.png
    says missing.png
    mkdir folder
    refused 3 blur -k gauss5 folder out.png
    says folder
    : >empty.png
    refused 3 blur -k gauss5 empty.png out.png
    says empty.png
    only empty.png folder
}

@test "unwritable output: status 4, the file is named" {
    refused 4 blur -k gauss5 "$samples/cell.png" no/such/folder/out.png
    says no/such/folder
    mkdir out.png
    refused 4 blur -k gauss5 "$samples/cell.png" out.png
    refused 4 blur -k gauss5 "$samples/cell.png" "$(printf 'x%.0s' {1..300}).png"
    : >file
    refused 4 blur -k gauss5 "$samples/cell.png" file/out.png
    only out.png file
}

@test "--raw: sizes must match to the byte" {
    write plain.raw 1 2 3 4 5 6
    ok convert --raw 3x2:u8 plain.raw out.pgm
    ok convert --raw 1x1:u16be+2 --raw 1x2:u16be+2 plain.raw -f raw out.raw
    ok convert --raw 2x1:u8x3 plain.raw out.ppm
    refused 3 convert --raw 3x3:u8 plain.raw out.pgm
    refused 3 convert --raw 3x1:u8 plain.raw out.pgm
    says 6
    refused 2 convert --raw 3xx2:u8 plain.raw out.pgm
    refused 2 convert --raw 3x2:u7 plain.raw out.pgm
    refused 3 convert plain.raw out.pgm
    says --raw
}

@test "nan in an integer type becomes 0" {
    # NaN, 300.5, -1, 2.5 as f32
    write in_4x1_f32.raw 0 0 192 127 0 64 150 67 0 0 128 191 0 0 32 64
    expect 0 "$GPUFILT" convert -t u8 in_4x1_f32.raw out_4x1_u8.raw
    holds out_4x1_u8.raw '0 255 0 2'
}

@test "metadata survives: resolution, text, colour profile tags, description" {
    ok blur -k gauss3 "$samples/cell.png" out.png
    python3 - out.png <<'END'
import struct, sys
d = open(sys.argv[1], 'rb').read()
at = d.index(b'pHYs')
assert struct.unpack('>IIB', d[at + 4:at + 13]) == (9345794, 9345794, 1)
END
    ok blur -k gauss3 "$samples/chelsea.png" out.png
    grep -q sRGB out.png
    grep -q iTXt out.png
    ok blur -k gauss3 "$samples/cells_16bit.tif" out.tif
    grep -q 'unit=um' out.tif
}

@test "--spacing reaches the output, whatever the input says" {
    ok convert --spacing 0.5um "$samples/cell.png" out.tif
    ok info --json out.tif
    prints '"spacing_mm": [0.0005'
    ok blur --sigma 1um out.tif again.tif
    ok convert --spacing 0.5um "$samples/cell.png" out.png
    ok info out.png
    prints '2000000 x 2000000 per metre'
    # ImageJ's own unit is not the resolution's.
    ok convert "$samples/cells_16bit.tif" cells.png
    ok info cells.png
    prints '4000000 x 4000000 per metre'
}
