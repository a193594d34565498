#!/usr/bin/env bats
# Injected faults on the real program: whatever fails, the old output is intact or the new one
# complete, nothing else is left behind, and the status says so.
load helpers

teardown()
{
    cd /
    ! mountpoint -q "$BATS_TEST_TMPDIR/room/disk" || umount "$BATS_TEST_TMPDIR/room/disk"
}

# inputs: a small picture of each kind that is written in another way.
inputs()
{
    python3 - <<'END'
import struct, zlib
w, h = 40, 30
pixels = bytes((x * 7 + y * 13 + x * y) % 256 for y in range(h) for x in range(w))
def chunk(k, b): return struct.pack('>I', len(b)) + k + b + struct.pack('>I', zlib.crc32(k + b))
rows = b''.join(b'\0' + pixels[y * w:y * w + w] for y in range(h))
open('in.png', 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 0, 0, 0, 0))
    + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
open('in.pgm', 'wb').write(b'P5 40 30 255\n' + pixels)
open('in_40x30_u8.raw', 'wb').write(pixels)
END
    "$GPUFILT" convert in.pgm in.tif
    for file in in.png in.pgm in.tif in_40x30_u8.raw; do
        "$GPUFILT" blur -k gauss5 "$file" "wanted.${file##*.}"
        cp "$file" "old.${file##*.}"
    done
    mkdir out
}

# old_or_new FILE SUFFIX STATUS WHAT: the output is the old one after a failure, the new one
# after success, and alone in its folder.
old_or_new()
{
    local found
    found=$(ls -A out)
    [ "$found" = "${1##*/}" ] || fail "$4: the folder holds $found"
    if [ "$3" -eq 0 ]; then
        cmp -s "$1" "wanted.$2" || fail "$4: status 0 and a wrong output"
    elif ! cmp -s "$1" "old.$2"; then
        # The name is given in one step; what fails after it finds the new file complete.
        cmp -s "$1" "wanted.$2" && [ "${5:-}" = either ] ||
            fail "$4: status $3 and the old output is gone"
    fi
}

sane()
{
    [[ $stderr != *Sanitizer* && $stderr != *'runtime error'* && $status -ne 99 && $status -ne 134 && $status -ne 139 ]] ||
        fail "crash: $1"
    if [ "$status" -ne 0 ]; then
        [ "${#stderr_lines[@]}" -eq 1 ] && [[ $stderr == 'gpufilt: '?* ]] ||
            fail "$1: not exactly one line"
    fi
}

# io_sweep FILE KINDS: each kind of call fails, the first to the eighth, once and for good.
io_sweep()
{
    local suffix=${1##*.} out=out/$1 kind n sticky error fault points=0
    shift
    rm -rf out
    mkdir out
    for kind in "$@"; do
        case $kind in
        open) error=EMFILE ;;
        fallocate | write | pwrite) error=ENOSPC ;;
        *) error=EIO ;;
        esac
        for sticky in '' :sticky; do
            for n in 1 2 3 4 5 6 7 8; do
                fault=$kind:$n:$error$sticky
                cp "old.$suffix" "$out"
                attempt env GPUFILT_TEST_IO="$fault" "$GPUFILT" blur -k gauss5 "${out##*/}" "$out"
                sane "$fault"
                case $status in
                0 | 3 | 4) ;;
                *) fail "$fault: status $status" ;;
                esac
                old_or_new "$out" "$suffix" "$status" "$fault" either
                points=$((points + 1))
            done
        done
    done
    echo "$points points"
}

every_call='open fstat read pread write pwrite fallocate fsync linkat renameat close'

@test "every call to the system fails in turn: PNG" {
    has_hooks || skip 'built without test hooks'
    inputs
    # shellcheck disable=SC2086
    io_sweep in.png $every_call
}

@test "every call to the system fails in turn: TIFF" {
    has_hooks || skip 'built without test hooks'
    inputs
    # shellcheck disable=SC2086
    io_sweep in.tif $every_call
}

@test "every call to the system fails in turn: raw" {
    has_hooks || skip 'built without test hooks'
    inputs
    # shellcheck disable=SC2086
    io_sweep in_40x30_u8.raw $every_call
}

@test "the first read, write, sync and rename do fail: status 3 or 4, path and reason named" {
    has_hooks || skip 'built without test hooks'
    inputs
    GPUFILT_TEST_IO=pread:1:EIO refused 3 blur -k gauss5 in.png out/in.png
    says in.png
    says 'nput/output error'
    for fault in write:1:ENOSPC:sticky pwrite:1:ENOSPC:sticky; do
        attempt env GPUFILT_TEST_IO="$fault" "$GPUFILT" blur -k gauss5 in.png out/in.png
        if [ "$status" -ne 0 ]; then break; fi
    done
    [ "$status" -eq 4 ] || fail 'no write failed'
    says out/in.png
    says 'No space left'
    rm -f out/in.png
    GPUFILT_TEST_IO=fsync:1:EIO refused 4 blur -k gauss5 in.png out/in.png
    [ -z "$(ls -A out)" ]
    ok blur --sync none -k gauss5 in.png out/in.png
}

@test "reads and writes that move one byte: the same result" {
    has_hooks || skip 'built without test hooks'
    inputs
    for file in in.png in.tif in_40x30_u8.raw; do
        for kind in read pread write pwrite; do
            attempt env GPUFILT_TEST_IO="$kind:1:short:sticky" "$GPUFILT" blur -k gauss5 "$file" "out/$file"
            [ "$status" -eq 0 ] || fail "$kind short"
            cmp "out/$file" "wanted.${file##*.}"
        done
    done
    # Standard input by the byte.
    run env GPUFILT_TEST_IO=read:1:short:sticky bash -c '"$GPUFILT" blur -k gauss5 - out/piped.png <in.png'
    [ "$status" -eq 0 ]
    cmp out/piped.png wanted.png
}

# alloc_sweep FILE OPTIONS: the n-th allocation fails, once and for good, until none does.
alloc_sweep()
{
    local file=$1 suffix=${1##*.} n sticky
    shift
    rm -rf out
    mkdir out
    for sticky in '' +; do
        n=1
        while :; do
            cp "old.$suffix" "out/$file"
            attempt env GPUFILT_TEST_ALLOC="$n$sticky" "$GPUFILT" "$@" "$file" "out/$file"
            sane "allocation $n$sticky: $*"
            old_or_new "out/$file" "$suffix" "$status" "allocation $n$sticky: $*"
            [ "$status" -ne 0 ] || break
            [ "$status" -eq 6 ] || fail "allocation $n$sticky: status $status"
            n=$((n + 1))
            [ "$n" -lt 3000 ] || fail 'no end'
        done
        echo "$file: $((n - 1)) allocations"
        [ "$n" -gt 1 ] || fail 'no allocation failed'
    done
}

@test "every allocation fails in turn: PNG" {
    has_hooks || skip 'built without test hooks'
    inputs
    alloc_sweep in.png blur -k gauss5
}

@test "every allocation fails in turn: TIFF" {
    has_hooks || skip 'built without test hooks'
    inputs
    alloc_sweep in.tif blur -k gauss5
}

@test "every allocation fails in turn: raw and PNM" {
    has_hooks || skip 'built without test hooks'
    inputs
    alloc_sweep in_40x30_u8.raw blur -k gauss5
    alloc_sweep in.pgm blur -k gauss5
}

@test "/dev/full and a closed standard output: status 4" {
    inputs
    for command in 'blur -k gauss5 in.png -f png -' 'info in.png' 'masks list' 'masks show gauss5' '--help' '--version' \
                   'help blur'; do
        attempt bash -c "\"\$GPUFILT\" $command >/dev/full"
        [ "$status" -eq 4 ] || fail "$command >/dev/full"
        sane "$command >/dev/full"
        attempt bash -c "\"\$GPUFILT\" $command >&-"
        [ "$status" -eq 4 ] || fail "$command >&-"
        sane "$command >&-"
    done
    refused 4 blur -k gauss5 in.png /dev/full -f png
}

@test "a closed standard input is an input error, a closed standard error does not matter" {
    inputs
    attempt bash -c '"$GPUFILT" blur -k gauss5 - out/in.png <&-'
    [ "$status" -eq 3 ]
    [ -z "$(ls -A out)" ]
    run bash -c '"$GPUFILT" blur -k gauss5 in.png out/in.png 2>&-'
    [ "$status" -eq 0 ]
    cmp out/in.png wanted.png
    run bash -c '"$GPUFILT" blur -k gauss5 missing.png out/in.png 2>&-'
    [ "$status" -eq 3 ]
    run bash -c '"$GPUFILT" blur -k gauss5 in.png out/in.png <&- >&- 2>&-'
    [ "$status" -eq 0 ]
    cmp out/in.png wanted.png
}

@test "a reader that goes away: SIGPIPE, quietly" {
    # shellcheck disable=SC2016
    attempt env --default-signal=PIPE bash -c \
        '"$GPUFILT" blur -k gauss3 "$1" -f raw - | head -c 10 >/dev/null; exit "${PIPESTATUS[0]}"' - \
        "$samples/ct_96x96x64_u16le.raw"
    [ "$status" -eq 141 ] || fail 'not ended by SIGPIPE'
    [ -z "$stderr" ] || fail 'not quiet'
    # Where SIGPIPE is ignored, EPIPE is a write error.
    # shellcheck disable=SC2016
    attempt env --ignore-signal=PIPE bash -c \
        '"$GPUFILT" blur -k gauss3 "$1" -f raw - | head -c 10 >/dev/null; exit "${PIPESTATUS[0]}"' - \
        "$samples/ct_96x96x64_u16le.raw"
    [ "$status" -eq 4 ] || fail 'EPIPE is not status 4'
}

@test "a full disk: old output intact, nothing left behind" {
    mkdir disk
    mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null || skip 'mount is not allowed'
    for format in png tiff raw pnm; do
        printf old >disk/out
        attempt "$GPUFILT" blur -k gauss3 "$samples/chelsea.png" -f "$format" disk/out
        [ "$status" -eq 4 ] || fail "$format: status"
        sane "$format"
        says 'No space left'
        [ "$(cat disk/out)" = old ] && [ "$(ls -A disk)" = out ] ||
            fail "$format: disk holds $(ls -A disk)"
    done
}

@test "file size limit: status 4, not death by SIGXFSZ" {
    # shellcheck disable=SC2016
    attempt bash -c 'ulimit -f 16; exec "$GPUFILT" blur -k gauss3 "$1" out.png' - "$samples/chelsea.png"
    [ "$status" -eq 4 ] || fail 'status'
    sane 'ulimit -f'
    only
}

@test "few descriptors, little memory: a clear word" {
    inputs
    for n in 3 4 5; do
        # shellcheck disable=SC2016
        attempt bash -c 'ulimit -n "$1"; exec "$GPUFILT" blur -k gauss3 in.png out/in.png' - "$n"
        case $status in
        0) cmp out/in.png <("$GPUFILT" blur -k gauss3 in.png -f png -) ;;
        3 | 4) sane "ulimit -n $n" ;;
        127) ;; # the loader found none for the libraries
        *) fail "ulimit -n $n: status $status" ;;
        esac
        rm -f out/in.png
        [ -z "$(ls -A out)" ]
    done
    refused 6 blur -k gauss3 --max-memory 100 in.png out/in.png
    says --max-memory
}

# can_trace: strace works here.
can_trace()
{
    strace -f -o /dev/null true 2>/dev/null
}

@test "a signal at every step: old or new, nothing left, death by that signal" {
    can_trace || skip 'strace is not allowed'
    inputs
    # The leak checker cannot work under strace.
    export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    local ended=0
    for file in in.png in.tif in_40x30_u8.raw; do
        suffix=${file##*.}
        rm -rf out
        mkdir out
        for call in openat pread64 pwrite64 write fallocate fsync linkat renameat renameat2 close; do
            for n in 1 2 3 5 8; do
                for signal in TERM:143 INT:130; do
                    cp "old.$suffix" "out/$file"
                    attempt env --default-signal=INT,TERM strace -f -o /dev/null -e trace="$call" \
                        -e inject="$call:signal=SIG${signal%:*}:when=$n" "$GPUFILT" blur -k gauss5 "$file" "out/$file"
                    what="$file: SIG${signal%:*} at $call $n"
                    [ "$status" -eq 0 ] || [ "$status" -eq "${signal#*:}" ] || fail "$what"
                    [ "$status" -eq 0 ] || [ -z "$stderr" ] || fail "$what: words"
                    [ "$status" -eq 0 ] || ended=$((ended + 1))
                    old_or_new "out/$file" "$suffix" "$status" "$what" either
                done
            done
        done
    done
    echo "$ended runs ended by a signal"
    [ "$ended" -ge 20 ]
}

@test "system calls that fail beneath the program: no wrong output with status 0" {
    can_trace || skip 'strace is not allowed'
    inputs
    export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    for file in in.png in.tif; do
        suffix=${file##*.}
        rm -rf out
        mkdir out
        for call in pread64:EIO pwrite64:ENOSPC write:ENOSPC fsync:EIO renameat:EACCES linkat:EPERM fallocate:ENOSPC \
                    openat:EMFILE close:EIO; do
            for n in 1 2 4 1+; do
                # The loader's own calls cannot be told apart: an openat that fails for good is its.
                [[ $call != openat:* && $call != pread64:* && $call != close:* || $n != '1+' ]] || continue
                cp "old.$suffix" "out/$file"
                attempt strace -f -o /dev/null -e trace="${call%:*}" \
                    -e inject="${call%:*}:error=${call#*:}:when=$n" "$GPUFILT" blur -k gauss5 "$file" "out/$file"
                what="$file: $call $n"
                case $status in
                0 | 3 | 4 | 6) ;;
                1 | 127) [[ $call == openat:* || $call == pread64:* || $call == close:* || $call == write:* ]] || fail "$what" ;;
                *) fail "$what: status $status" ;;
                esac
                old_or_new "out/$file" "$suffix" "$status" "$what" either
            done
        done
    done
}

@test "kills at random moments: old or new, at most one temporary after SIGKILL" {
    python3 - "$GPUFILT" "$samples/ct_96x96x64_u16le.raw" <<'END'
import os, random, signal, subprocess, sys, time
program, source = sys.argv[1:]
os.mkdir('k')
out = 'k/out_96x96x64_u16le.raw'
command = [program, 'blur', '--sigma', '2', '--sync', 'none', source, out]
start = time.time()
subprocess.run(command, check=True)
took = time.time() - start
new, old = open(out, 'rb').read(), b'old'
random.seed(1)
def defaults():
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(s, signal.SIG_DFL)
ended = 0
for n in range(60):
    s = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)[n % 5]
    with open(out, 'wb') as f:
        f.write(old)
    p = subprocess.Popen(command, preexec_fn=defaults, stderr=subprocess.PIPE)
    time.sleep(random.random() * took * 1.1)
    p.send_signal(s)
    words = p.communicate()[1]
    found = open(out, 'rb').read()
    assert found in (old, new), 'torn after %s' % s
    assert p.returncode in (0, -s), (p.returncode, s, words)
    assert p.returncode != 0 or found == new
    left = sorted(set(os.listdir('k')) - {os.path.basename(out)})
    assert len(left) <= (s == signal.SIGKILL), (s, left)
    for name in left:
        os.unlink('k/' + name)
    ended += p.returncode != 0
print(ended, 'of 60 ended by their signal')
END
}

@test "a signal ends a run within one slab, however many taps there are" {
    python3 - <<'END'
import random
random.seed(2)
with open('direct.mask', 'w') as f:
    for y in range(1200):
        f.write(' '.join(random.choices('0123456789', k=1200)) + '\n')
with open('deep.mask', 'w') as f:
    for z in range(40):
        f.write('---\n' if z else '')
        for y in range(200):
            f.write(' '.join(random.choices('0123456789', k=200)) + '\n')
with open('long.mask', 'w') as f:
    for axis in 'xy':
        f.write(axis + ' ' + ' '.join(random.choices('0123456789', k=300000)) + '\n')
open('in.ppm', 'wb').write(b'P6 3000 3000 255\n' + random.randbytes(27000000))
open('in_200x200x200_u8.raw', 'wb').write(random.randbytes(8000000))
END
    mkdir out
    for how in 'direct.mask in.ppm' 'direct.mask in.ppm -j 1' 'long.mask in.ppm' \
        'deep.mask in_200x200x200_u8.raw'; do
        # shellcheck disable=SC2086
        set -- $how
        env --default-signal=TERM "$GPUFILT" correlate -k "@$1" -t f32 -f raw "${@:2}" out/new.raw &
        pid=$!
        # The output is opened when filtering begins.
        for _ in {1..300}; do
            [[ $(readlink /proc/$pid/fd/* 2>&1) != *"$PWD/out"* ]] || break
            sleep 0.1
        done
        sleep 1
        kill -0 "$pid" || fail "$how: ended by itself"
        kill -TERM "$pid"
        for _ in {1..20}; do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        # Is there no more when it ended in time.
        ! kill -KILL "$pid" 2>/dev/null || fail "$how: not ended after 2 s"
        status=0
        wait "$pid" || status=$?
        [ "$status" -eq 143 ] || fail "$how: status $status"
        [ -z "$(ls -A out)" ] || fail "$how: left behind: $(ls -A out)"
    done
}

@test "an input that shrinks while it is read: never status 0 with wrong samples" {
    can_trace || skip 'strace is not allowed'
    inputs
    export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    # Beneath the program the file ends at once, or later.
    for n in 2 3 4 5; do
        cp old.png out/in.png
        attempt strace -f -o /dev/null -e trace=pread64 -e inject="pread64:retval=0:when=$n+" \
            "$GPUFILT" blur -k gauss5 in.png out/in.png
        case $status in
        0 | 3 | 127 | 1) ;;
        *) fail "status $status" ;;
        esac
        old_or_new out/in.png png "$status" "pread64 $n+ gives 0"
    done
}
