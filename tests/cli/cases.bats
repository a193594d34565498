#!/usr/bin/env bats
# What tools like this one got wrong in filters, outputs and odd shapes, each with the right
# answer as literal numbers.
load helpers
load numbers

all='zero clamp wrap symmetric reflect101'

# ---- borders ----

@test "wrap goes round as often as the mask needs" {
    typed in_2x2_i32.raw i32 1 2 -2 0
    gives i32 '-3 -2 8 7' correlate -k '1,2,3,1; 0,0,1,2' -b wrap in_2x2_i32.raw
}

@test "two samples, five taps, in a row and in a column" {
    write in_2x1_u8.raw 10 20
    write in_1x2_u8.raw 10 20
    for row in 'zero 30 30' 'clamp 70 80' 'wrap 70 80' 'reflect101 70 80' 'symmetric 80 70'; do
        # shellcheck disable=SC2086
        set -- $row
        gives u8 "$2 $3" correlate -k '1,1,1,1,1' -b "$1" in_2x1_u8.raw
        gives u8 "$2 $3" correlate -k '1;1;1;1;1' -b "$1" in_1x2_u8.raw
    done
}

@test "a flat picture stays flat up to its edges" {
    # shellcheck disable=SC2046
    write in_4x4_u8.raw $(repeat 16 100)
    for border in clamp wrap reflect101 symmetric normalize; do
        gives u8 "$(repeat 16 100)" correlate -k '1,1,1; 1,1,1; 1,1,1 /9' -b "$border" in_4x4_u8.raw
    done
    # 400/9, 600/9 and 100.
    edge='44.444443 66.666664 66.666664 44.444443' inner='66.666664 100 100 66.666664'
    gives f32 "$edge $inner $inner $edge" correlate -k '1,1,1; 1,1,1; 1,1,1 /9' -b zero in_4x4_u8.raw
}

@test "a mask of one tap among zeros changes nothing, at every size from 1x1 to 33x33" {
    mkdir in
    python3 -S -I - <<'END'
for w, h in [(256, 256)] + [(w, h) for h in range(1, 34) for w in range(1, 34)]:
    with open('in/a_%dx%d_u8.raw' % (w, h), 'wb') as f:
        f.write(bytes((x * 37 + y * 101 + x * y * 7) % 256 for y in range(h) for x in range(w)))
END
    for border in $all normalize; do
        ok correlate -k '0,0,0; 0,1,0; 0,0,0' -b "$border" --sync none -t u8 -f raw -o out in/*.raw
        diff -r in out || fail "$border"
        rm -r out
    done
}

@test "a mask of 9x9 over 4x4" {
    # shellcheck disable=SC2046
    write in_4x4_u8.raw $(repeat 16 1)
    mask=$(repeat 8 '1,1,1,1,1,1,1,1,1;')1,1,1,1,1,1,1,1,1
    gives u8 "$(repeat 16 16)" correlate -k "$mask" -b zero in_4x4_u8.raw
    for border in clamp wrap reflect101 symmetric; do
        gives u8 "$(repeat 16 81)" correlate -k "$mask" -b "$border" in_4x4_u8.raw
    done
    refused 5 correlate -k "$mask" -b valid in_4x4_u8.raw out_4x4_u8.raw
    says valid
}

@test "without --border it is clamp" {
    write in_3x1_u8.raw 1 2 3
    gives u8 '12 14 16' correlate -k '1,1,1,1,1,1,1' in_3x1_u8.raw
    for row in 'zero 6 6 6' 'clamp 12 14 16' 'wrap 13 14 15' 'reflect101 15 14 13' 'symmetric 15 14 13'; do
        # shellcheck disable=SC2086
        set -- $row
        gives u8 "$2 $3 $4" correlate -k '1,1,1,1,1,1,1' -b "$1" in_3x1_u8.raw
    done
}

# ---- orientation and origin of a mask ----

@test "correlate moves the 1 down, convolve up; help says which is which" {
    write in_5x5_u8.raw 0 0 0 0 0  0 0 0 0 0  0 0 1 0 0  0 0 0 0 0  0 0 0 0 0
    gives u8 '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0' correlate -k '0,1,0; 0,0,0; 0,0,0' in_5x5_u8.raw
    gives u8 '0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' convolve -k '0,1,0; 0,0,0; 0,0,0' in_5x5_u8.raw
    ok correlate --help
    prints 'as it is written'
    ok convolve --help
    prints 'turned round'
}

@test "a mask among more zeros is the same mask" {
    python3 -S -I - <<'END'
with open('in_64x64_u8.raw', 'wb') as f:
    f.write(bytes((x * 3 + y * 5) % 251 for y in range(64) for x in range(64)))
for side in (3, 31, 65):
    first = side // 2 - 1
    with open('m%d.mask' % side, 'w') as f:
        for y in range(side):
            f.write(' '.join(str((y - first) * 3 + x - first + 1)
                             if 0 <= y - first < 3 and 0 <= x - first < 3 else '0' for x in range(side)) + '\n')
END
    for command in correlate convolve; do
        for type in f32 i16; do
            for side in 3 31 65; do
                ok "$command" -k @m$side.mask -b zero -t $type in_64x64_u8.raw -f raw out$side.raw
            done
            cmp out3.raw out31.raw
            cmp out3.raw out65.raw
        done
    done
}

@test "the origin of an even mask is the second of its middle taps, or where it is set" {
    write in_5x1_u8.raw 0 0 1 0 0
    gives u8 '0 0 2 1 0' correlate -k '1,2' -b zero in_5x1_u8.raw
    gives u8 '0 1 2 0 0' convolve -k '1,2' -b zero in_5x1_u8.raw
    gives u8 '0 2 1 0 0' correlate -k '2x1+0+0: 1,2' -b zero in_5x1_u8.raw
}

@test "an origin outside the mask is refused" {
    write in_5x1_u8.raw 0 0 1 0 0
    for origin in +3 +99999999999 +18446744073709551616 -2; do
        refused 2 correlate -k "3x1$origin+0: 1,2,3" in_5x1_u8.raw out_5x1_u8.raw
        says origin
    done
    only in_5x1_u8.raw
}

@test "the sign of a derivative" {
    write in_5x1_u8.raw 0 1 2 3 4
    gives i16 '1 2 2 2 1' correlate -k '-1,0,1' in_5x1_u8.raw
    gives i16 '-1 -2 -2 -2 -1' convolve -k '-1,0,1' in_5x1_u8.raw
    gives u8 '0 0 0 0 0' convolve -k '-1,0,1' in_5x1_u8.raw
    # Without -t it is a type with a sign.
    ok convolve -k '-1,0,1' in_5x1_u8.raw -f raw out.raw
    [ "$(numbers out.raw i16)" = '-1 -2 -2 -2 -1' ]
}

# ---- rounding and saturation ----

@test "six weights of one sixth: 1 where the sum is 1, ties to even at both ends" {
    # shellcheck disable=SC2046
    write in_27x1_u8.raw $(repeat 9 0) $(repeat 9 1) $(repeat 9 0)
    # From the eighth sample: 1/6 1/3 1/2 2/3 5/6 1 1 1 1 5/6 2/3 1/2 1/3 1/6.
    gives u8 "$(repeat 7 0) 0 0 0 1 1 1 1 1 1 1 1 0 0 0 $(repeat 6 0)" \
        correlate -k '1,1,1,1,1,1 /6' -b symmetric in_27x1_u8.raw
    # As decimal fractions: not exact, but where the sum is 1, 1 is written.
    w=0.16666666666666666
    ok correlate -k "$w,$w,$w,$w,$w,$w" -b symmetric in_27x1_u8.raw -f raw out.raw
    [ "$(numbers out.raw u8 | cut -d' ' -f11-18)" = '1 1 1 1 1 1 1 1' ]
}

@test "weights that nearly sum to 1 do not darken" {
    w='0.11111111 0.11111111 0.11111111' v='0.04 0.04 0.04 0.04 0.04'
    for value in 100 255; do
        # shellcheck disable=SC2046
        write in_8x8_u8.raw $(repeat 64 $value)
        for border in clamp wrap reflect101 symmetric; do
            gives u8 "$(repeat 64 $value)" correlate -k "$w; $w; $w" -b "$border" in_8x8_u8.raw
            gives u8 "$(repeat 64 $value)" correlate -k "$v; $v; $v; $v; $v" -b "$border" in_8x8_u8.raw
        done
    done
}

@test "sums beyond 32 bits: exact in a wider type, saturated in their own" {
    for type in u32 i32; do
        typed in_3x1_$type.raw $type 2147483647 2147483647 2147483647
        gives f64 '6442450941 6442450941 6442450941' correlate -k '1,1,1' -b wrap in_3x1_$type.raw
        gives i32 '2147483647 2147483647 2147483647' correlate -k '1,1,1' -b wrap in_3x1_$type.raw
        gives u32 '4294967295 4294967295 4294967295' correlate -k '1,1,1' -b wrap in_3x1_$type.raw
    done
    # shellcheck disable=SC2046
    typed in_3x3_u16.raw u16 $(repeat 9 65535)
    for type in u32 f32 f64; do
        gives $type "$(repeat 9 589815)" correlate -k '1,1,1;1,1,1;1,1,1' in_3x3_u16.raw
    done
    gives u16 "$(repeat 9 65535)" correlate -k '1,1,1;1,1,1;1,1,1' in_3x3_u16.raw
}

@test "samples are not cut to the type of the mask" {
    typed in_1x1_u16.raw u16 257
    gives u16 257 correlate -k '1x1: 1' in_1x1_u16.raw
    gives f32 257 correlate -k '1x1: 1' in_1x1_u16.raw
}

@test "a negative sum is 0 in an unsigned type" {
    write in_1x1_u8.raw 0
    gives u8 0 correlate -k '5,7,6' -b constant --fill -1 in_1x1_u8.raw
    gives i16 -11 correlate -k '5,7,6' -b constant --fill -1 in_1x1_u8.raw
    write in_3x1_u8.raw 255 255 255
    for type in u8 u16 u32; do
        gives $type '0 0 0' correlate -k '-5,-7,-6' in_3x1_u8.raw
        gives $type '0 0 0' correlate -k '-0.5,-0.7,-0.6' in_3x1_u8.raw
    done
    gives f32 '-4590 -4590 -4590' correlate -k '-5,-7,-6' in_3x1_u8.raw
    gives i8 '-128 -128 -128' correlate -k '-5,-7,-6' in_3x1_u8.raw
    gives u8 '255 255 255' correlate -k '1e30,1e30,1e30' in_3x1_u8.raw
    gives i16 '-32768 -32768 -32768' correlate -k '-1e30,-1e30,-1e30' in_3x1_u8.raw
}

@test "flat pictures of 16 bits keep their value" {
    # shellcheck disable=SC2046
    typed in_16x16_u16.raw u16 $(repeat 256 1000)
    w='0.1111111111111111 0.1111111111111111 0.1111111111111111'
    for mask in '1x1: 1' '1,1,1; 1,1,1; 1,1,1 /9' "$w; $w; $w"; do
        gives u16 "$(repeat 256 1000)" correlate -k "$mask" in_16x16_u16.raw
    done
    make <<'END'
save('in.png', png([[[32768]] * 8] * 8, 16, 0))
END
    ok correlate -k '0.25,0.5,0.25' in.png out.png
    reads out.png u16 "$(repeat 64 32768)"
}

@test "separable passes are rounded once, at the end" {
    write in_5x5_u8.raw 0 0 0 0 0  0 0 0 0 0  0 0 3 0 0  0 0 0 0 0  0 0 0 0 0
    for mask in gauss3 '1,2,1; 2,4,2; 1,2,1 /16'; do
        gives u8 '0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0' correlate -k "$mask" in_5x5_u8.raw
        gives f32 '0 0 0 0 0 0 0.1875 0.375 0.1875 0 0 0.375 0.75 0.375 0 0 0.1875 0.375 0.1875 0 0 0 0 0 0' \
            correlate -k "$mask" in_5x5_u8.raw
    done
}

# ---- NaN and infinity ----

@test "a NaN, an infinity or a large value spoils its neighbours only" {
    for type in f32 f64; do
        typed in_9x1_$type.raw $type 1 1 1 1 nan 1 1 1 1
        gives $type '2 3 3 nan nan nan 3 3 2' correlate -k '1,1,1' -b zero in_9x1_$type.raw
        typed in_9x1_$type.raw $type 1 1 1 1 inf 1 1 1 1
        gives $type '2 3 3 inf inf inf 3 3 2' correlate -k '1,1,1' -b zero in_9x1_$type.raw
        typed in_9x1_$type.raw $type 1 1 1 1 1e30 1 1 1 1
        gives $type '2 3 3 1e+30 1e+30 1e+30 3 3 2' correlate -k '1,1,1' -b zero in_9x1_$type.raw
    done
    typed in_9x1_f32.raw f32 1 1 1 1 1e30 1 1 1 1
    gives f32 '1 1 1 2.5e+29 5e+29 2.5e+29 1 1 1' blur -k gauss3 in_9x1_f32.raw
}

@test "pictures of NaN alone" {
    typed in_2x2_f32.raw f32 nan nan nan nan
    for border in $all normalize; do
        gives f32 'nan nan nan nan' blur -k gauss5 -b "$border" in_2x2_f32.raw
        gives u8 '0 0 0 0' blur -k gauss5 -b "$border" in_2x2_f32.raw
    done
    typed in_3x1_f32.raw f32 nan nan inf
    gives f32 'nan nan nan' correlate -k '1,1,0' in_3x1_f32.raw
    gives f32 'nan nan inf' convert in_3x1_f32.raw
    gives i16 '0 0 32767' convert in_3x1_f32.raw
}

# ---- output ----

@test "in place, beyond a megabyte" {
    head -c 1500000 /dev/zero | tr '\0' '\7' >in_1500x1000_u8.raw
    cp in_1500x1000_u8.raw wanted
    ok convert --compression none in_1500x1000_u8.raw in.tif
    ok blur -k gauss5 in_1500x1000_u8.raw in_1500x1000_u8.raw
    cmp wanted in_1500x1000_u8.raw
    ok blur -k gauss5 in.tif in.tif
    ok convert in.tif -f raw found
    cmp wanted found
}

@test "a full device is an error" {
    write in_4x1_u8.raw 1 2 3 4
    for format in png tiff pnm raw; do
        refused 4 convert in_4x1_u8.raw -f $format /dev/full
        says /dev/full
        # shellcheck disable=SC2016
        expect 4 bash -c '"$GPUFILT" convert in_4x1_u8.raw -f "$1" - >/dev/full' bash $format
    done
    # shellcheck disable=SC2016
    for words in 'info in_4x1_u8.raw' 'info --json in_4x1_u8.raw' 'masks show gauss3' '--help' '--version'; do
        expect 4 bash -c '"$GPUFILT" $1 >/dev/full' bash "$words"
    done
    [ -c /dev/full ]
}

@test "a small output over a large old file leaves no tail" {
    head -c 1000000 /dev/zero | tr '\0' '\7' >in_1000x1000_u8.raw
    # shellcheck disable=SC2046
    write in_10x10_u8.raw $(repeat 100 7)
    for format in png tif pgm; do
        ok convert in_10x10_u8.raw wanted.$format
        ok convert --level 0 in_1000x1000_u8.raw out.$format
        ok convert in_10x10_u8.raw out.$format
        cmp wanted.$format out.$format
    done
    cp in_1000x1000_u8.raw out.raw
    ok convert in_10x10_u8.raw -f raw out.raw
    [ "$(stat -c %s out.raw)" -eq 100 ]
}

@test "nothing on standard input, and nobody at standard output" {
    for command in 'convert - -f png out.png' 'blur -k gauss3 - -f png out.png' 'info -'; do
        # shellcheck disable=SC2086
        refused 3 $command </dev/null
        says 'standard input'
        # shellcheck disable=SC2016
        expect 3 bash -c 'head -c 0 /dev/zero | "$GPUFILT" $1' bash "$command"
        says 'standard input'
    done
    only
    # The reader of the pipe is gone before anything is written.
    head -c 1000000 /dev/zero | tr '\0' '\7' >in_1000x1000_u8.raw
    # shellcheck disable=SC2016
    attempt timeout 20 bash -c '{ "$GPUFILT" convert in_1000x1000_u8.raw -f raw -; echo $? >status; } | true'
    [[ $(cat status) == 4 || $(cat status) == 141 ]] || fail "status $(cat status)"
    # shellcheck disable=SC2154
    [[ $stderr != *Sanitizer* ]] || fail sanitizer
}

# ---- shapes ----

@test "a column of 1100000 samples, a volume of 70000 planes" {
    head -c 1100000 /dev/zero | tr '\0' '\11' >in_1x1100000_u8.raw
    printf '\1\2\3' | dd of=in_1x1100000_u8.raw bs=1 seek=1099997 conv=notrunc status=none
    ok correlate -k '0,0,0; 0,1,0; 0,0,0' in_1x1100000_u8.raw -f raw out.raw
    cmp in_1x1100000_u8.raw out.raw
    head -c 70000 /dev/zero | tr '\0' '\11' >in_1x1x70000_u8.raw
    printf '\1\2\3' | dd of=in_1x1x70000_u8.raw bs=1 seek=69997 conv=notrunc status=none
    ok correlate -k '0;;1;;0' in_1x1x70000_u8.raw -f raw out.raw
    cmp in_1x1x70000_u8.raw out.raw
    ok correlate -k '0;;0;;1' in_1x1x70000_u8.raw -f raw out.raw
    [ "$(tail -c 4 out.raw | od -An -tu1 | tr -s ' ')" = ' 1 2 3 3' ]
}

@test "TIFF: 70000 pages" {
    make <<'END'
f = bytearray(b'II' + struct.pack('<HI', 42, 8))
for p in range(70000):
    data = len(f) + 2 + 12 * 7 + 4
    entries = ((256, 3, 1, 1), (257, 3, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, data),
               (279, 4, 1, 1))
    f += struct.pack('<H', 7) + b''.join(struct.pack('<HHII', *e) for e in entries)
    f += struct.pack('<IBB', 0 if p == 69999 else data + 2, p % 251, 0)
save('in.tif', f)
save('wanted.raw', bytes(p % 251 for p in range(70000)))
END
    ok convert --sync none in.tif -f raw found.raw
    cmp wanted.raw found.raw
}

@test "widths that are no multiple of four bytes, and data at odd places" {
    make <<'END'
os.mkdir('in')
os.mkdir('wanted')
for width in range(1, 18):
    ramp = [[(x * 3 + y * 50) % 256 for x in range(width)] for y in range(3)]
    # One to the left, the last one again.
    moved = [row[1:] + row[-1:] for row in ramp]
    for folder, r in (('in', ramp), ('wanted', moved)):
        save('%s/a_%dx3_u8.raw' % (folder, width), bytes(sum(r, [])))
        save('%s/b_%dx3_u16.raw' % (folder, width), struct.pack('<%dH' % (3 * width), *[v * 257 for v in sum(r, [])]))
for skip in (1, 2, 3):
    save('skip%d.raw' % skip, b'x' * skip + struct.pack('<6H', 1, 2, 3, 1000, 2000, 65535))
save('bad_4x4_u8.raw', b'short')
END
    ok correlate -k '0,0,1' -t same -f raw --sync none -o out in/*.raw
    diff -r wanted out
    for skip in 1 2 3; do
        gives u16 '1 2 3 1000 2000 65535' correlate -k '1x1: 1' --raw 3x2:u16+$skip skip$skip.raw
    done
    # A bad file does not spoil those after it.
    rm -r out
    attempt "$GPUFILT" correlate -k '0,0,1' -t same -f raw --sync none -o out bad_4x4_u8.raw in/a_7x3_u8.raw \
        in/b_5x3_u16.raw
    # shellcheck disable=SC2154
    [ "$status" -eq 8 ] || fail 'no status 8'
    cmp wanted/a_7x3_u8.raw out/a_7x3_u8.raw
    cmp wanted/b_5x3_u16.raw out/b_5x3_u16.raw
    [ ! -e out/bad_4x4_u8.raw ]
}

@test "widths at and beside multiples of 16: a ramp keeps its inside" {
    for width in 15 16 17 32 48 64 113; do
        python3 -S -I - $width <<'END'
import struct, sys
w = int(sys.argv[1])
ramp = [4 * x + 8 * y for y in range(5) for x in range(w)]
# 1 2 1 over 4 in x and y: only the edges move, by a quarter of a step.
moved = [4 * x + 8 * y + (x == 0) - (x == w - 1) + 2 * (y == 0) - 2 * (y == 4) for y in range(5) for x in range(w)]
for name, values in (('in_%dx5_u16.raw' % w, ramp), ('wanted.raw', moved)):
    with open(name, 'wb') as f:
        f.write(struct.pack('<%dH' % len(values), *values))
END
        for mask in gauss3 '1,2,1; 2,4,2; 1,2,1 /16' '0.0625,0.125,0.0625; 0.125,0.25,0.125; 0.0625,0.125,0.0625'; do
            ok correlate -k "$mask" in_${width}x5_u16.raw -f raw out.raw
            cmp wanted.raw out.raw || fail "$width $mask"
        done
    done
}

@test "TIFF: tiles with padding: 15x15, 17x1, 1x17, 3x5" {
    make <<'END'
for w, h in ((15, 15), (17, 1), (1, 17), (3, 5)):
    r = [[[(x * 5 + y * 11) % 256] for x in range(w)] for y in range(h)]
    save('t%dx%d.tif' % (w, h), tiff(r, 8, GRAY, tile=(16, 16)))
    save('t%dx%d.raw' % (w, h), bytes((min(x + 1, w - 1) * 5 + min(y + 1, h - 1) * 11) % 256 for y in range(h)
         for x in range(w)))
END
    for size in 15x15 17x1 1x17 3x5; do
        ok correlate -k '0,0,0; 0,0,0; 0,0,1' t$size.tif -f raw out.raw
        cmp t$size.raw out.raw || fail $size
    done
}

@test "no samples at all is an error" {
    : >empty_0x0_u8.raw
    refused 3 blur -k gauss3 empty_0x0_u8.raw -f raw out
    refused 2 blur -k gauss3 --raw 0x0:u8 empty_0x0_u8.raw -f raw out
    refused 2 blur -k gauss3 --raw 0x5:u8 empty_0x0_u8.raw -f raw out
    mv empty_0x0_u8.raw empty.png
    refused 3 blur -k gauss3 empty.png -f png out
    write in_2x2_u8.raw 1 2 3 4
    refused 5 blur -k gauss3 -b valid in_2x2_u8.raw -f raw out
    refused 2 convert --roi 0,0+0x0 in_2x2_u8.raw -f raw out
    only empty.png in_2x2_u8.raw
}
