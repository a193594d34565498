# Volumes that are files of one plane each: 'slice_*.tif' and 'slice_%04d.png'. Samples are compared
# with the raw volume that the slices were cut from.
load helpers

# volume FILE W H D: 16-bit noise.
volume()
{
    python3 - "$@" <<'END'
import random, sys
random.seed(11)
open(sys.argv[1], 'wb').write(random.randbytes(2 * int(sys.argv[2]) * int(sys.argv[3]) * int(sys.argv[4])))
END
}

# slices FILE NAME...: cuts a raw volume into PGM files of 6x5 16-bit samples.
slices()
{
    python3 - "$@" <<'END'
import sys
data, size = open(sys.argv[1], 'rb').read(), 60
for z, name in enumerate(sys.argv[2:]):
    plane = data[z * size:(z + 1) * size]
    open(name, 'wb').write(b'P5 6 5 65535\n' + bytes(plane[i ^ 1] for i in range(size)))
END
}

@test "a pattern is a volume, in natural order" {
    volume vol.raw 6 5 12
    mkdir in
    slices vol.raw in/s{1..12}.pgm
    ok convert 'in/s*.pgm' -f raw out.raw
    cmp vol.raw out.raw || fail 's2 does not come before s10'
    # The same with zeros before the numbers, in part.
    mv in/s1.pgm in/s001.pgm
    mv in/s9.pgm in/s09.pgm
    ok convert 'in/s*.pgm' -f raw out.raw
    cmp vol.raw out.raw || fail 'zeros before a number'
    ok convert 'in/s?.pgm' -f raw out.raw
    cmp <(head -c 480 vol.raw | tail -c 420) out.raw || fail 's2 to s8'
    ok info 'in/s*.pgm'
    prints '6 x 5 x 12'
    prints '3D'
    ok blur --sigma 1 'in/s*.pgm' -f raw out.raw
    ok blur --sigma 1 --raw 6x5x12:u16 vol.raw blurred.raw
    cmp blurred.raw out.raw || fail 'blurred'
    ok stats --show sum,max,max_at --csv 'in/s*.pgm'
    tail -n 1 <<<"$output" | cut -d, -f2- >found
    ok stats --show sum,max,max_at --csv --raw 6x5x12:u16 vol.raw
    tail -n 1 <<<"$output" | cut -d, -f2- | diff - found || fail 'statistics'
}

@test "numbered slices follow each other from the first one there is" {
    volume vol.raw 6 5 5
    slices vol.raw s_{08..12}.pgm
    ok convert 's_%02d.pgm' -f raw out.raw
    cmp vol.raw out.raw || fail 'numbers 8 to 12'
    # Others that the pattern does not make are not of the stack.
    cp s_08.pgm s_7.pgm
    cp s_08.pgm s_013.pgm
    ok convert 's_%02d.pgm' -f raw out.raw
    cmp vol.raw out.raw || fail 'names of another width'
    rm s_10.pgm
    refused 3 convert 's_%02d.pgm' -f raw out2.raw
    says 's_10.pgm'
    says 's_09.pgm'
    says 's_11.pgm'
    refused 3 info 't_%02d.pgm'
    refused 3 info 't_*.pgm'
    refused 3 info 'nowhere/t_*.pgm'
    [ ! -e out2.raw ]
}

@test "a file of that very name is that file" {
    volume vol.raw 6 5 2
    slices vol.raw 's_%d.pgm' s_1.pgm
    cp s_1.pgm '[s]_*.pgm'
    ok convert 's_%d.pgm' -f raw out.raw
    cmp <(head -c 60 vol.raw) out.raw
    ok convert '[s]_*.pgm' -f raw out.raw
    cmp <(tail -c 60 vol.raw) out.raw
    # Into a folder it keeps its name.
    ok convert -o to/ 's_%d.pgm'
    [ -e 'to/s_%d.pgm' ] || fail "$(ls to)"
}

@test "slices that differ, and files that are no slices" {
    volume vol.raw 6 5 4
    slices vol.raw s{1..4}.pgm
    printf 'P5 6 4 255\n012345678901234567890123' >s3.pgm
    refused 3 blur --sigma 1 's*.pgm' out.tif
    says 's3.pgm'
    says '6x4'
    says '6x5'
    says 's1.pgm'
    rm s3.pgm
    ok convert --raw 6x5x4:u16 vol.raw s3.tif
    refused 5 blur --sigma 1 's*' out.tif
    says 's3.tif'
    rm s3.tif
    # The end of a slice is missing: nothing is written.
    head -c 40 s4.pgm >cut
    mv cut s4.pgm
    refused 3 blur --sigma 1 's*.pgm' out.tif
    says 's4.pgm'
    only s1.pgm s2.pgm s4.pgm vol.raw
}

@test "the planes of a volume to files" {
    volume vol.raw 6 5 11
    ok convert --raw 6x5x11:u16 vol.raw -o 'made/s_%03d.png'
    [ "$(ls made | tr '\n' ' ')" = "$(printf 's_%03d.png ' {0..10})" ] || fail "$(ls made)"
    ok convert 'made/s_%03d.png' -f raw out.raw
    cmp vol.raw out.raw
    # Each is a picture by itself.
    ok convert made/s_004.png -f raw out.raw
    cmp <(tail -c +241 vol.raw | head -c 60) out.raw
    # Numbers stay, whatever the new names look like; %% is a percent sign.
    rm made/s_000.png made/s_001.png
    ok blur --sigma 1 'made/s_%03d.png' '100%%_%d.pgm'
    [ -e '100%_2.pgm' ] && [ -e '100%_10.pgm' ] && [ ! -e '100%_11.pgm' ] || fail "$(ls)"
    # Names that only match begin with 0.
    ok convert -f pgm 'made/s_*.png' 'x_%d'
    [ -e x_0 ] && [ -e x_8 ] && [ ! -e x_9 ] || fail "$(ls)"
    ok convert -o other/ 'made/s_%03d.png'
    diff <(ls made) <(ls other)
    # Pages are planes, too.
    ok convert --raw 6x5x3:u16 <(head -c 180 vol.raw) pages.tif
    ok convert pages.tif 'p%d.tif'
    ok convert 'p?.tif' -f raw out.raw
    cmp <(head -c 180 vol.raw) out.raw
    # In place.
    ok convert -t i32 'made/s_%03d.png' 'i%d.tif'
    ok correlate -k 1 -t i32 'i%d.tif' 'i%d.tif'
    ok convert -t u16 'i%d.tif' -f raw out.raw
    cmp <(tail -c +121 vol.raw) out.raw
}

@test "names of slices that are not understood" {
    volume vol.raw 6 5 2
    for name in 's_%4d.png' 's_%d_%d.png' 's_%d%s.png' 's_%02d%.png' 's_%019d.png'; do
        refused 2 convert --raw 6x5x2:u16 vol.raw "$name"
        says '%'
    done
    refused 2 convert --raw 6x5x2:u16 vol.raw 's_%d'
    ok convert --raw 6x5x2:u16 vol.raw '100%.tif'
    ok convert --raw 6x5x2:u16 vol.raw 'a%20data.tif'
    ok convert '100%.tif' 's_%d.pgm'
    refused 2 convert -o to/ 's_*.pgm'
    says 'to/'
    refused 2 convert s_0.pgm s_1.pgm -o 't_%d.pgm'
    refused 5 convert 's_%d.pgm' one.png
    only '100%.tif' 'a%20data.tif' s_0.pgm s_1.pgm vol.raw
}

@test "--no-clobber looks at every name first, and a folder is not replaced" {
    volume vol.raw 6 5 4
    mkdir to
    echo mine >to/s3.pgm
    refused 4 convert -n --raw 6x5x4:u16 vol.raw 'to/s%d.pgm'
    says 'to/s3.pgm'
    [ "$(ls -A to)" = s3.pgm ]
    attempt "$GPUFILT" convert --dry-run -n --raw 6x5x4:u16 vol.raw 'to/s%d.pgm'
    [ "$status" -eq 4 ] || fail 'a dry run'
    says 'to/s3.pgm'
    mkdir to/s2.pgm
    refused 4 convert --raw 6x5x4:u16 vol.raw 'to/s%d.pgm'
    says 'to/s2.pgm'
    [ "$(cat to/s3.pgm)" = mine ]
    rmdir to/s2.pgm
    ok convert --raw 6x5x4:u16 vol.raw 'to/s%d.pgm'
    # Fewer slices than before: the rest would be taken for slices of this volume.
    expect 0 "$GPUFILT" convert --raw 6x5x4:u16 --roi 0,0,0+6x5x2 vol.raw 'to/s%d.pgm'
    says 'to/s2.pgm'
    attempt "$GPUFILT" convert --dry-run --raw 6x5x4:u16 vol.raw 'no/s%d.pgm'
    [ "$status" -eq 0 ] && [ ! -e no ] || fail 'a dry run'
}

@test "a stack appears whole or not at all, whatever fails" {
    has_hooks || skip 'a build without test hooks'
    local kind n
    volume vol.raw 6 5 4
    slices vol.raw in_{0..3}.pgm
    for kind in open fstat pread pwrite fsync linkat renameat close; do
        for n in 1 2 3 4 5 7 9 12 16 20; do
            rm -rf to
            GPUFILT_TEST_IO=$kind:$n:EIO attempt "$GPUFILT" convert 'in_%d.pgm' 'to/s%d.pgm'
            [ "$status" -ne 0 ] || continue
            [[ $status == [34] ]] || fail "$kind:$n: status $status"
            # Only what comes after the last name was given leaves anything: all of it.
            [ ! -e to ] || [ "$(ls -A to | wc -l)" = 4 ] || fail "$kind:$n left $(ls -A to)"
            rm -rf to
            mkdir to
            for name in to/s{0..3}.pgm; do echo old >"$name"; done
            GPUFILT_TEST_IO=$kind:$n:EIO attempt "$GPUFILT" convert 'in_%d.pgm' 'to/s%d.pgm'
            [ "$(ls -A to | tr '\n' ' ')" = 's0.pgm s1.pgm s2.pgm s3.pgm ' ] || fail "$kind:$n: $(ls -A to)"
            # Old ones are lost when giving names fails between them, and only then.
            [ "$kind" = renameat ] || [ "$(grep -lx old to/* | wc -l)" = 4 ] ||
                [ "$(grep -lx old to/* | wc -l)" = 0 ] || fail "$kind:$n replaced some"
        done
    done
    for n in $(seq 1 120); do
        rm -rf to
        GPUFILT_TEST_ALLOC=$n attempt "$GPUFILT" convert 'in_%d.pgm' 'to/s%d.pgm'
        [ "$status" -ne 0 ] || continue
        [ "$status" -eq 6 ] || fail "allocation $n: status $status"
        [ ! -e to ] || fail "allocation $n left $(ls -A to)"
    done
}

@test "a signal leaves no slice, and what was there as it was" {
    mkdir to
    echo old >to/s1.pgm
    volume big.raw 600 1000 40
    for round in 1 2 3 4 5 6; do
        "$GPUFILT" blur --sigma 3 --raw 600x1000x40:u16 big.raw 'to/s%d.pgm' &
        program=$!
        sleep "0.0$((round * 2))"
        kill -TERM $program 2>/dev/null || true
        status=0
        wait $program || status=$?
        [ "$status" -eq 143 ] || continue
        [ "$(ls -A to)" = s1.pgm ] || fail "left $(ls -A to)"
        [ "$(cat to/s1.pgm)" = old ]
    done
}

@test "slices with checksums are read to their end when only a part is wanted" {
    volume vol.raw 40 30 3
    ok convert --raw 40x30x3:u16 vol.raw 's%d.png'
    python3 - <<'END'
data = bytearray(open('s1.png', 'rb').read())
data[-40] ^= 1
open('s1.png', 'wb').write(data)
END
    refused 3 convert --roi 0,0,0+16x3x3 's%d.png' out.tif
    says 's1.png'
    [ ! -e out.tif ]
}

@test "a verdict against the result leaves no slice" {
    volume vol.raw 6 5 4
    refused 1 convert --on-clip error -t u8 --raw 6x5x4:u16 vol.raw 'to/s%d.pgm'
    [ ! -e to ]
}

@test "the first slice's voxel size is the volume's, and each slice has it" {
    volume vol.raw 6 5 3
    ok convert --raw 6x5x3:u16 --spacing 0.5,0.25,2 vol.raw 's_%d.tif'
    ok info 's_*.tif'
    prints '0.5 x 0.25'
    ok convert 's_%d.tif' one.tif
    ok info one.tif
    prints '0.5 x 0.25'
}

@test "a thousand slices with few open files" {
    volume vol.raw 6 5 1000
    (ulimit -n 40 && "$GPUFILT" convert --sync none --raw 6x5x1000:u16 vol.raw 's_%d.pgm' &&
        "$GPUFILT" convert --sync none 's_*.pgm' -f raw out.raw) || fail 'more than 40 open files'
    cmp vol.raw out.raw
}
