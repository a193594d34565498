# Samples as numbers, for tests whose right answers are literal. Loaded after helpers.
# shellcheck shell=bash disable=SC2154

# make: runs a Python program from standard input, the corpus' writers imported.
make()
{
    python3 -S -I -B -c '
import os, struct, sys, zlib
sys.path.insert(0, sys.argv[1])
from common import *
from coders import *
from png_files import png, chunk, header, palette_chunk, SIGNATURE
from tiff_files import *
from plain_files import jpeg
def save(name, data):
    with open(name, "wb") as f:
        f.write(data)
def rows(width, values):
    return [[[v] for v in values[i:i + width]] for i in range(0, len(values), width)]
exec(sys.stdin.read())' "$tests/corpus"
}

# typed FILE TYPE NUMBERS: samples, little-endian.
typed()
{
    python3 -S -I -c 'import struct, sys
code = dict(u8="B", i8="b", u16="H", i16="h", u32="I", i32="i", f16="e", f32="f", f64="d")[sys.argv[2]]
values = [float(v) if sys.argv[2][0] == "f" else int(v) for v in sys.argv[3:]]
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<%d%s" % (len(values), code), *values))' "$@"
}

# numbers FILE TYPE: its samples on one line, floats with as many digits as they need.
numbers()
{
    case $2 in
    f*)
        python3 -S -I -c 'import struct, sys
code = dict(f16="e", f32="f", f64="d")[sys.argv[2]]
with open(sys.argv[1], "rb") as f:
    data = f.read()
def text(v):
    if v != v:
        return "nan"
    if abs(v) < 1e15 and v == int(v):
        return str(int(v))
    for n in range(1, 18):
        try:
            if struct.pack("<" + code, float("%.*g" % (n, v))) == struct.pack("<" + code, v):
                return "%.*g" % (n, v)
        except OverflowError:
            pass
print(*map(text, struct.unpack("<%d%s" % (len(data) // struct.calcsize(code), code), data)))' "$@"
        ;;
    i*) od -An -v --endian=little -td$((${2#?} / 8)) "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//' ;;
    u*) od -An -v --endian=little -tu$((${2#?} / 8)) "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//' ;;
    esac
}

# gives TYPE NUMBERS ARGUMENTS: gpufilt ARGUMENTS -t TYPE writes these samples.
gives()
{
    local type=$1 wanted=$2 found
    shift 2
    ok "$@" -q -t "$type" -f raw found.raw
    found=$(numbers found.raw "$type")
    [ "$found" = "$wanted" ] || fail "'$found', not '$wanted': $*"
}

# reads FILE TYPE NUMBERS: the file is read silently, as samples of this type.
reads()
{
    local found
    ok convert "$1" -f raw found.raw
    found=$(numbers found.raw "$2")
    [ "$found" = "$3" ] || fail "$1 holds '$found', not '$3'"
    ok info "$1"
    prints "type         $2"
}

# repeat COUNT WORDS
repeat()
{
    local i words=
    for ((i = 0; i < $1; i++)); do words+="$2 "; done
    printf %s "${words% }"
}
