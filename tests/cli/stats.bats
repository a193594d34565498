#!/usr/bin/env bats
# gpufilt stats and --stats against tests/oracle/stats_oracle.py, and their manners.
load helpers
load numbers

stats_oracle=$tests/oracle/stats_oracle.py

samples_of()
{
    python3 -S -I "$stats_oracle" make "$@"
}

# right RAW OPTIONS...: the last report of `measure` is what the oracle makes of the raw samples.
right()
{
    local raw=$1
    shift
    python3 -S -I "$stats_oracle" check "$@" "$raw" report.json >wrong.txt || fail "$*: $(cat wrong.txt)"
}

measure()
{
    ok stats --json "$@"
    cp "$BATS_TEST_TMPDIR/stdout" report.json
}

# strictly FILE: one document of JSON, or with `lines` a line each; neither NaN nor Infinity.
strictly()
{
    python3 -S -I -c 'import json, sys
def bad(word): raise ValueError(word)
text = open(sys.argv[1], encoding="utf-8").read()
for part in text.splitlines() if sys.argv[2:] else [text]:
    json.loads(part, parse_constant=bad)' "$@" || fail "not strict JSON: $1"
}

# answers STATUS ARGUMENTS: gpufilt with a report on standard output also where the status is not 0.
answers()
{
    local wanted=$1
    shift
    attempt "$GPUFILT" "$@"
    [ "$status" -eq "$wanted" ] || fail "expected status $wanted: $*"
    [[ $stderr != *Sanitizer* && $stderr != *'runtime error'* ]] || fail "sanitizer: $*"
}

# column NAME: its values in the last --csv report.
column()
{
    python3 -S -I -c 'import csv, sys
print(*[row[sys.argv[2]] for row in csv.DictReader(open(sys.argv[1], newline=""))])' "$BATS_TEST_TMPDIR/stdout" "$1"
}

everything='all,p0,p0.1,p25,p62.5,p99.9,p100,hist'

@test "every type, from one sample to many" {
    local type kind shape
    for type in u8 i8 u16 i16 u32 i32 f16 f32 f64; do
        for kind in bits finite few mean; do
            for shape in 1x1 2x1 3x1 131x9; do
                samples_of $type $((${shape%x*} * ${shape#*x})) $kind >in.raw
                # Beyond the range of double there are no even bins.
                measure --raw $shape:$type --show "$everything" --range -1000,70000.5 in.raw
                right in.raw --type $type --size $shape --range=-1000,70000.5 \
                    --needs n,n_nan,n_inf,n_plus_inf,n_minus_inf,min_at,max_at,sum,mean,std,var,rms,median,percentiles,entropy,histogram
                measure --raw $shape:$type --ddof 0 in.raw
                right in.raw --type $type --size $shape --ddof 0
            done
        done
    done
}

@test "a hundred thousand samples and an odd number" {
    local type
    for type in u8 i16 u32 f16 f32 f64; do
        samples_of $type 100003 bits >in.raw
        measure --raw 100003x1:$type -p 0.001,10,99.999 --show all in.raw --range 0,100
        right in.raw --type $type --size 100003x1 --range 0,100
        samples_of $type 100003 mean >in.raw
        measure --raw 100003x1:$type -p 33.3 in.raw
        right in.raw --type $type --size 100003x1
    done
}

@test "percentiles and histograms are numpy's" {
    # Recorded from numpy 2.4: percentile(a.astype(float), [0, 0.1, 1, 25, 50, 62.5, 99.9, 100]) and
    # histogram(a, 7), histogram(a, 5, range) of these samples.
    python3 -S -I -c 'import struct
g = [(i * 7919 % 1009) for i in range(1000)]
open("u.raw", "wb").write(struct.pack("<1000H", *[v * 64 for v in g]))
open("f.raw", "wb").write(struct.pack("<1000d", *[(v / 7 - 50) * (v / 7 - 50) * (v / 7 - 50) for v in g]))'
    ok stats --raw 10x100:u16 --csv --show p0,p0.1,p1,p25,p50,p62.5,p99.9,p100 u.raw
    prints ',0,63.936,639.36,16176,32352,40408,64448.064000000006,64512'
    ok stats --raw 10x100:f64 --csv --show p0,p0.1,p1,p25,p50,p62.5,p99.9,p100 f.raw
    prints "$numpy_percentiles"
    counts u.raw:u16 --bins 7 '143 142 142 143 143 143 144' 0 0
    counts u.raw:u16 --bins 5 --range 1000,30000 '90 89 90 89 89' 16 537
    counts f.raw:f64 --bins 7 '503 211 89 64 51 43 39' 0 0
    counts f.raw:f64 --bins 5 --range=-1000,30000 '189 36 25 19 16' 277 438
    # Bins narrower than the spacing of doubles: numpy's linspace(a, b, n + 1) has equal edges, and
    # the last of them counts. It has to be found at once.
    python3 -S -I -c 'import struct
open("f.raw", "wb").write(struct.pack("<1000d", *[1e16] * 1000))'
    ok stats --raw 10x100:f64 --show hist --csv --bins 1048576 --range 1e16,10000000000000002 f.raw
    [ "$(grep -n ',1000$' "$BATS_TEST_TMPDIR/stdout")" = 524291:f.raw,,,,,1e+16,10000000000000002,1000 ] || fail "not in the right bin"
}

# counts FILE:TYPE OPTIONS... COUNTS BELOW ABOVE
counts()
{
    local file=${1%:*} type=${1#*:} wanted=("${@: -3}") found
    shift
    ok stats --raw "10x100:$type" --show hist --json "${@:1:$#-3}" "$file"
    found=$(python3 -S -I -c 'import json, sys
h = json.load(open(sys.argv[1]))["results"][0]["histogram"]
print(*h["counts"], h["below"], h["above"])' "$BATS_TEST_TMPDIR/stdout")
    [ "$found" = "${wanted[*]}" ] || fail "'$found', not '${wanted[*]}'"
}
# A row of --csv.
numpy_percentiles=,-125000,-123932.6981078717,-114599.06183673468,-2681.640670553935,10962.523323615162,64948.07179300291,826806.6761486884,830584

@test "one bin a value, and bins by default" {
    samples_of i8 2000 few >in.raw
    measure --raw 2000x1:i8 --show hist,entropy in.raw
    right in.raw --type i8 --size 2000x1 --needs histogram,entropy
    samples_of u16 2000 bits >in.raw
    measure --raw 2000x1:u16 --show hist,entropy in.raw
    right in.raw --type u16 --size 2000x1 --needs histogram,entropy
    for type in u32 f16 f32; do
        samples_of $type 2000 finite >in.raw
        measure --raw 2000x1:$type --show hist,entropy in.raw
        right in.raw --type $type --size 2000x1 --needs histogram,entropy
    done
    # Of one value, as numpy has it: half a unit to each side.
    typed in.raw f64 2.5 2.5 2.5
    measure --raw 3x1:f64 --bins 4 --show hist in.raw
    right in.raw --type f64 --size 3x1 --bins 4 --needs histogram
    typed in.raw f64 -1.7e308 1.7e308
    refused 5 stats --raw 2x1:f64 --bins 4 in.raw
    says 'give --range LOW,HIGH'
    # Other statistics do not fail for want of bins.
    ok stats --raw 2x1:f64 --show max,entropy in.raw
    prints 'entropy  nan'
}

@test "NaN, infinities, negative zero, denormals, nothing finite" {
    typed in.raw f32 nan inf -0.0 1e-45 -inf 0 -1e-45 nan inf
    measure --raw 3x3:f32 --show "$everything" --range -1,1 in.raw
    right in.raw --type f32 --size 3x3 --range=-1,1
    ok stats --raw 3x3:f32 in.raw
    prints 'n_nan   2'
    prints 'NaN and infinities left out'
    typed in.raw f64 5e-324 -5e-324 5e-324 1.7976931348623157e308 -1.7976931348623157e308
    measure --raw 5x1:f64 --show "$everything" --range -1,1 in.raw
    right in.raw --type f64 --size 5x1 --range=-1,1
    typed in.raw f32 -0.0 0 -0.0
    measure --raw 3x1:f32 in.raw
    right in.raw --type f32 --size 3x1
    for type in f16 f32 f64; do
        samples_of $type 50 nan >in.raw
        measure --raw 50x1:$type --show "$everything" in.raw
        right in.raw --type $type --size 50x1 --needs n,n_nan,median,entropy,percentiles
        grep -q '"min": null, "min_at": null' report.json || fail "extremes of nothing"
        ok stats --raw 50x1:$type --csv --show min,min_at,mean in.raw
        prints 'in.raw,,,,,nan,,,,,,nan'
    done
}

@test "--per channel, slice, page and file" {
    samples_of u16 $((7 * 5 * 4 * 3)) bits >in.raw
    for per in channel slice file; do
        measure --raw 7x5x4:u16x3 --per $per --show "$everything" in.raw
        right in.raw --type u16 --size 7x5x4 --channels 3 --per $per
    done
    "$GPUFILT" convert --raw 7x5x4:u16x3 in.raw in.tif
    for per in slice file; do
        measure --per $per in.tif
        right in.raw --type u16 --size 7x5x4 --channels 3 --per $per
    done
    make <<'ENDPY'
values = struct.unpack('<420H', open('in.raw', 'rb').read())
t = Tiff()
for z in range(4):
    plane = values[105 * z:105 * (z + 1)]
    t.page([[plane[3 * (7 * y + x):][:3] for x in range(7)] for y in range(5)], 16, RGB)
save('pages.tif', t.bytes())
ENDPY
    for per in channel page file; do
        measure --per $per pages.tif
        right in.raw --type u16 --size 7x5x4 --channels 3 --per $per --pages
    done
    measure --per slice --3d pages.tif
    right in.raw --type u16 --size 7x5x4 --channels 3 --per slice
    # The first page and the first slice say where they are, like the others.
    ok stats --csv --per page --show min_at pages.tif
    [ "$(column min_page)" = '0 1 2 3' ] || fail "pages of places: $(column min_page)"
    ok stats --csv --per slice --3d --show min_at pages.tif
    [ "$(column min_z)" = '0 1 2 3' ] || fail "slices of places: $(column min_z)"
}

@test "pages of several sizes and types" {
    make <<'ENDPY'
t = Tiff()
t.page(rows(3, [1, 2, 3, 4, 5, 6]), 8, GRAY)
t.page(rows(2, [60, 50]), 8, GRAY, compression=8)
t.page(rows(1, [9]), 8, GRAY)
save('sizes.tif', t.bytes())
t = Tiff('>')
t.page(rows(2, [1, 2]), 8, GRAY)
t.page(rows(2, [1000, 3000]), 16, GRAY)
save('types.tif', t.bytes())
t = Tiff()
t.page(rows(2, [1, 2]), 8, GRAY)
t.page([[[1, 2, 3], [4, 5, 6]]], 8, RGB)
save('channels.tif', t.bytes())
ENDPY
    ok stats --csv --show n,sum,max,max_at sizes.tif
    prints 'sizes.tif,,,,,9,140,60,0,0,,,1'
    ok stats --csv --per page --show n,sum,median sizes.tif
    [ "$(column sum)" = '21 110 9' ] || fail "sums"
    [ "$(column page)" = '0 1 2' ] || fail "pages"
    [ "$(column median)" = '3.5 55 9' ] || fail "medians"
    refused 5 stats types.tif
    says 'page 1 is u8, page 2 is u16; --per page'
    ok stats --csv --per page --show max types.tif
    [ "$(column max)" = '2 3000' ] || fail "types"
    refused 5 stats --per channel channels.tif
    says '--per page'
    ok stats --csv --show n,sum channels.tif
    [ "$(column sum)" = 24 ] || fail "channels"
    refused 2 stats --roi 0,0+2x1 sizes.tif
    says '--roi asks for 2 from 0 along x, there is 1'
}

@test "--roi along two and three axes" {
    samples_of f32 $((9 * 8 * 5)) finite >in.raw
    measure --raw 9x8x5:f32 --roi 2,3+4x5 in.raw
    right in.raw --type f32 --size 9x8x5 --roi 2,3,0+4x5x5
    measure --raw 9x8x5:f32 --roi 2,3,1+7x2x3 -p 10 in.raw
    right in.raw --type f32 --size 9x8x5 --roi 2,3,1+7x2x3
    measure --raw 9x8x5:f32 --roi 0,3,1+9x2x3 --per slice in.raw
    right in.raw --type f32 --size 9x8x5 --roi 0,3,1+9x2x3 --per slice
    measure --raw 9x8x5:f32 --roi 8,7,4+1x1x1 in.raw
    right in.raw --type f32 --size 9x8x5 --roi 8,7,4+1x1x1
    # Of one plane, also the first: z is there all the same.
    measure --raw 9x8x5:f32 --roi 2,3,0+4x5x1 in.raw
    right in.raw --type f32 --size 9x8x5 --roi 2,3,0+4x5x1
    ok stats --raw 9x8x5:f32 --roi 2,3,0+1x1x1 --show min_at in.raw
    prints 'min_at  2,3,0'
    for roi in 0,0+10x1 9,0+1x1 0,0,5+1x1x1 0,0,0+1x1x6 18446744073709551615,0+2x1; do
        refused 2 stats --raw 9x8x5:f32 --roi $roi in.raw
        says --roi
    done
    refused 2 stats --raw 9x8x5:f32 --roi 0,0+0x1 in.raw
}

@test "--mask" {
    samples_of u16 $((9 * 8 * 3 * 2)) bits >in.raw
    python3 -S -I -c 'import random
random.seed(3)
open("whole_9x8x3_u8.raw", "wb").write(bytes(random.choice((0, 0, 1, 200)) for _ in range(216)))
open("plane_9x8_u8.raw", "wb").write(bytes(random.choice((0, 7)) for _ in range(72)))
open("none_9x8_u8.raw", "wb").write(bytes(72))'
    for mask in whole_9x8x3_u8.raw plane_9x8_u8.raw; do
        for more in '' '--per channel' '--per slice' '--roi 2,1,1+6x5x2'; do
            # shellcheck disable=SC2086
            measure --raw 9x8x3:u16x2 --mask $mask $more in.raw
            # shellcheck disable=SC2086
            right in.raw --type u16 --size 9x8x3 --channels 2 --mask $mask $more
        done
    done
    measure --raw 9x8x3:u16x2 --mask none_9x8_u8.raw --show "$everything" in.raw
    python3 -S -I -c 'import json
row = json.load(open("report.json"))["results"][0]
assert row["n"] == 0 and row["sum"] == 0, row
assert row["mean"] is row["min"] is row["min_at"] is row["median"] is row["percentiles"]["25"] is None, row'
    # Of floats: -0 is 0, and NaN is no data.
    local type
    for type in f16 f32 f64; do
        typed mask_5x1_$type.raw $type -0.0 nan 0 0.5 -inf
        typed in.raw u8 1 2 4 8 16
        ok stats --raw 5x1:u8 --mask mask_5x1_$type.raw --csv --show sum,max_at in.raw
        prints 'in.raw,,,,,24,4,0'
    done
    typed in.raw u8 1 2 4 8
    refused 5 stats --raw 4x1:u8 --mask plane_9x8_u8.raw in.raw
    says "plane_9x8_u8.raw: is 9x8x1, but in.raw is 4x1x1"
    typed colour_4x1_u8x3.raw u8 1 2 3 4 5 6 7 8 9 10 11 12
    refused 5 stats --raw 4x1:u8 --mask colour_4x1_u8x3.raw in.raw
    says 'has 1 image of 3 channels; a mask is one image of one channel'
    refused 3 stats --raw 4x1:u8 --mask missing.png in.raw
    says missing.png
}

@test "--labels" {
    samples_of f32 $((9 * 8 * 3)) bits >in.raw
    python3 -S -I -c 'import random, struct
random.seed(4)
def save(name, code, choose):
    values = [choose() for _ in range(216)]
    open(name, "wb").write(struct.pack("<216" + code, *values))
save("l_9x8x3_u8.raw", "B", lambda: random.choice((0, 0, 1, 255)))
save("l_9x8x3_u16.raw", "H", lambda: random.randrange(65536))
save("l_9x8x3_i32.raw", "i", lambda: random.choice((-2**31, -1, 0, 5, 2**31 - 1)))
save("m_9x8x3_u8.raw", "B", lambda: random.choice((0, 1)))'
    for type in u8 u16 i32; do
        measure --raw 9x8x3:f32 --labels l_9x8x3_$type.raw -p 10 in.raw
        right in.raw --type f32 --size 9x8x3 --labels l_9x8x3_$type.raw --label-type $type
        measure --raw 9x8x3:f32 --labels l_9x8x3_$type.raw --mask m_9x8x3_u8.raw in.raw
        right in.raw --type f32 --size 9x8x3 --labels l_9x8x3_$type.raw --label-type $type --mask m_9x8x3_u8.raw
    done
    measure --raw 9x8x3:f32 --labels l_9x8x3_i32.raw --roi 1,2,1+5x4x2 in.raw
    right in.raw --type f32 --size 9x8x3 --labels l_9x8x3_i32.raw --label-type i32 --roi 1,2,1+5x4x2
    ok stats --raw 9x8x3:f32 --labels l_9x8x3_i32.raw --csv --show n in.raw
    [ "$(column label)" = '-2147483648 -1 0 5 2147483647' ] || fail "labels: $(column label)"
    ok stats --raw 9x8x3:f32 --labels l_9x8x3_i32.raw --show n in.raw
    prints $'\n-2147483648  '
    samples_of u8 $((9 * 8 * 3 * 3)) bits >colour.raw
    measure --raw 9x8x3:u8x3 --labels l_9x8x3_u8.raw colour.raw
    right colour.raw --type u8 --size 9x8x3 --channels 3 --labels l_9x8x3_u8.raw
    refused 5 stats --raw 9x8:f32 --labels l_9x8x3_u8.raw <(head -c 288 in.raw)
    refused 5 stats --raw 8x9x3:f32 --labels l_9x8x3_u8.raw in.raw
    says 'labels have the image'
    cp in.raw f_9x8x3_f32.raw
    refused 5 stats --raw 9x8x3:f32 --labels f_9x8x3_f32.raw in.raw
    says 'has 1 channel of f32; labels are one channel of an integer type'
    refused 2 stats --raw 9x8x3:f32 --labels l_9x8x3_u8.raw --per slice in.raw
    says '--labels and --per'
}

@test "masks and labels of pages, taken as one volume" {
    samples_of u8 $((5 * 4 * 3)) bits >in.raw
    printf '%b' "$(printf '\\1\\0\\2\\0\\3%.0s' 1 2 3 4 5 6 7 8 9 10 11 12)" >labels.raw
    # Pages that nothing but --3d makes a volume.
    make <<'ENDPY'
for name in 'in', 'labels':
    samples = open(name + '.raw', 'rb').read()
    t = Tiff()
    for z in range(3):
        t.page(rows(5, samples[20 * z:20 * z + 20]), 8, GRAY)
    save(name + '.tif', t.bytes())
ENDPY
    measure --3d --labels labels.tif in.tif
    right in.raw --type u8 --size 5x4x3 --labels labels.raw
    measure --3d --mask labels.tif in.tif
    right in.raw --type u8 --size 5x4x3 --mask labels.raw
}

@test "big-endian samples, and standard input" {
    local type
    for type in i16 u32 f32 f64; do
        samples_of $type 60 bits >in.raw
        measure --raw 10x6:${type}be in.raw
        right in.raw --type $type --size 10x6 --be
    done
    "$GPUFILT" stats --json --raw 10x6:f64be - <in.raw >report.json || fail "standard input"
    right in.raw --type f64 --size 10x6 --be
    cat "$samples/camera.png" | "$GPUFILT" stats --csv --show sum,median - >pipe.csv
    ok stats --csv --show sum,median "$samples/camera.png"
    [ "$(tail -1 pipe.csv | cut -d, -f2-)" = "$(tail -1 "$BATS_TEST_TMPDIR/stdout" | cut -d, -f2-)" ] ||
        fail "a pipe gives other numbers"
    for beside in "- -" "- --mask -" "in.raw --labels - --mask -" "in.raw in.raw --mask -"; do
        refused 2 stats --raw 10x6:u32 $beside
        says 'standard input can be read only once'
    done
    # A second look at what cannot be kept.
    samples_of u8 18000000 few >large.raw
    ok convert --level 1 --raw 3000x2000:u8x3 large.raw large.png
    expect 6 "$GPUFILT" stats --per channel --max-memory 16M - < <(cat large.png)
    says 'standard input: has to be read more than once'
    expect 0 "$GPUFILT" stats --per channel --max-memory 96M - < <(cat large.png)
    # A file is opened again, and keeps its name; a pipe by name is not.
    ok stats --per channel --max-memory 16M --csv --show n large.png
    [ "$(column file)" = 'large.png large.png large.png' ] || fail "the name of a file opened again"
    mkfifo pipe
    cat large.png >pipe &
    expect 6 timeout 60 "$GPUFILT" stats --per channel --max-memory 16M pipe
    says 'pipe: has to be read more than once'
    wait
}

# exchanged FROM BY COMMAND...: as soon as the command has opened FROM, that becomes BY. It has to say
# so, with status 3.
exchanged()
{
    python3 -S -I - "$@" <<'ENDPY'
import os, signal, subprocess, sys
before, by = map(os.path.abspath, sys.argv[1:3])
p = subprocess.Popen(sys.argv[3:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
def opened():
    try:
        return before in [os.readlink(f.path) for f in os.scandir('/proc/%d/fd' % p.pid)]
    except OSError:
        return False
while p.poll() is None and not opened():
    pass
p.send_signal(signal.SIGSTOP)
os.rename(by, before)
p.send_signal(signal.SIGCONT)
out, err = p.communicate()
wanted = ('gpufilt: %s: changed while it was read\n' % os.path.basename(before)).encode()
assert p.returncode == 3 and out == b'' and err == wanted, (p.returncode, out, err)
ENDPY
}

@test "a file that is another one when it is looked at again" {
    samples_of u8 12000000 few >in.raw
    ok convert --level 1 --raw 2000x2000:u8x3 in.raw a.png
    ok convert --level 1 --raw 1000x4000:u8x3 in.raw b.png
    exchanged a.png b.png "$GPUFILT" stats --per channel --max-memory 16M a.png
    ok convert --raw 2000x2000:u8x3 in.raw a.tif
    ok convert --raw 1000x4000:u8x3 in.raw b.tif
    exchanged a.tif b.tif "$GPUFILT" blur -k gauss3 -t f32 --stats a.tif out.tif
    [ ! -e out.tif ] || fail "written all the same"
}

# A PNG whose last checksum is wrong: the rows are there when that is found.
spoil()
{
    python3 -S -I -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-17] ^= 1
open(sys.argv[2], "wb").write(data)' "$1" "$2"
}

@test "several files, some of them bad: nothing is left of those" {
    cp "$samples/camera.png" a.png
    cp "$samples/cell.png" c.png
    spoil a.png bad.png
    head -c 3000 a.png >cut.png
    local layout
    for layout in --json --jsonl --csv --tsv --show=n,mean,hist; do
        answers 0 stats --roi 0,0+9x9 $layout a.png c.png
        cp "$BATS_TEST_TMPDIR/stdout" wanted
        answers 8 stats --roi 0,0+9x9 $layout bad.png a.png missing.png cut.png c.png bad.png
        cmp "$BATS_TEST_TMPDIR/stdout" wanted || fail "$layout: rows of bad files, or good ones lost"
        [ "${#stderr_lines[@]}" -eq 5 ] || fail "a line for each bad file and one for all"
        says 'bad.png: '
        says '4 of 6 files failed'
    done
    answers 8 stats --roi 0,0+9x9 --json bad.png a.png
    strictly "$BATS_TEST_TMPDIR/stdout"
    refused 3 stats bad.png
    refused 3 stats --roi 0,0+9x9 bad.png
    refused 3 stats cut.png
    # No verdict on them either.
    answers 8 stats --roi 0,0+9x9 --assert 'n == 0 || max > 300' bad.png a.png
    [[ $stderr != *'bad.png: --assert'* ]] || fail "a verdict on a bad file"
    says 'a.png: --assert'
    # Slices and a truncated file: found at once for raw samples, on the way for a TIFF.
    samples_of u8 6000 bits >v_10x20x30_u8.raw
    head -c 5999 v_10x20x30_u8.raw >w_10x20x30_u8.raw
    answers 8 stats --csv --per slice w_10x20x30_u8.raw v_10x20x30_u8.raw
    [ "$(column file | tr ' ' '\n' | sort -u)" = v_10x20x30_u8.raw ] || fail "slices of a bad file"
    ok convert --compression deflate --raw 10x20x30:u8 v_10x20x30_u8.raw v.tif
    python3 -S -I -c 'import sys
data = bytearray(open("v.tif", "rb").read())
data[4500:4800] = bytes(300)
open("w.tif", "wb").write(data)'
    answers 8 stats --csv --per slice --3d w.tif v.tif
    [ "$(column file | tr ' ' '\n' | sort -u)" = v.tif ] || fail "slices of a bad TIFF"
    # A region outside one of them is that file's failure, in either order.
    typed small_4x4_u8.raw u8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
    ok stats --csv --show n,sum --roi 0,0+9x9 a.png
    cp "$BATS_TEST_TMPDIR/stdout" wanted
    for files in 'small_4x4_u8.raw a.png' 'a.png small_4x4_u8.raw'; do
        # shellcheck disable=SC2086
        answers 8 stats --csv --show n,sum --roi 0,0+9x9 $files
        cmp "$BATS_TEST_TMPDIR/stdout" wanted || fail "a region outside: $files"
        says 'small_4x4_u8.raw: --roi asks for 9 from 0 along x, there is 4'
    done
    refused 2 stats --roi 0,0+9x9 small_4x4_u8.raw
    # A mask is verified too.
    refused 3 stats --roi 0,0+9x9 --mask bad.png a.png
}

@test "text of several files: a table, or what a table is too wide for" {
    cp "$samples/camera.png" a.png
    cp "$samples/chelsea.png" c.png
    ok stats --show n,min,max a.png c.png
    prints $'file        n  min  max\na.png  262144    0  255\nc.png  405900    0  231'
    # More than 100 columns, and no terminal: each as when it is alone.
    ok stats --show all a.png
    grep -v '^(' "$BATS_TEST_TMPDIR/stdout" >wanted
    echo >>wanted
    ok stats --show all c.png
    cat "$BATS_TEST_TMPDIR/stdout" >>wanted
    ok stats --show all a.png c.png
    cmp "$BATS_TEST_TMPDIR/stdout" wanted || fail "not a list for each"
    # Parts of a file stay together.
    ok stats --show all --per channel a.png c.png
    [ "$(grep -c '^channel ' "$BATS_TEST_TMPDIR/stdout")" = 2 ] || fail "not a list and a table"
    prints $'\n\nc.png: 451 x 300, 3 channels, u8\nchannel  '
}

@test "--plot of a file that turns out bad writes nothing" {
    spoil "$samples/camera.png" bad.png
    refused 3 stats --roi 0,0+9x9 --plot=x.svg bad.png
    only bad.png
}

@test "--json, --jsonl, --csv and --tsv" {
    cp "$samples/camera.png" $'a,"b\n.png'
    cp "$samples/chelsea.png" c.png
    typed f_3x1_f32.raw f32 nan 1 inf
    ok stats --json --show "$everything" $'a,"b\n.png' c.png f_3x1_f32.raw
    strictly "$BATS_TEST_TMPDIR/stdout"
    python3 -S -I - "$BATS_TEST_TMPDIR/stdout" <<'ENDPY'
import json, sys
d = json.load(open(sys.argv[1]))
assert list(d) == ['schema', 'ddof', 'definitions', 'results'], list(d)
assert d['schema'] == 'gpufilt-stats-1' and d['ddof'] == 1
assert [r['file'] for r in d['results']] == ['a,"b\n.png', 'c.png', 'f_3x1_f32.raw']
names = set(d['results'][0]) - {'file', 'type', 'width', 'height', 'depth', 'channels', 'pages'}
assert names == set(d['definitions']), names ^ set(d['definitions'])
assert d['results'][2]['std'] is None and d['results'][2]['n_nan'] == 1
ENDPY
    ok stats --jsonl --per channel c.png $'a,"b\n.png'
    strictly "$BATS_TEST_TMPDIR/stdout" lines
    [ "$(wc -l <"$BATS_TEST_TMPDIR/stdout")" -eq 4 ] || fail "lines"
    ok stats --csv --per channel c.png $'a,"b\n.png'
    [ "$(column channel)" = '0 1 2 0' ] || fail "csv"
    [ "$(column file)" = $'c.png c.png c.png a,"b\n.png' ] || fail "names in csv"
    ok stats --tsv $'a,"b\n.png' c.png
    [ "$(wc -l <"$BATS_TEST_TMPDIR/stdout")" -eq 3 ] || fail "lines of tsv"
    [ "$(awk -F'\t' '{print NF}' "$BATS_TEST_TMPDIR/stdout" | sort -u)" = 24 ] || fail "fields of tsv"
    refused 2 stats --json --csv c.png
    says 'exclude each other'
    refused 2 stats --csv --show mean,hist c.png
    ok stats --csv --show hist c.png
    [ "$(wc -l <"$BATS_TEST_TMPDIR/stdout")" -eq 257 ] || fail "bins in csv"
}

@test "--assert" {
    typed in_5x1_f32.raw f32 1 2 3 nan inf
    typed none_2x1_f32.raw f32 nan nan
    ok stats --assert 'n == 3 && mean <= 2 && p99 < 3 && sum * 2 == 12' in_5x1_f32.raw
    answers 1 stats --assert 'max < 3 && n_nan == 0' in_5x1_f32.raw
    prints 'mean'
    [ "$stderr" = 'gpufilt: in_5x1_f32.raw: --assert: max < 3 is not true: max = 3' ] || fail "the message"
    # NaN holds in no comparison, and not in its opposite either.
    answers 1 stats --assert 'mean < 1' none_2x1_f32.raw
    says 'mean = nan'
    answers 1 stats --assert '!(mean < 1)' none_2x1_f32.raw
    answers 1 stats --assert 'mean != 1' none_2x1_f32.raw
    ok stats --assert 'mean < 1 || n == 0' none_2x1_f32.raw
    for wrong in '' 'mean' 'n ==' 'mean < 1 < 2' 'meen > 1' '!n' 'min_at == 0' '(n == 1' 'p101 < 1' 'n == 1 junk'; do
        refused 2 stats --assert "$wrong" in_5x1_f32.raw
        says --assert
    done
    # Every row counts; all that fail are named.
    answers 1 stats --csv --show n --assert 'n_nan == 1' in_5x1_f32.raw none_2x1_f32.raw in_5x1_f32.raw none_2x1_f32.raw
    [ "${#stderr_lines[@]}" -eq 2 ] || fail "a line for every row that fails"
    [ "$(column n)" = '3 0 3 0' ] || fail "the report"
    answers 8 stats --assert 'n == 0' in_5x1_f32.raw missing.raw
    says 'n = 3'
}

@test "--plot" {
    cp "$samples/cell.png" in.png
    ok stats --plot --show n in.png
    prints '#####'
    ok stats --plot=x.svg --show n in.png
    python3 -I -c 'import xml.dom.minidom as m
d = m.parse("x.svg")
assert d.documentElement.tagName == "svg", d.documentElement.tagName'
    ok stats --plot=x.png --json in.png
    strictly "$BATS_TEST_TMPDIR/stdout"
    ok info x.png
    prints '800 x 480'
    ok convert x.png -f raw x.raw
    only in.png x.svg x.png x.raw
    rm x.*
    refused 2 stats --plot=x.gif in.png
    refused 2 stats --plot=x.svg in.png in.png
    says '2 files'
    refused 2 stats --plot=x.svg --per channel "$samples/chelsea.png"
    says 'several rows'
    refused 2 stats --plot --json in.png
    # A picture's name after a blank is an input.
    refused 2 stats --plot h.png in.png
    says '--plot=h.png'
    cp in.png h.png
    ok stats --plot h.png in.png
    rm h.png
    ok stats --plot=x.svg --per channel in.png
    rm x.svg
    # What does not hold is drawn all the same.
    answers 1 stats --plot=x.svg --assert 'n == 0' in.png
    only in.png x.svg
}

@test "the same bytes from any threads, memory, instruction set and device" {
    local type kind
    for type in u8 u16 i32 f16 f32 f64; do
        for kind in bits mean; do
            samples_of $type 50021 $kind >in.raw
            set -- stats --json --show "$everything" --range -9,1e6 --raw 50021x1:$type in.raw
            ok "$@" -j 1
            cp "$BATS_TEST_TMPDIR/stdout" wanted.json
            for how in '-j 2' '-j 7' '--max-memory 24M' '--max-memory 2G'; do
                # shellcheck disable=SC2086
                ok "$@" $how
                cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "$type $kind $how"
            done
            for level in baseline avx2; do
                GPUFILT_CPU=$level attempt "$GPUFILT" "$@"
                [ "$status" -eq 0 ] || { says "GPUFILT_CPU" && continue; }
                cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "$type $kind $level"
            done
        done
    done
}

@test "the same bytes from the kernels in software" {
    "$GPUFILT" stats --device simt "$samples/cell.png" >/dev/null 2>&1 || skip "a build without the simt device"
    for type in u8 u16 i32 f16 f32 f64; do
        samples_of $type 5003 bits >in.raw
        set -- stats --json --show "$everything" --range -9,1e6 --raw 5003x1:$type in.raw
        ok "$@"
        cp "$BATS_TEST_TMPDIR/stdout" wanted.json
        ok "$@" --device simt
        cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "$type on simt"
    done
}

# as_output OUT ARGUMENTS...: --stats of a filter is what gpufilt stats says of its output.
as_output()
{
    local out=$1
    shift
    ok "$@" --stats
    cp "$BATS_TEST_TMPDIR/stdout" with.txt
    ok stats "$out"
    cmp with.txt "$BATS_TEST_TMPDIR/stdout" || fail "not the output's: $*"
}

@test "--stats of a filter" {
    cp "$samples/chelsea.png" in.png
    as_output out.png blur -k gauss5 in.png out.png
    as_output out.tif blur --sigma 2 -t f32 in.png out.tif
    as_output out.tif convert -t f64 --roi 10,20+30x40 in.png out.tif
    make <<'ENDPY'
t = Tiff()
t.page(rows(3, [1, 2, 3, 4, 5, 6]), 8, GRAY)
t.page(rows(2, [60, 50]), 8, GRAY)
save('pages.tif', t.bytes())
ENDPY
    as_output out.tif convert -t f32 pages.tif out.tif
    as_output out.tif blur --raw 96x96x64:u16 --sigma 1 "$samples/ct_96x96x64_u16le.raw" out.tif
    ok blur -k gauss3 --stats=mean,p99,std --json in.png out.png
    strictly "$BATS_TEST_TMPDIR/stdout"
    prints '"file": "out.png"'
    refused 2 blur -k gauss3 --json in.png out.png
    refused 2 blur -k gauss3 --stats=meen in.png out.png
    says "--stats: there is no statistic 'meen'"
    # To standard output: the report goes the other way.
    attempt "$GPUFILT" blur -k gauss3 -t f32 -f tiff --stats in.png -
    [ "$status" -eq 0 ] || fail "to standard output"
    says 'median'
    cmp <("$GPUFILT" blur -k gauss3 -t f32 -f tiff in.png -) "$BATS_TEST_TMPDIR/stdout"
}

@test "a histogram between denormals: no bins, or fewer" {
    python3 -S -I -c 'import array, sys
sys.stdout.buffer.write(array.array("d", [0, 5e-324, 1e-323, 0]).tobytes())' >low_2x2x1_f64le.raw
    refused 5 stats --show hist low_2x2x1_f64le.raw
    refused 5 stats --show hist --bins 256 --range 0,1e-322 low_2x2x1_f64le.raw
    ok stats --show hist --bins 2 low_2x2x1_f64le.raw
}

@test "labels of which the mask leaves nothing" {
    head -c 64 /dev/zero >none_8x8x1_u8.raw
    refused 5 stats --labels none_8x8x1_u8.raw --mask none_8x8x1_u8.raw --assert 'n > 0' \
        none_8x8x1_u8.raw
    says 'leaves no pixel'
}

@test "--stats on the device that filters, whatever its chunks" {
    "$GPUFILT" stats --device simt "$samples/cell.png" >/dev/null 2>&1 || skip "a build without the simt device"
    make <<'ENDPY'
t = Tiff()
t.page(rows(3, [1, 2, 3, 4, 5, 6]), 8, GRAY)
t.page(rows(2, [60, 50]), 8, GRAY)
save('pages.tif', t.bytes())
ENDPY
    local chunk
    local -a filter
    for filter in "blur --sigma 2 -t f32 $samples/camera.png" "convert -t f32 pages.tif" \
        "blur --sigma 1 -t f64 --roi 5,6,7+50x40x30 $samples/ct_96x96x64_u16le.raw" \
        "blur --sigma 1 --2d $samples/ct_96x96x64_u16le.raw" "correlate -k sobel-x $samples/chelsea.png"; do
        read -ra filter <<<"$filter"
        ok "${filter[@]}" --stats=all,p1,p99,hist --json --device cpu out.tif
        cp "$BATS_TEST_TMPDIR/stdout" wanted.json
        for chunk in '' 7x5 1000x1; do
            GPUFILT_TEST_CHUNK=$chunk ok "${filter[@]}" --stats=all,p1,p99,hist --json --device simt out.tif
            cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "${filter[*]}, chunks $chunk"
        done
    done
}

@test "--gpu-memory is for the filter and the measuring of its output together" {
    "$GPUFILT" stats --device simt "$samples/cell.png" >/dev/null 2>&1 || skip "a build without the simt device"
    head -c 11520 "$samples/ct_96x96x64_u16le.raw" >ct_24x20x12_u16le.raw
    local -a filter=(blur --sigma 0.5 -t f32 --stats=mean,std,max_at --json --layout packed ct_24x20x12_u16le.raw out.tif)
    local size least=
    ok "${filter[@]}" --device cpu
    cp "$BATS_TEST_TMPDIR/stdout" wanted.json
    # The device has no more than is allowed.
    for ((size = 100; size < 1000; size += 20)); do
        GPUFILT_TEST_CUDA_MEMORY=$((size * 1024)) attempt "$GPUFILT" "${filter[@]}" --device simt --gpu-memory ${size}K
        if [ "$status" -eq 0 ]; then
            least=${least:-$size}
            cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "other statistics with ${size}K"
        else
            [ -z "$least" ] || fail "$least K are enough, and $size K are not"
            [ "$status" -eq 6 ] || fail "status $status with ${size}K"
            [ "${#stderr_lines[@]}" -eq 1 ] || fail "not one line with ${size}K"
            says "--gpu-memory allows $size KiB; raise it"
        fi
    done
    [ -n "$least" ] && [ "$least" -lt 400 ] || fail "${least:-nothing} is the least"
}

@test "--stats while the device runs out of memory at any call" {
    "$GPUFILT" stats --device simt "$samples/cell.png" >/dev/null 2>&1 || skip "a build without the simt device"
    head -c 11520 "$samples/ct_96x96x64_u16le.raw" >ct_24x20x12_u16le.raw
    local -a filter=(blur --sigma 0.5 -t f32 --stats=all,p1 --json ct_24x20x12_u16le.raw out.tif)
    local call fine=0
    ok "${filter[@]}" --device cpu
    cp "$BATS_TEST_TMPDIR/stdout" wanted.json
    cp out.tif wanted.tif
    for call in $(seq 1 5 300); do
        rm out.tif
        GPUFILT_TEST_CHUNK=7x3 GPUFILT_TEST_CUDA=$call:cudaErrorMemoryAllocation \
            attempt "$GPUFILT" "${filter[@]}" --device simt
        if [ "$status" -eq 0 ]; then
            cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "other statistics after call $call failed"
            cmp wanted.tif out.tif || fail "another file after call $call failed"
            fine=$((fine + 1))
        else
            [ "$status" -eq 6 ] || [ "$status" -eq 7 ] || fail "status $status after call $call failed"
            [ ! -e out.tif ] || fail "a file is left after call $call failed"
            [ ! -s "$BATS_TEST_TMPDIR/stdout" ] || fail "a report after call $call failed"
            : >out.tif
        fi
    done
    [ "$fine" -gt 30 ] || fail "only $fine runs went on"
}

@test "--stats of a batch" {
    cp "$samples/camera.png" a.png
    cp "$samples/cell.png" c.png
    spoil a.png bad.png
    ok blur -k gauss3 -o out --stats --json a.png c.png
    cp "$BATS_TEST_TMPDIR/stdout" wanted.json
    strictly wanted.json
    answers 8 blur -k gauss3 -o out --stats --json bad.png a.png missing.png c.png
    cmp wanted.json "$BATS_TEST_TMPDIR/stdout" || fail "rows of files that failed"
    [ ! -e out/bad.png ] || fail "a bad file's output"
    # A report that cannot be printed is one line more, and changes nothing else.
    attempt bash -c '"$GPUFILT" blur -k gauss3 -o out --stats bad.png a.png >/dev/full'
    [ "$status" -eq 8 ] || fail "a report that cannot be printed"
    [ "${#stderr_lines[@]}" -eq 3 ] || fail "not a line for the file, the report and the batch"
    [[ ${stderr_lines[1]} == *'standard output'* ]] || fail "not said: the report"
    attempt bash -c '"$GPUFILT" stats bad.png a.png >/dev/full'
    [ "$status" -eq 4 ] || fail "of stats"
    # All are done, and nobody hears of it.
    attempt bash -c '"$GPUFILT" blur -k gauss3 -o out --stats a.png c.png >/dev/full'
    [ "$status" -eq 4 ] || fail "of a batch that went well"
    # What is not written is not reported either.
    refused 1 correlate -k '3' --on-clip error --stats a.png clipped.png
    [ ! -e clipped.png ]
}

@test "--stats of standard input: one look, or a clear word" {
    "$GPUFILT" convert -t f32 "$samples/cell.png" in.tif
    "$GPUFILT" convert -f raw in.tif in.raw
    expect 6 "$GPUFILT" blur --raw 550x660:f32 -k gauss3 --stats - out.tif <in.raw
    says 'cannot be read again'
    [ ! -e out.tif ] || fail "written all the same"
    # A pipe by name is not there twice either.
    mkfifo pipe
    cat in.raw >pipe &
    expect 6 timeout 60 "$GPUFILT" blur --raw 550x660:f32 -k gauss3 --stats pipe out.tif
    says 'pipe: these statistics take more than one look'
    wait
    expect 0 "$GPUFILT" blur --raw 550x660:f32 -k gauss3 --stats=mean,std,max - out.tif <in.raw
    expect 0 "$GPUFILT" blur --raw 550x660:u8 -k gauss3 --stats - out.png < <("$GPUFILT" convert -f raw "$samples/cell.png" -)
}

@test "much larger than the memory it may take" {
    python3 -S -I -c '
import array
block = array.array("f", [(i * 7919 % 10007) / 8 for i in range(1 << 20)]).tobytes()
with open("in.raw", "wb") as f:
    for i in range(75):
        f.write(block)'
    ok stats --raw 1024x76800:f32 --max-memory 32M -p 1,99 --csv --show n,sum,median in.raw
    [ "$(column n)" = 78643200 ] || fail "n"
    cp "$BATS_TEST_TMPDIR/stdout" small.csv
    ok stats --raw 1024x76800:f32 --max-memory 2G -p 1,99 --csv --show n,sum,median in.raw
    cmp small.csv "$BATS_TEST_TMPDIR/stdout"
    rm in.raw
}

@test "a file that is cut, or shrinks while it is read" {
    head -c 4000 "$samples/cell.png" >cut.png
    refused 3 stats cut.png
    says cut.png
    head -c 99 /dev/zero >short_10x10_u8.raw
    refused 3 stats short_10x10_u8.raw
    refused 3 stats --raw 10x10:u8 --json short_10x10_u8.raw
    python3 - "$GPUFILT" <<'ENDPY'
import os, subprocess, sys, time
for jobs in '1', '3':
    # Long enough that it is still being read when it gets shorter.
    with open('in.raw', 'wb') as f:
        f.truncate(1 << 30)
    p = subprocess.Popen([sys.argv[1], 'stats', '-j', jobs, '--raw', '32768x4096:f64', '-p', '1,2,3', 'in.raw'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.1)
    os.truncate('in.raw', 1000)
    out, err = p.communicate()
    assert p.returncode == 3 and out == b'' and b'in.raw: ' in err and err.count(b'\n') == 1, (p.returncode, out, err)
ENDPY
}

@test "interrupted: the signal's status, and no report" {
    python3 - "$GPUFILT" <<'ENDPY'
import os, signal, subprocess, sys, time
with open('in.raw', 'wb') as f:
    f.truncate(2 << 30)
for jobs in '1', '3':
    p = subprocess.Popen([sys.argv[1], 'stats', '-j', jobs, '--raw', '32768x8192:f64', '--json', 'in.raw'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = p.communicate()
    assert p.returncode == -signal.SIGINT and out == b'', (p.returncode, out, err)
    assert time.monotonic() - start < 5, 'late'
ENDPY
    rm in.raw
}

@test "usage" {
    cp "$samples/cell.png" in.png
    refused 2 stats
    says 'no file'
    for option in '-p 101' '-p 1,,2' '-p x' '-p -1' '--per row' '--ddof 2' '--bins 0' '--bins 9999999' '--range 1,1' \
        '--range 5' '--range nan,1' '--show meen' '--device tpu' '-o x'; do
        # shellcheck disable=SC2086
        refused 2 stats $option in.png
    done
    refused 2 stats --bins 4 --show mean in.png
    refused 2 stats --assert 'average > 1' in.png
    says 'median, pNN, entropy'
    [[ $stderr != *min_at* && $stderr != *hist* ]] || fail "offered to --assert: places, the histogram"
    refused 2 blur -k gauss3 --stats mean in.png out.png
    says '--stats=NAME'
    # Each section of the help is there once.
    for command in stats blur; do
        "$GPUFILT" $command --help >help.txt
        grep ':$' help.txt | sort | uniq -d >twice
        [ ! -s twice ] || fail "$command: $(cat twice)"
    done
    ok help statistics
    prints 'n_minus_inf'
}
