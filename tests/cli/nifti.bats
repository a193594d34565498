#!/usr/bin/env bats
# NIfTI: what nibabel reads and writes, pairs of files, what the format cannot hold.
load helpers

# make NAME...: good files of the corpus, by their names after "good-nifti".
make()
{
    local name
    [ -d "$BATS_FILE_TMPDIR/corpus" ] || python3 "$tests/corpus/make_corpus.py" "$BATS_FILE_TMPDIR/corpus"
    for name in "$@"; do
        cp "$BATS_FILE_TMPDIR/corpus/good-nifti$name" "in$name"
    done
}

@test "nibabel reads what is written, and what it writes is read, geometry included" {
    local python=${GPUFILT_PYTHON:-python3}
    "$python" -c 'import nibabel' 2>/dev/null || skip "$python has no nibabel"
    attempt "$python" "$tests/oracle/nifti_peer.py" "$GPUFILT"
    [ "$status" -eq 0 ] || fail "nifti_peer.py"
}

@test "a pair is written and read by the name of its header; the samples' file leads to it" {
    make -gz.nii.gz
    ok convert in-gz.nii.gz out.hdr
    only in-gz.nii.gz out.hdr out.img
    [ "$(stat -c '%s %n' out.hdr out.img | tr '\n' ' ')" = '352 out.hdr 120 out.img ' ] || fail "sizes"
    ok convert -q out.hdr -f raw a.raw
    ok convert -q out.img -f raw b.raw
    ok convert -q in-gz.nii.gz -f raw c.raw
    cmp a.raw c.raw
    cmp b.raw c.raw
    ok convert out.img PACKED.HDR.GZ
    [ -e PACKED.IMG.GZ ] || fail "no PACKED.IMG.GZ"
    gzip -t <PACKED.HDR.GZ
    gzip -t <PACKED.IMG.GZ
    ok convert -q PACKED.IMG.GZ -f raw d.raw
    cmp d.raw c.raw
    refused 5 convert out.hdr new.img
    says 'new.hdr'
    # Both files are there to be kept, or neither is.
    rm out.hdr
    refused 4 convert -n in-gz.nii.gz out.hdr
    says 'out.img'
    [ ! -e out.hdr ] || fail "half a pair"
}

@test "a pair from standard input has no samples; one file does, and goes to standard output" {
    make -pair-hdr.hdr -gz.nii.gz
    expect 3 "$GPUFILT" convert - -f raw out.raw <in-pair-hdr.hdr
    says 'standard input'
    "$GPUFILT" convert - - <in-gz.nii.gz >out.nii
    ok convert -q out.nii -f raw a.raw
    ok convert -q in-gz.nii.gz -f raw b.raw
    cmp a.raw b.raw
    [ "$(stat -c %s out.nii)" -eq 472 ] || fail "size"
}

@test "every failing call leaves the whole pair or none of it" {
    has_hooks || skip "no test hooks"
    make -gz.nii.gz
    local call n
    for call in open pwrite write fsync linkat renameat close fallocate fchmod; do
        for n in 1 2 3 4 5 6 7 8; do
            rm -f out.hdr out.img
            attempt env GPUFILT_TEST_IO=$call:$n:EIO "$GPUFILT" convert in-gz.nii.gz out.hdr
            case $status in
                0) only in-gz.nii.gz out.hdr out.img ;;
                3) [ ! -e out.hdr ] || fail "$call $n: a header stands" ;;
                4) [[ $stderr == *'is complete'* && -e out.hdr && -e out.img ]] || only in-gz.nii.gz ||
                    fail "$call $n: half a pair" ;;
                *) fail "$call $n: status $status" ;;
            esac
        done
    done
}

@test "what NIfTI cannot hold is refused with what can" {
    write in_2x2_f16le.raw 0 0 0 60 0 0 0 60
    refused 5 convert in_2x2_f16le.raw out.nii
    says '-t f32'
    write in_2x1_u16x3le.raw 1 0 2 0 3 0 4 0 5 0 6 0
    refused 5 convert in_2x1_u16x3le.raw out.nii
    says '.tif or .nrrd'
    only in_2x2_f16le.raw in_2x1_u16x3le.raw
}

@test "each volume of a series is filtered by itself" {
    make -4d.nii
    ok blur -k box3 in-4d.nii out.nii
    ok convert -q out.nii -f raw all.raw
    ok convert -q in-4d.nii -f raw samples.raw
    head -c 120 samples.raw >first_5x4x3_u16le.raw
    tail -c 120 samples.raw >second_5x4x3_u16le.raw
    ok blur -k box3 first_5x4x3_u16le.raw one.raw
    ok blur -k box3 second_5x4x3_u16le.raw two.raw
    cat one.raw two.raw | cmp - all.raw
}

@test "a description goes with the picture where it fits" {
    make -2d.nii
    # Without voxel sizes, of which a TIFF speaks in its description.
    head -c 8 /dev/zero | dd of=in-2d.nii bs=1 seek=80 conv=notrunc status=none
    printf 'from a scanner' | dd of=in-2d.nii bs=1 seek=148 conv=notrunc status=none
    ok convert in-2d.nii out.tif
    ok convert out.tif back.nii
    [ "$(dd if=back.nii bs=1 skip=148 count=15 status=none | tr '\0' .)" = 'from a scanner.' ] || fail "description"
}
