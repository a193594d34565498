#!/usr/bin/env bats
# Every border against an independent implementation (tests/oracle/filter_oracle.py), and
# literal rows.
load helpers

# compare COMMAND SIZE TYPE MASK DIVISOR BORDER [FILL [ORIGIN]]: in_SIZE_TYPE.raw through both.
# SIZE is WxH or WxHxD; ORIGIN is +X+Y[+Z].
compare()
{
    local command=$1 size=$2 type=$3 mask=$4 divisor=$5 border=$6 fill=${7:-0} origin=${8:-}
    local spec=$mask rows w h d
    local -a flags=()
    if [ -n "$origin" ]; then
        d=$(awk -F';;' '{print NF}' <<<"$mask")
        rows=${mask%%;;*}
        h=$(awk -F';' '{print NF}' <<<"$rows")
        w=$(wc -w <<<"${rows%%;*}")
        spec=${w}x${h}
        [ "$d" -eq 1 ] || spec=${spec}x$d
        spec="$spec$origin:$mask"
        origin=${origin//+/,}
        flags+=(--origin "${origin#,}")
    fi
    [ "$divisor" -eq 1 ] || spec="$spec /$divisor"
    [ "$command" = correlate ] || flags+=(--convolve)
    "$oracle" --size "$size" --type "$type" --mask "$mask" --divisor "$divisor" --border "$border" --fill "$fill" \
        "${flags[@]}" "in_${size}_$type.raw" wanted.raw
    flags=()
    [ "$border" != constant ] || flags+=(--fill "$fill")
    # A depth of 1 makes a picture: say that it is a volume.
    [[ $size != *x*x* ]] || flags+=(--3d)
    expect 0 "$GPUFILT" "$command" -q -k "$spec" -t "$type" -b "$border" "${flags[@]}" "in_${size}_$type.raw" \
        -f raw found.raw
    cmp wanted.raw found.raw || fail "$command $size $type '$spec' $border fill $fill"
}

# noise SIZE TYPE: in_SIZE_TYPE.raw, with both extremes often.
noise()
{
    python3 - "$1" "$2" <<'END'
import struct, sys
size, kind = sys.argv[1:]
count = 1
for n in size.split('x'):
    count *= int(n)
code = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h'}[kind]
bits = 8 * struct.calcsize(code)
low = -2**(bits - 1) if kind[0] == 'i' else 0
state, values = 1, []
for _ in range(count):
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    pick = state >> 61
    values.append(low + (0 if pick == 0 else 2**bits - 1 if pick == 1 else (state >> 20) % 2**bits))
open('in_%s_%s.raw' % (size, kind), 'wb').write(struct.pack('<%d%s' % (count, code), *values))
END
}

borders='zero clamp wrap symmetric reflect101'

@test "nine ones over three samples, literal" {
    write in_3x1_u8.raw 1 2 3
    for row in 'zero 6 6 6' 'clamp 16 18 20' 'wrap 18 18 18' 'reflect101 17 18 19' 'symmetric 20 18 16'; do
        # shellcheck disable=SC2086
        set -- $row
        ok correlate -k '1,1,1,1,1,1,1,1,1' -b "$1" -t u8 in_3x1_u8.raw out_3x1_u8.raw
        holds out_3x1_u8.raw "$2 $3 $4"
    done
}

@test "the picture of each mode: a b c d extended by three" {
    write in_4x1_u8.raw 1 2 3 4
    # A single 1 at the far left or right of 7 taps shifts the row by three.
    for row in 'zero 0 0 0 1 4 0 0 0' 'clamp 1 1 1 1 4 4 4 4' 'wrap 2 3 4 1 4 1 2 3' 'symmetric 3 2 1 1 4 4 3 2' \
               'reflect101 4 3 2 1 4 3 2 1'; do
        # shellcheck disable=SC2086
        set -- $row
        ok correlate -k '1,0,0,0,0,0,0' -b "$1" -t u8 in_4x1_u8.raw out_4x1_u8.raw
        holds out_4x1_u8.raw "$2 $3 $4 $5"
        ok correlate -k '0,0,0,0,0,0,1' -b "$1" -t u8 in_4x1_u8.raw out_4x1_u8.raw
        holds out_4x1_u8.raw "$6 $7 $8 $9"
    done
}

@test "one sample: every mode, five taps" {
    write in_1x1_u8.raw 10
    for row in 'zero 10' 'clamp 50' 'wrap 50' 'symmetric 50' 'reflect101 50'; do
        # shellcheck disable=SC2086
        set -- $row
        ok correlate -k '1,1,1,1,1' -b "$1" -t u8 in_1x1_u8.raw out_1x1_u8.raw
        holds out_1x1_u8.raw "$2"
    done
}

@test "aliases mean the same" {
    noise 7x5 u8
    for row in 'zero dirichlet' 'zero constant' 'clamp nearest' 'clamp edge' 'clamp replicate' 'wrap periodic' \
               'wrap circular' 'symmetric grid-mirror'; do
        # shellcheck disable=SC2086
        set -- $row
        ok blur -k gauss5 -b "$1" in_7x5_u8.raw one.raw -f raw
        ok blur -k gauss5 -b "$2" in_7x5_u8.raw two.raw -f raw
        cmp one.raw two.raw
    done
}

@test "reflect and mirror are refused, with both pictures" {
    noise 7x5 u8
    for word in reflect mirror; do
        refused 2 blur -k gauss5 -b "$word" in_7x5_u8.raw out.raw
        says symmetric
        says reflect101
        says 'c b a | a b c d | d c b'
        says 'd c b | a b c d | c b a'
    done
}

@test "2D against the oracle: sizes, masks, borders" {
    for size in 1x1 1x6 6x1 2x2 5x4 17x3; do
        noise "$size" u8
        for border in $borders; do
            compare correlate "$size" u8 '1 2 1; 2 4 2; 1 2 1' 16 "$border"
            compare convolve "$size" u8 '1 -2 3 9; 0 5 -6 7' 3 "$border"
        done
        compare correlate "$size" u8 '1 2 1; 2 4 2; 1 2 1' 16 normalize
        compare correlate "$size" u8 '3 1 2 1; 2 4 2 7' 9 normalize
        compare correlate "$size" u8 '1 2 1; 2 4 2; 1 2 1' 16 constant 200
        compare convolve "$size" u8 '1 -2 3; 4 0 5' 7 constant -31
    done
}

@test "masks far larger than the image" {
    noise 3x2 u8
    wide=$(seq -s ' ' 1 41)
    for border in $borders; do
        compare correlate 3x2 u8 "$wide" 861 "$border"
        compare convolve 3x2 u8 "$(seq 1 23 | paste -sd';')" 276 "$border"
    done
    compare correlate 3x2 u8 "$wide" 861 normalize
}

@test "origins" {
    noise 6x5 u8
    for border in $borders normalize; do
        for origin in +0+0 +3+1 +1+0; do
            compare correlate 6x5 u8 '1 2 3 4; 5 6 7 8' 36 "$border" 0 "$origin"
            compare convolve 6x5 u8 '1 2 3 4; 5 6 7 8' 36 "$border" 0 "$origin"
        done
    done
}

@test "3D against the oracle" {
    cube='1 2 1; 2 4 2; 1 2 1;; 2 4 2; 4 8 4; 2 4 2;; 1 2 1; 2 4 2; 1 2 1'
    for size in 1x1x1 4x3x5 1x5x2; do
        noise "$size" u8
        for border in $borders normalize; do
            compare correlate "$size" u8 "$cube" 64 "$border"
            # Some parts of this mask sum to 0: nothing to divide by.
            [ "$border" = normalize ] || compare convolve "$size" u8 '1 2; 3 4;; 5 6; 7 -8' 5 "$border"
        done
        compare correlate "$size" u8 "$cube" 64 constant 99
    done
}

@test "other integer types, saturation at both ends" {
    for type in i8 u16 i16; do
        noise 9x7 "$type"
        for border in $borders; do
            compare correlate 9x7 "$type" '1 2 1; 2 4 2; 1 2 1' 16 "$border"
            compare correlate 9x7 "$type" '-1 -1 -1; -1 9 -1; -1 -1 -1' 1 "$border"
        done
    done
}

@test "valid: the output shrinks" {
    noise 7x6 u8
    compare correlate 7x6 u8 '1 2 3; 4 5 6' 21 valid
    compare convolve 7x6 u8 '1 2 3 4; 4 5 6 7' 32 valid
    compare correlate 7x6 u8 '1 2 3 4 5 6 7' 28 valid
    noise 5x4x3 u8
    compare correlate 5x4x3 u8 '1 2; 3 4;; 5 6; 7 8' 36 valid
    # A mask that fits nowhere.
    refused 5 correlate -k '1,1,1,1,1,1,1,1 /8' -b valid in_7x6_u8.raw out.raw
    ok blur -k gauss5 -b valid "$samples/cell.png" out.png
    ok info out.png
    prints 546
    prints 656
}

@test "every axis alone: 1xn and nx1 in 2D and 3D" {
    noise 4x3x5 u8
    for border in $borders normalize; do
        compare correlate 4x3x5 u8 '1 2 3 2 1' 9 "$border"
        compare correlate 4x3x5 u8 '1; 2; 3; 2; 1' 9 "$border"
        compare correlate 4x3x5 u8 '1;; 2;; 3;; 2;; 1' 9 "$border"
    done
}
