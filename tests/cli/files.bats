#!/usr/bin/env bats
# The corpus (tests/corpus): what is good is read sample by sample as it must be, what is not
# is refused with one line; masks likewise.
load helpers

setup_file()
{
    python3 "$BATS_TEST_DIRNAME/../corpus/make_corpus.py" "$BATS_FILE_TMPDIR/corpus"
}

# check PREFIX: every file of the corpus whose name begins so.
check()
{
    local corpus=$BATS_FILE_TMPDIR/corpus count=0 wrong=0
    local name wanted width height depth images channels kind hash options
    while IFS=$'\t' read -r name wanted width height depth images channels kind hash options; do
        [[ $name == $1* ]] || continue
        count=$((count + 1))
        [ "$options" != - ] || options=
        rm -f out.raw
        # shellcheck disable=SC2086
        attempt "$GPUFILT" convert -q $options "$corpus/$name" -f raw out.raw
        if [[ "|$wanted|" != *"|$status|"* ]]; then
            echo "$name: status $status, needed $wanted: $stderr"
        elif [ "$status" -eq 0 ] && [ "$(sum out.raw)" != "$hash" ]; then
            echo "$name: wrong samples ($width x $height x $depth x $images, $channels of $kind, in $(stat -c %s out.raw) bytes)"
        elif [ "$status" -ne 0 ] && { [ "${#stderr_lines[@]}" -ne 1 ] || [[ $stderr != "gpufilt: "*"$name"* ]]; }; then
            echo "$name: not one line that names the file: $stderr"
        elif [ "$status" -ne 0 ] && [ -e out.raw ]; then
            echo "$name: left an output"
        elif [ "$status" -eq 0 ] && [ -n "$output" ]; then
            echo "$name: words on standard output: $output"
        elif [[ $stderr == *Sanitizer* || $stderr == *'runtime error'* ]]; then
            echo "$name: $stderr"
        elif [ "$status" -eq 0 ] && ! "$GPUFILT" info "$corpus/$name" | grep -q "$width x $height"; then
            echo "$name: info does not say $width x $height: $("$GPUFILT" info "$corpus/$name" 2>&1)"
        else
            continue
        fi
        wrong=$((wrong + 1))
    done <"$corpus/expected.tsv"
    echo "$count files, $wrong wrong"
    only_out_or_nothing
    [ "$count" -gt 0 ] && [ "$wrong" -eq 0 ]
}

only_out_or_nothing()
{
    rm -f out.raw
    only
}

@test "PNG: every colour type, depth and interlacing" { check good-png-c; }
@test "PNG: row filters" { check good-png-filter; }
@test "PNG: small interlaced pictures" { check good-png-adam7; }
@test "PNG: chunks" {
    check good-png-idat
    check good-png-p
    check good-png-metadata
    check good-png-s
    check good-png-after
}
@test "PNG: very compressible, and beyond --max-memory" {
    check good-png-bomb
    check good-png-flat
}
@test "PNG: broken" { check bad-png; }
@test "TIFF: unsigned integers" { check good-tiff-u; }
@test "TIFF: signed integers and floats" {
    check good-tiff-i
    check good-tiff-f
}
@test "TIFF: strips, tiles, planes, compressions" {
    check good-tiff-rgb8
    check good-tiff-rgb16
    check good-tiff-gray
}
@test "TIFF: photometrics, alpha, channels" {
    check good-tiff-white0
    check good-tiff-palette
    check good-tiff-cmyk
    check good-tiff-rgba
    check good-tiff-channels
    check good-tiff-ycbcr
}
@test "TIFF: odd but sound" {
    check good-tiff-bits-absent
    check good-tiff-no-
    check good-tiff-s
    check good-tiff-resolution
    check good-tiff-orientation
    check good-tiff-description
    check good-tiff-private
}
@test "TIFF: pages as a volume" { check good-tiff-pages4; }
@test "TIFF: broken" { check bad-tiff; }
@test "TIFF: unsupported" { check unsupported-tiff; }
@test "PNM" { check good-pnm; }
@test "PNM: broken" { check bad-pnm; }
@test "PFM" {
    check good-pfm
    check bad-pfm
}
@test "BMP" {
    check good-bmp
    check bad-bmp
    check unsupported-bmp
}
@test "TGA" {
    check good-tga
    check bad-tga
}
@test "Radiance HDR" {
    check good-hdr
    check bad-hdr
}
@test "JPEG: turned upright by every orientation" { check good-jpeg; }
@test "JPEG: broken" { check bad-jpeg; }
@test "raw: every type and byte order, size in the name" { check good-raw; }
@test "raw: sizes that do not match" { check bad-raw; }
@test "NIfTI: types, byte orders, pairs, gzip, axes, slopes" { check good-nifti; }
@test "NIfTI: broken" { check bad-nifti; }
@test "NIfTI: unsupported, and Analyze" {
    check unsupported-nifti
    check unsupported-analyze
}
@test "what is no picture at all" {
    check bad-empty
    check bad-zeros
    check bad-text
    check unsupported-gif
}

@test "pages of different size are all there, in TIFF" {
    ok convert "$BATS_FILE_TMPDIR/corpus/good-tiff-pages-differ.tif" out.tif
    # The last column but one of its line: the sum of all samples.
    wanted=$(awk -F'\t' '$1 == "good-tiff-pages-differ.tif" {print $9}' "$BATS_FILE_TMPDIR/corpus/expected.tsv")
    python3 "$tests/oracle/read_tiff.py" out.tif >pages.raw
    [ "$(sum pages.raw)" = "$wanted" ] || fail 'other samples'
}

@test "what is written is read by another reader: TIFF" {
    for picture in cells_16bit.tif chelsea.png bubbles_rgba.png; do
        ok convert --compression none "$samples/$picture" out.tif
        ok convert "$samples/$picture" -f raw wanted.raw
        python3 "$tests/oracle/read_tiff.py" out.tif >found.raw
        cmp wanted.raw found.raw
    done
}

@test "what is written is read by another reader: PNG" {
    for picture in cells_16bit.tif chelsea.png bubbles_rgba.png camera.png; do
        ok convert "$samples/$picture" out.png
        ok convert "$samples/$picture" -f raw wanted.raw
        python3 "$tests/oracle/read_png.py" out.png >found.raw
        cmp wanted.raw found.raw
    done
}

@test "masks: every way of writing them, against the oracle" {
    local masks=$BATS_FILE_TMPDIR/corpus/masks count=0
    # shellcheck disable=SC2046
    write in_6x5x3_u8.raw $(seq 3 7 629 | awk '{print ($1 * 37) % 256}')
    while IFS=$'\t' read -r name status_wanted taps divisor origin; do
        [[ $name == good-* ]] || continue
        flags=()
        [ "$origin" = - ] || flags=(--origin "$origin")
        "$oracle" --size 6x5x3 --type u8 --out-type i16 --mask "$taps" --divisor "$divisor" --border clamp \
            "${flags[@]}" in_6x5x3_u8.raw wanted.raw
        ok correlate -k "$masks/$name" -t i16 in_6x5x3_u8.raw -f raw found.raw
        cmp wanted.raw found.raw || fail "$name"
        ok masks show "$masks/$name"
        count=$((count + 1))
    done <"$masks/expected.tsv"
    [ "$count" -ge 20 ]
}

@test "masks: every error, with file and line" {
    local masks=$BATS_FILE_TMPDIR/corpus/masks count=0
    while IFS=$'\t' read -r name wanted _; do
        [[ $name == bad-* ]] || continue
        refused "$wanted" correlate -k "$masks/$name" "$samples/cell.png" out.png
        says "$name"
        refused "$wanted" masks show "$masks/$name"
        count=$((count + 1))
    done <"$masks/expected.tsv"
    [ "$count" -ge 30 ]
    refused 3 correlate -k ./missing.mask "$samples/cell.png" out.png
    only
}

@test "masks on the command line: every error is a usage error" {
    for mask in '1,2;1' '1,nan' '1,,2' '1 /0' '2x2: 1 2 3' '3x1+3+0: 1 2 1' '1;;1,2' '1,x' '1e999,1'; do
        refused 2 correlate -k "$mask" "$samples/cell.png" out.png
    done
    refused 2 correlate -k '' "$samples/cell.png" out.png
    only
}
