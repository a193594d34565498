# The same bytes on every device, what is said of devices that cannot be used, and GPUs that fail.
#
# The device simt of test builds runs the CUDA backend on the processor. Tests of a real GPU are
# skipped where there is none, and fail there with GPUFILT_REQUIRE_GPU=1.
load helpers

has_simt()
{
    attempt "$GPUFILT" convert --device simt
    [[ $stderr == *'no input'* ]]
}

need_simt()
{
    has_simt || skip 'a build without the simt device'
}

# Says why no GPU can be used; nothing when one can.
no_gpu()
{
    "$GPUFILT" devices --json | python3 -c '
import json, sys
cuda = json.load(sys.stdin)["cuda"]
reasons = [cuda["why_none"]] + [gpu["why_not"] for gpu in cuda["gpus"]]
if not any(gpu["usable"] for gpu in cuda["gpus"]):
    print(next(reason for reason in reasons if reason))'
}

need_gpu()
{
    local reason
    reason=$(no_gpu)
    [ -n "$reason" ] || return 0
    [ "${GPUFILT_REQUIRE_GPU:-}" != 1 ] || fail "GPUFILT_REQUIRE_GPU=1, but $reason"
    skip "no GPU: $reason"
}

built_with_cuda()
{
    [[ $("$GPUFILT" --version) != *'not built in'* ]]
}

noise()
{
    python3 - "$1" "$2" <<'END'
import random, sys
random.seed(11)
open(sys.argv[1], 'wb').write(random.randbytes(int(sys.argv[2])))
END
}

# both DEVICE NAME ARGUMENTS: gpufilt ARGUMENTS gives a file like NAME, the same on DEVICE as on
# the CPU.
both()
{
    local device=$1 name=$2
    shift 2
    expect 0 "$GPUFILT" "$@" -q --sync none --device cpu "cpu-$name"
    expect 0 "$GPUFILT" "$@" -q --sync none --device "$device" "gpu-$name"
    cmp "cpu-$name" "gpu-$name" || fail "gpufilt $*"
}

# Every command, format and option that reaches the samples, on this device.
all_the_same_on()
{
    local device=$1
    "$GPUFILT" convert --roi 100,50+67x45 "$samples/chelsea.png" rgb.png
    "$GPUFILT" convert --roi 40,30+61x43 "$samples/bubbles_rgba.png" rgba.png
    "$GPUFILT" convert --roi 20,10+53x47 "$samples/cells_16bit.tif" cells.tif
    "$GPUFILT" convert --roi 30,30,20+31x21x13 "$samples/ct_96x96x64_u16le.raw" ct.tif
    noise f_37x29_f32.raw $((37 * 29 * 4))
    noise d_13x11x7_f64.raw $((13 * 11 * 7 * 8))
    noise i_37x29_i32.raw $((37 * 29 * 4))
    noise h_37x29_f16.raw $((37 * 29 * 2))

    both "$device" out.png blur -k gauss5 rgb.png
    both "$device" out.png blur --sigma 1.7 rgb.png
    both "$device" out.tif blur -k box7 cells.tif
    both "$device" out.tif correlate -k sobel-x rgb.png
    both "$device" out.tif correlate -k '1,2,4;3,6,5;2,7,1' -t f32 cells.tif
    both "$device" out.tif convolve -k '1,2;3,4;5,6' cells.tif
    both "$device" out.png convert -t u8 cells.tif
    both "$device" out.ppm convert rgb.png
    for border in zero clamp wrap symmetric reflect101 valid normalize; do
        both "$device" out.png blur -k gauss5 -b $border rgb.png
        both "$device" out.tif blur --sigma 0.8 -b $border ct.tif
        both "$device" out.tif correlate -k '1,2,1;2,9,3;1,3,1' -b $border cells.tif
    done
    both "$device" out.png blur -k gauss5 -b constant --fill 200 rgb.png
    both "$device" out.png blur -k gauss5 rgba.png
    both "$device" out.png blur -k gauss5 --alpha independent rgba.png
    both "$device" out.tif correlate -k sobel-y rgba.png
    both "$device" out.tif blur -k gauss3 ct.tif
    both "$device" out.tif correlate -k laplace26 ct.tif
    both "$device" out.tif blur --sigma 1 --2d ct.tif
    both "$device" out.tif blur -k gauss5 --roi 3,4,2+20x11x5 ct.tif
    both "$device" out.png blur -k gauss9 --roi 7,8+31x21 rgb.png
    for file in f_37x29_f32 d_13x11x7_f64 i_37x29_i32 h_37x29_f16; do
        both "$device" out.raw blur --sigma 0.9 $file.raw -f raw
        both "$device" out.raw correlate -k '1,-2,3,0,5' $file.raw -f raw
    done
    for how in '--layout packed' '--gpu-memory 256K' '--max-memory 8M' '-j 1' '-j 3'; do
        # shellcheck disable=SC2086
        both "$device" out.tif blur --sigma 1.2 $how ct.tif
    done
}

# In place, through a pipe, a folder, and samples that are counted, on this device.
manners_on()
{
    local device=$1
    cp "$samples/cell.png" a.png
    "$GPUFILT" convert --roi 0,0+60x50 "$samples/camera.png" b.png
    ok blur -k gauss3 --device cpu b.png want.png
    cp b.png here.png
    ok blur -k gauss3 --device "$device" here.png here.png
    cmp here.png want.png
    "$GPUFILT" blur -k gauss3 --device "$device" -f png - - <b.png | cat >piped.png
    cmp piped.png want.png
    mkdir in
    cp b.png in/one.png
    cp b.png in/two.png
    echo 'no picture' >in/bad.png
    attempt "$GPUFILT" blur -k gauss3 --device "$device" -o out in/*.png
    [ "$status" -eq 8 ] || fail "status $status of a folder"
    cmp out/one.png want.png
    cmp out/two.png want.png
    [ ! -e out/bad.png ] || fail 'an output of a bad input'
    write s_3x1_u8.raw 100 200 255
    expect 0 "$GPUFILT" correlate -k '2,0,0' -t u8 -b zero --device "$device" s_3x1_u8.raw t_3x1_u8.raw
    says '1 of 3 samples do not fit u8'
    refused 1 correlate -k '2,0,0' -t u8 -b zero --on-clip error --device "$device" s_3x1_u8.raw u_3x1_u8.raw
    says '1 of 3 samples do not fit u8'
    [ ! -e u_3x1_u8.raw ]
}

@test "simt: every command, format and option gives the CPU's bytes" {
    need_simt
    all_the_same_on simt
}

@test "simt: in place, pipes, folders, clipped samples" {
    need_simt
    manners_on simt
}

@test "simt: the same bytes for any slab and any chunk" {
    need_simt
    noise in.raw $((23 * 19 * 7))
    "$GPUFILT" blur --raw 23x19x7:u8 --sigma 1 --device cpu -f raw in.raw want3.raw
    "$GPUFILT" blur --raw 23x133:u8 --sigma 1 -b wrap --device cpu -f raw in.raw want2.raw
    for slab in 1 2 5; do
        for chunk in 1x1 3x2 100x100; do
            export GPUFILT_TEST_SLAB=$slab GPUFILT_TEST_CHUNK=$chunk
            ok blur --raw 23x19x7:u8 --sigma 1 --device simt -f raw in.raw got.raw
            cmp want3.raw got.raw || fail "3D, slab $slab, chunk $chunk"
            ok blur --raw 23x133:u8 --sigma 1 -b wrap --device simt -f raw in.raw got.raw
            cmp want2.raw got.raw || fail "2D, slab $slab, chunk $chunk"
        done
    done
}

@test "cuda: every command, format and option gives the CPU's bytes" {
    need_gpu
    all_the_same_on cuda
}

@test "cuda: in place, pipes, folders, clipped samples" {
    need_gpu
    manners_on cuda
}

@test "cuda: the same bytes of large images: many slabs, pinned buffers, several families" {
    need_gpu
    noise in.raw $((640 * 640 * 320 * 2))
    for filter in 'blur --sigma 1.5' 'blur -k gauss5' 'correlate -k laplace26' 'blur -k box9 -b wrap' \
        'blur --sigma 2 --2d' 'correlate -k 1,2,4;3,6,5;2,7,1 --2d'; do
        # shellcheck disable=SC2086
        both cuda out.raw $filter --raw 640x640x320:u16 -f raw in.raw
    done
    both cuda out.raw blur --sigma 1.5 --raw 640x640x160:f32 -f raw in.raw
    both cuda out.raw blur --sigma 1.5 --gpu-memory 64M --raw 640x640x320:u16 -f raw in.raw
    both cuda out.raw blur --sigma 1.5 --layout packed --raw 640x640x320:u16 -f raw in.raw
}

@test "a GPU that was asked for and cannot be used: status 7, one line, nothing written" {
    cp "$samples/cell.png" in.png
    for device in cuda:999 cuda; do
        [ $device != cuda ] || [ -n "$(no_gpu)" ] || continue
        refused 7 blur -k gauss3 --device $device in.png out.png
        says "--device cuda"
        says '--device cpu'
        refused 7 blur -k gauss3 --device $device --dry-run in.png out.png
        refused 7 blur -k gauss3 --device $device -o folder in.png
        refused 7 selftest --device $device
        says "--device cuda"
    done
    built_with_cuda || says 'built without CUDA'
    # An output that is there stays as it was.
    cp in.png there.png
    refused 7 blur -k gauss3 --device cuda:999 in.png there.png
    cmp in.png there.png
    rm -rf folder
    only in.png there.png
}

@test "CUDA_VISIBLE_DEVICES hides GPUs from us, too" {
    need_gpu
    cp "$samples/cell.png" in.png
    CUDA_VISIBLE_DEVICES='' refused 7 blur -k gauss3 --device cuda in.png out.png
    says 'CUDA_VISIBLE_DEVICES'
    CUDA_VISIBLE_DEVICES='' ok devices
    prints 'CUDA_VISIBLE_DEVICES'
    CUDA_VISIBLE_DEVICES=0 refused 7 blur -k gauss3 --device cuda:1 in.png out.png
    says 'CUDA_VISIBLE_DEVICES'
    only in.png
}

@test "simt: no driver, no device, an index too high" {
    need_simt
    cp "$samples/cell.png" in.png
    GPUFILT_TEST_CUDA_DEVICES=driver refused 7 blur -k gauss3 --device simt in.png out.png
    says 'driver'
    GPUFILT_TEST_CUDA_DEVICES=0 refused 7 blur -k gauss3 --device simt in.png out.png
    says '0 GPUs'
    GPUFILT_TEST_CUDA_DEVICES=2 refused 7 blur -k gauss3 --device simt:2 in.png out.png
    says '2 GPUs'
    says '--device simt:2'
    CUDA_VISIBLE_DEVICES='' refused 7 blur -k gauss3 --device simt in.png out.png
    says 'CUDA_VISIBLE_DEVICES'
    GPUFILT_TEST_CUDA_DEVICES=2 ok blur -k gauss3 --device simt:1 in.png out.png
    only in.png out.png
}

@test "simt: a CUDA call that fails: a clear word and no output, or the right one" {
    need_simt
    local failed error n
    noise in.raw $((23 * 19 * 7))
    "$GPUFILT" blur --raw 23x19x7:u8 --sigma 0.7 --device cpu -f raw in.raw want.raw
    export GPUFILT_TEST_SLAB=3
    for error in cudaErrorMemoryAllocation cudaErrorLaunchFailure cudaErrorECCUncorrectable:sticky; do
        failed=0
        for n in {1..60} 75 90 120 150 200; do
            attempt env "GPUFILT_TEST_CUDA=$n:$error" "$GPUFILT" blur --raw 23x19x7:u8 --sigma 0.7 \
                --device simt -f raw in.raw out.raw
            case $status in
            0)
                cmp want.raw out.raw || fail "call $n: $error"
                [ -z "$stderr" ] || fail "call $n, $error: words"
                ;;
            6 | 7)
                failed=$((failed + 1))
                [ ! -e out.raw ] || fail "call $n, $error: an output"
                [ "${#stderr_lines[@]}" -eq 1 ] || fail "call $n, $error: not one line"
                says simt
                [[ $error == cudaErrorMemory* ]] || [ "$status" -eq 7 ] || fail "call $n, $error"
                ;;
            *) fail "call $n, $error: status $status" ;;
            esac
            rm -f out.raw
            only in.raw want.raw
        done
        [ $failed -ge 15 ] || fail "$error: only $failed calls failed"
    done
}

@test "simt: with auto the CPU does what a GPU that fails leaves" {
    need_simt
    local n notes=0 warnings=0
    noise in.raw $((23 * 19 * 7))
    "$GPUFILT" blur --raw 23x19x7:u8 --sigma 0.7 -t i8 -q --device cpu -f raw in.raw want.raw
    expect 0 "$GPUFILT" blur --raw 23x19x7:u8 --sigma 0.7 -t i8 -f raw in.raw want.raw
    says 'do not fit'
    local clipped=${stderr##*want.raw}
    export GPUFILT_TEST_SLAB=3 GPUFILT_TEST_AUTO=simt
    for n in {1..80} 100 150; do
        GPUFILT_TEST_CUDA=$n:cudaErrorLaunchFailure:sticky \
            expect 0 "$GPUFILT" blur -v --raw 23x19x7:u8 --sigma 0.7 -t i8 -f raw in.raw out.raw
        cmp want.raw out.raw || fail "call $n"
        [[ $stderr == *"$clipped"* ]] || fail "call $n: another count"
        [[ $stderr != *'done on the CPU: simt'* ]] || notes=$((notes + 1))
        [[ $stderr != *'the rest is done on the CPU: simt'* ]] || warnings=$((warnings + 1))
    done
    [ $notes -ge 10 ] || fail "only $notes notes"
    [ $warnings -ge 5 ] || fail "only $warnings warnings"
    # A folder tries once.
    cp in.raw a_23x19x7_u8.raw
    cp in.raw b_23x19x7_u8.raw
    GPUFILT_TEST_CUDA_DEVICES=driver expect 0 "$GPUFILT" blur -v --sigma 0.7 -o folder a_23x19x7_u8.raw b_23x19x7_u8.raw
    [ "$(grep -c 'done on the CPU' <<<"$stderr")" -eq 1 ] || fail 'not said once'
    # Without -v nothing is said of a GPU that is not there.
    GPUFILT_TEST_CUDA_DEVICES=driver ok blur --raw 23x19x7:u8 --sigma 0.7 -f raw in.raw out.raw
}

@test "simt: a GPU that cannot be opened puts nothing into a pipe" {
    need_simt
    noise in_23x19_u8.raw $((23 * 19))
    for format in png pnm tiff raw; do
        GPUFILT_TEST_CUDA=1:cudaErrorLaunchFailure refused 7 blur -k gauss3 --device simt \
            -f "$format" in_23x19_u8.raw -
    done
}

@test "simt: little memory on the GPU" {
    need_simt
    noise in_64x64x16_u8.raw $((64 * 64 * 16))
    "$GPUFILT" blur --sigma 0.7 --device cpu -f raw in_64x64x16_u8.raw want.raw
    for memory in 300000 1000000; do
        GPUFILT_TEST_CUDA_MEMORY=$memory ok blur --sigma 0.7 --device simt -f raw in_64x64x16_u8.raw out.raw
        cmp want.raw out.raw
        rm out.raw
    done
    GPUFILT_TEST_CUDA_MEMORY=2000 refused 6 blur --sigma 0.7 --device simt -f raw in_64x64x16_u8.raw out.raw
    says 'are free'
    [ ! -e out.raw ]
    ok blur --sigma 0.7 --device simt --gpu-memory 200K -f raw in_64x64x16_u8.raw out.raw
    cmp want.raw out.raw
    rm out.raw
    refused 6 blur --sigma 0.7 --device simt --gpu-memory 1K -f raw in_64x64x16_u8.raw out.raw
    says --gpu-memory
    [ ! -e out.raw ]
    GPUFILT_TEST_AUTO=simt ok blur --sigma 0.7 --gpu-memory 1K -f raw -q in_64x64x16_u8.raw out.raw
    cmp want.raw out.raw
}

@test "simt: a signal ends it, and nothing is left" {
    need_simt
    python3 - "$GPUFILT" "$samples/ct_96x96x64_u16le.raw" <<'END'
import os, signal, subprocess, sys, time
program, source = sys.argv[1:]
os.mkdir('k')
process = subprocess.Popen([program, 'blur', '--sigma', '4', '--device', 'simt', '-f', 'raw', source, 'k/out.raw'],
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
time.sleep(1)
assert process.poll() is None, 'it ended before the signal'
process.send_signal(signal.SIGINT)
start = time.time()
status = process.wait(timeout=300)
print('ended after', time.time() - start, 's')
assert status == -signal.SIGINT, status
assert os.listdir('k') == []
END
}

# traced COMMAND...: runs it; what it opened is in the file trace.
traced()
{
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 strace -f -o trace -e trace=openat,open,execve "$@"
}

@test "auto: small work does not touch the driver" {
    strace -f -o /dev/null true 2>/dev/null || skip 'strace is not allowed'
    traced "$GPUFILT" blur -k gauss5 "$samples/cell.png" out.png
    grep -q cell.png trace || fail 'strace shows nothing'
    ! grep -E 'libcuda|/dev/nvidia|/dev/dxg|/proc/driver/nvidia' trace || fail 'the driver was touched'
    # A large picture: seconds, were the device started for nothing.
    python3 -c "open('large.pgm','wb').write(b'P5 4096 4096 255\n' + bytes(4096 * 4096))"
    traced "$GPUFILT" blur -k gauss9 large.pgm out.png
    ! grep -E 'libcuda|/dev/nvidia|/dev/dxg|/proc/driver/nvidia' trace || fail 'the driver was touched'
    traced "$GPUFILT" blur -k gauss9 --dry-run large.pgm out.png
    ! grep -E 'libcuda|/dev/nvidia|/dev/dxg|/proc/driver/nvidia' trace || fail 'the driver was touched'
    traced "$GPUFILT" --version
    ! grep -E 'libcuda|/dev/nvidia|/dev/dxg|/proc/driver/nvidia' trace || fail 'the driver was touched'
    # And that strace would have shown it.
    built_with_cuda || return 0
    traced "$GPUFILT" devices
    grep -E 'libcuda|/dev/nvidia' trace || fail 'strace does not show the driver'
}

@test "--explain: the device and why, layout and memory" {
    cp "$samples/cell.png" in.png
    ok blur -k gauss5 --dry-run in.png out.png
    prints 'nothing on a device'
    prints 'device       cpu'
    prints 'auto: estimated'
    prints 'on a GPU'
    ok blur -k gauss5 --dry-run --device cpu in.png out.png
    prints '(asked for)'
    [[ $output != *layout* ]] || fail 'a layout on the CPU'
    expect 0 "$GPUFILT" blur -k gauss5 -v in.png out.png
    says 'device cpu'
    # 1.8 Tflop: worth a GPU, where there is one.
    truncate -s $((512 * 512 * 512)) large_512x512x512_u8.raw
    "$GPUFILT" masks make log --sigma 2 --3d >big.mask
    ok correlate -k @big.mask --dry-run -j 2 -t f32 large_512x512x512_u8.raw out.tif
    if [ -z "$(no_gpu)" ]; then
        prints 'device       cuda:0, '
        prints 'layout       pitched'
        prints 'on the device'
        prints 'on the CPU'
    elif built_with_cuda; then
        prints 'device       cpu'
        prints "$(no_gpu | cut -c1-40)"
    else
        prints 'but built without CUDA'
    fi
    has_simt || return 0
    ok blur -k gauss5 --dry-run --device simt --gpu-memory 1M --layout packed in.png out.png
    prints 'device       simt:0 (asked for)'
    prints 'layout       packed'
    prints 'at most 1 MiB on the device'
}

@test "devices: the processor, the GPUs or why there is none; status 0" {
    ok devices
    [[ $output == 'cpu  '* ]] || fail 'the processor is not first'
    prints 'processor'
    if [ -z "$(no_gpu)" ]; then
        prints 'cuda:0 '
        prints 'compute capability'
    else
        [[ $output == *'cuda      none: '* || $output == *'cannot be used: '* ]] || fail 'no reason'
    fi
    ok devices --json
    python3 - "$output" <<'END'
import json, sys
document = json.loads(sys.argv[1])
assert document['cpu']['processors'] >= 1 and document['cpu']['instructions']
cuda = document['cuda']
assert (cuda['why_none'] is None) == (len(cuda['gpus']) > 0), cuda
for index, gpu in enumerate(cuda['gpus']):
    assert gpu['device'] == f'cuda:{index}' and gpu['name'] and gpu['usable'] == (gpu['why_not'] is None), gpu
END
    built_with_cuda || prints 'built without CUDA'
    refused 2 devices 0
}

@test "selftest: on the CPU, and on what is there" {
    ok selftest --device cpu
    prints 'all the same; no GPU was tested: --device cpu was asked for'
    [ "$(grep -c '^ok ' <<<"$output")" -ge 60 ] || fail 'fewer than 60 cases'
    ok selftest --device cpu --json
    python3 -c 'import json, sys; d = json.loads(sys.argv[1]); assert d["devices"] == ["cpu"] and all(c["same"] for c in d["cases"])' "$output"
    GPUFILT_TEST_CASES=50 ok selftest
    if [ -n "$(no_gpu)" ]; then prints 'no GPU was tested: '; else prints 'cpu cuda:0'; fi
}

@test "selftest: a difference is found, shown and status 1" {
    has_hooks || skip 'a build without test hooks'
    GPUFILT_TEST_SELFTEST=4 attempt "$GPUFILT" selftest --device cpu
    [ "$status" -eq 1 ] || fail "status $status"
    says 'selftest: cpu: correlate'
    says 'at 0,0,0, channel 0'
    says 'the plain loop has'
    [[ $output == *$'\nFAIL '* && $output != *'all the same'* ]] || fail 'no FAIL'
    GPUFILT_TEST_SELFTEST=4 attempt "$GPUFILT" selftest --device cpu --json
    [ "$status" -eq 1 ] || fail "status $status"
    python3 -c 'import json, sys; d = json.loads(sys.argv[1]); assert [c["same"] for c in d["cases"]] == [True, False]' "$output"
}

@test "selftest: simt" {
    need_simt
    GPUFILT_TEST_CASES=6 ok selftest --device simt
    prints 'cpu simt:0'
    [[ $output == *'all the same' ]] || fail 'not all the same'
    GPUFILT_TEST_CASES=50 GPUFILT_TEST_CUDA_DEVICES=driver refused 7 selftest --device simt
}

@test "selftest: cuda" {
    need_gpu
    ok selftest --device cuda
    prints 'cpu cuda:0'
    [[ $output == *'all the same' ]] || fail 'not all the same'
}
