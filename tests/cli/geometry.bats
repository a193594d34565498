#!/usr/bin/env bats
# Where voxels lie: voxel size, origin and directions, from file to file and under filters.
load helpers

made=$tests/oracle/volume_made.py

# Formats that place a volume in space, as far as this program has them.
placing()
{
    local format
    for format in nii nrrd mha; do
        : >"none.$format"
        attempt "$GPUFILT" convert --raw 1x1:u8 "$samples/../LICENSE" --dry-run "none.$format"
        rm -f "none.$format"
        [[ $stderr == *'no format by this name'* ]] || echo "$format"
    done
}

# place FILE WORDS: steps along x, y, z and the origin.
place()
{
    local found
    found=$(python3 "$made" place "$1")
    [ "$found" = "$2" ] || fail "$1: $found, not $2"
}

@test "widths in mm go by the voxel size of every format" {
    local file
    python3 "$made" raw a.raw 20 18 16
    ok blur --sigma 3,2,1.5px --raw 20x18x16:u8 a.raw wanted.raw
    for file in a.ij.tif a.ome.tif $(placing | sed 's/^/a./'); do
        python3 "$made" make "$file" 20 18 16 0.5 0.75 1 10 20 30
        ok blur --sigma 1.5mm "$file" got.raw -q
        cmp got.raw wanted.raw || fail "$file"
        ok blur --sigma 1500um --spacing 0.5,0.75,1 "$file" got.raw -q
        cmp got.raw wanted.raw || fail "$file with --spacing"
        ok blur --sigma 1.5mm --spacing 1,0.75,1 "$file" got.raw -q
        ! cmp -s got.raw wanted.raw || fail "$file: --spacing counts for more than the file"
    done
    refused 5 blur --sigma 1.5mm --raw 20x18x16:u8 a.raw got.raw
    says '--spacing'
}

@test "parts of a volume lie where they were" {
    local format
    for format in $(placing); do
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        ok convert "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 10 -20 30'
        ok convert --roi 4,2,3+5x6x7 "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 8 -18.5 36'
        # The first voxel of `valid` is where the centre of the mask first lay.
        ok blur -k gauss5 --border valid "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 9 -18.5 34'
        ok blur -k gauss5 --2d --border valid "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 9 -18.5 30'
        ok blur -k gauss5 --border valid --roi 4,2,3+5x6x7 "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 8 -18.5 36'
        # Of an even mask the centre is at half its width, rounded down.
        ok correlate -k '1 1 1 1 / 4' --border valid "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 9 -20 30'
        # Another border and another way of filtering move nothing.
        ok blur -k gauss5 "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 10 -20 30'
        ok blur -k gauss5 --2d "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 10 -20 30'
    done
}

@test "a mask with an origin moves the part that is valid" {
    local format
    printf 'size 3 1\norigin 0 0\n1 1 1\n' >m.mask
    printf 'size 3 1\norigin 2 0\n1 1 1\n' >m2.mask
    for format in $(placing); do
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        ok correlate -k @m.mask --border valid --on-clip ignore "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 10 -20 30'
        ok correlate -k @m2.mask --border valid --on-clip ignore "a.$format" "b.$format"
        place "b.$format" '-0.5 0 0; 0 0.75 0; 0 0 2; 9 -20 30'
    done
}

@test "--spacing sets the lengths of the steps and leaves their directions" {
    local format
    for format in $(placing); do
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        ok convert --spacing 1,2,4 --roi 4,0,1+5x6x7 "a.$format" "b.$format"
        place "b.$format" '-1 0 0; 0 2 0; 0 0 4; 6 -20 34'
    done
}

@test "places go from format to format" {
    local from to
    for from in $(placing); do
        python3 "$made" make "a.$from" 20 18 16 0.5 0.75 2 10 -20 30
        python3 "$made" raw wanted.raw 20 18 16
        for to in $(placing); do
            ok convert "a.$from" "b.$to"
            place "b.$to" '-0.5 0 0; 0 0.75 0; 0 0 2; 10 -20 30'
            ok convert -q "b.$to" got.raw
            cmp got.raw wanted.raw || fail "$from to $to"
        done
    done
}

@test "voxel sizes go from and to TIFF" {
    local file to
    for file in a.ij.tif a.ome.tif; do
        python3 "$made" make "$file" 20 18 16 0.5 0.75 2 0 0 0
        for to in $(placing); do
            ok convert "$file" "b.$to"
            ok info --json "b.$to"
            prints '"spacing_mm": [0.5, 0.75, 2]'
            ok convert -q "b.$to" c.tif
            ok info --json c.tif
            prints '"depth": 16'
            prints '"spacing_mm": [0.5, 0.75, 2]'
        done
    done
}

@test "what a format has no place for is said in one line" {
    local format
    for format in $(placing); do
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        for to in raw npy; do
            expect 0 "$GPUFILT" convert "a.$format" "b.$to"
            says "gpufilt: warning: b.$to: left out, because $to does not hold it: voxel size, origin, directions of the axes"
            [ "${#stderr_lines[@]}" -eq 1 ]
            ok convert -q "a.$format" "b.$to"
        done
        expect 0 "$GPUFILT" convert "a.$format" b.tif
        says "b.tif: left out, because tiff does not hold it: origin, directions of the axes"
    done
}

@test "info says where a volume lies" {
    local format
    for format in $(placing); do
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        ok info "a.$format"
        prints 'spacing      0.5 x 0.75 x 2 mm'
        prints 'origin       10, -20, 30 mm'
        prints 'directions   x -1 0 0, y 0 1 0, z 0 0 1'
        prints 'orientation  LAS'
        prints 'filtered in  3D'
        ok info --json "a.$format"
        prints '"dimensions": 3, "compression": null, "spacing_mm": [0.5, 0.75, 2]'
        prints '"origin_mm": [10, -20, 30], "directions": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]], "orientation": "LAS"'
        ok info --json --spacing 1,1,1 "a.$format"
        prints '"spacing_mm": [1, 1, 1]'
        prints '"directions": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]'
    done
    python3 "$made" make pages.tif 20 18 16
    ok info --json pages.tif
    prints '"compression": "none"'
    prints '"origin_mm": null, "directions": null, "orientation": null'
}

@test "pages as a volume, and a volume slice by slice" {
    local format
    python3 "$made" raw a.raw 20 18 16
    ok blur -k gauss5 --raw 20x18x16:u8 a.raw volume.raw
    ok blur -k gauss5 --2d --raw 20x18x16:u8 a.raw slices.raw
    ! cmp -s volume.raw slices.raw
    python3 "$made" make pages.tif 20 18 16
    ok blur -k gauss5 --3d pages.tif got.raw
    cmp got.raw volume.raw
    ok blur -k gauss5 pages.tif got.raw
    cmp got.raw slices.raw
    ok blur --sigma 1.5mm --3d --spacing 0.5,0.75,1 -q pages.tif got.raw
    ok blur --sigma 3,2,1.5 --raw 20x18x16:u8 a.raw wanted.raw
    cmp got.raw wanted.raw
    for format in $(placing); do
        ok convert --3d --spacing 0.5,0.75,1 pages.tif "b.$format"
        ok info --json "b.$format"
        prints '"depth": 16'
        prints '"spacing_mm": [0.5, 0.75, 1]'
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        ok blur -k gauss5 --2d -q "a.$format" got.raw
        cmp got.raw slices.raw
    done
}

@test "info reads the header alone" {
    local format
    SECONDS=0
    truncate -s $((8192 * 8192 * 4000 * 2)) big_8192x8192x4000_u16.raw
    ok info big_8192x8192x4000_u16.raw
    prints '8192 x 8192 x 4000'
    for format in $(placing); do
        python3 "$made" make "a.$format" 20 18 16 0.5 0.75 2 10 -20 30
        case $format in
            nrrd) sed -i '/^sizes/s/.*/sizes: 8192 8192 8000/' a.nrrd ;;
            mha) sed -i '/^DimSize/s/.*/DimSize = 8192 8192 8000/' a.mha ;;
            nii) printf '\x00\x20\x00\x20\x40\x1f' | dd of=a.nii bs=1 seek=42 conv=notrunc status=none ;;
        esac
        truncate -s $(($(stat -c %s "a.$format") - 20 * 18 * 16 + 8192 * 8192 * 8000)) "a.$format"
        ok info "a.$format"
        prints '8192 x 8192 x 8000'
    done
    [ $SECONDS -lt 10 ]
}
