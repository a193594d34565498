#!/usr/bin/env bats
# NRRD and MetaImage: every rule of their headers in hand-made files, with the right answers as
# literal numbers; headers that lie; what is kept on the way through; and what other programs read.
load helpers
load numbers

# text FILE HEADER NUMBERS: a header with \n and \0nn in it, then bytes.
text()
{
    local file=$1
    printf '%b' "$2" >"$file"
    shift 2
    [ $# -eq 0 ] || write "$file.tail" "$@"
    [ $# -eq 0 ] || cat "$file.tail" >>"$file"
    rm -f "$file.tail"
}

# nrrd FILE FIELDS NUMBERS: an attached NRRD of u8 samples, unless FIELDS say another type.
nrrd()
{
    local file=$1 fields=$2
    shift 2
    [[ $fields == *type:* ]] || fields="type: uchar\n$fields"
    [[ $fields == *encoding:* ]] || fields+="encoding: raw\n"
    text "$file" "NRRD0004\n$fields\n" "$@"
}

# meta FILE FIELDS NUMBERS: a MetaImage, MET_UCHAR and LOCAL unless FIELDS say otherwise.
meta()
{
    local file=$1 fields=$2
    shift 2
    [[ $fields == *ElementType* ]] || fields="ElementType = MET_UCHAR\n$fields"
    [[ $fields == *ElementDataFile* ]] || fields+="ElementDataFile = LOCAL\n"
    text "$file" "ObjectType = Image\n$fields" "$@"
}


# has FILE LINE: the header has exactly this line.
has()
{
    head -c 4096 "$1" | tr -d '\0' | grep -aqxF -- "$2" || { head -c 600 "$1" >&2; fail "$1 lacks the line '$2'"; }
}

lacks()
{
    ! head -c 4096 "$1" | tr -d '\0' | grep -aqF -- "$2" || { head -c 600 "$1" >&2; fail "$1 has '$2'"; }
}

# ---- NRRD, reading ----

@test "NRRD: every name of every type" {
    local names type bytes name
    while IFS='|' read -r type bytes names; do
        IFS=, read -ra list <<<"$names"
        for name in "${list[@]}"; do
            # shellcheck disable=SC2046
            nrrd in.nrrd "type: $name\ndimension: 2\nsizes: 2 1\nendian: little\n" $(repeat "$bytes" 0)  $(repeat "$bytes" 0)
            reads in.nrrd "$type" '0 0'
        done
    done <<'END'
i8|1|signed char,int8,int8_t
u8|1|uchar,unsigned char,uint8,uint8_t,UINT8
i16|2|short,short int,signed short,signed short int,int16,int16_t
u16|2|ushort,unsigned short,unsigned short int,uint16,uint16_t
i32|4|int,signed int,int32,int32_t
u32|4|uint,unsigned int,uint32,uint32_t
f32|4|float
f64|8|double
END
    for name in longlong 'long long int' int64_t uint64 'unsigned long long' block; do
        nrrd in.nrrd "type: $name\ndimension: 2\nsizes: 2 1\nendian: little\n" 0 0
        refused 5 info in.nrrd
        says "'$name'"
    done
}

@test "NRRD: both byte orders, which samples of one byte do not need" {
    nrrd big.nrrd 'type: uint16\ndimension: 1\nsizes: 2\nendian: big\n' 0 1 1 0
    reads big.nrrd u16 '1 256'
    nrrd little.nrrd 'type: uint16\ndimension: 1\nsizes: 2\nendian: little\n' 1 0 0 1
    reads little.nrrd u16 '1 256'
    nrrd none.nrrd 'type: uint16\ndimension: 1\nsizes: 2\n' 1 0 0 1
    refused 3 info none.nrrd
    says "lacks the field 'endian'"
    nrrd in.nrrd 'dimension: 1\nsizes: 2\n' 7 9
    reads in.nrrd u8 '7 9'
}

@test "NRRD: every version, line ends of DOS, comments, unknown fields and field names in any case" {
    local version
    for version in 1 2 3 4 5; do
        text in.nrrd "NRRD000$version\r\n# dimension: 9\r\nTYPE: uchar\r\nDimension: 2\r\nsizes:  2 \t2 \r\nfoo: bar\r\nencoding: raw\r\n\r\n" 1 2 13 10
        reads in.nrrd u8 '1 2 13 10'
    done
    text in.nrrd 'NRRD0006\ntype: uchar\ndimension: 1\nsizes: 1\nencoding: raw\n\n' 1
    refused 5 info in.nrrd
}

@test "NRRD: gzip behind headers of any length" {
    local length
    for length in 1 80 3900 4096 9000 70000; do
        make <<END
import gzip
save('in.nrrd', b'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 4 2\nencoding: gzip\n' +
     b'#' * $length + b'\n\n' + gzip.compress(bytes([1, 2, 3, 4, 5, 6, 7, 250]), mtime=0))
END
        reads in.nrrd u8 '1 2 3 4 5 6 7 250'
    done
}

@test "NRRD: samples as text" {
    text in.nrrd 'NRRD0001\ntype: short\ndimension: 2\nsizes: 3 2\nencoding: ASCII\n\n-1 2,3\n\n 32767\t-32768 +6'
    reads in.nrrd i16 '-1 2 3 32767 -32768 6'
    text in.nrrd 'NRRD0001\ntype: float\ndimension: 1\nsizes: 4\nencoding: txt\n\n1.5 -2e3 nan inf\n'
    ok convert in.nrrd -f raw out.raw
    [ "$(numbers out.raw f32)" = '1.5 -2000 nan inf' ]
    text in.nrrd 'NRRD0001\ntype: uchar\ndimension: 1\nsizes: 2\nencoding: text\n\n1 256\n'
    refused 3 convert in.nrrd out.png
    says "'256'"
    text in.nrrd 'NRRD0001\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: text\n\n1 1.5 3\n'
    refused 3 convert in.nrrd out.png
    text in.nrrd 'NRRD0001\ntype: uchar\ndimension: 1\nsizes: 4\nencoding: text\n\n1  2 3\n'
    refused 3 convert in.nrrd out.png
    says 'truncated'
    text in.nrrd 'NRRD0001\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: text\n\n1 2 3 4\n'
    refused 3 convert in.nrrd out.png
    says 'more numbers'
    text in.nrrd 'NRRD0001\ntype: float\ndimension: 1\nsizes: 1\nencoding: text\n\n1e39\n'
    refused 3 convert in.nrrd out.tif
    # A list of images, the last one first.
    text in.nrrd 'NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 1 3\nkinds: domain domain list\nencoding: text\n\n1 2 3 4 5 6\n'
    ok convert in.nrrd -f raw out.raw
    holds out.raw '1 2 3 4 5 6'
    ok stats --per slice --show mean in.nrrd
}

@test "NRRD: lines and bytes to skip, and samples at the end" {
    nrrd in.nrrd 'dimension: 1\nsizes: 3\nline skip: 2\nbyte skip: 1\n' 65 10 66 66 10 9 1 2 3
    reads in.nrrd u8 '1 2 3'
    nrrd in.nrrd 'dimension: 1\nsizes: 3\nbyte skip: -1\n' 65 10 66 66 10 9 1 2 3
    reads in.nrrd u8 '1 2 3'
    write data.bin 8 8 8 8 4 5 6
    text in.nhdr 'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: raw\nbyte skip: -1\ndata file: data.bin\n'
    reads in.nhdr u8 '4 5 6'
    text in.nhdr 'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: raw\nbyte skip: 4\ndata file: data.bin\n'
    reads in.nhdr u8 '4 5 6'
    text in.nhdr 'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: raw\nline skip: 4\ndata file: data.bin\n'
    refused 3 info in.nhdr
    says 'line skip'
    make <<'END'
import gzip
save('data.gz', b'one\ntwo\n' + gzip.compress(bytes([0, 0, 7, 8, 9]), mtime=0))
save('in.nhdr', b'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: gzip\nline skip: 2\nbyte skip: 2\ndata file: data.gz')
END
    reads in.nhdr u8 '7 8 9'
    text in.nhdr 'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: gzip\nbyte skip: -1\ndata file: data.gz\n'
    refused 5 info in.nhdr
}

@test "NRRD: detached samples, beside the header wherever one stands" {
    mkdir sub
    write sub/data.bin 1 2 3 4
    text sub/in.nhdr 'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nencoding: raw\ndata file: data.bin'
    reads sub/in.nhdr u8 '1 2 3 4'
    cd sub
    reads in.nhdr u8 '1 2 3 4'
    cd ..
    refused 3 info - <sub/in.nhdr
    says 'data.bin'
    mv sub/data.bin .
    refused 3 info sub/in.nhdr
    says 'data.bin'
    write sub/data.bin 1 2 3 4 5
    refused 3 info sub/in.nhdr
    write sub/data.bin 1 2 3
    refused 3 info sub/in.nhdr
}

@test "NRRD: samples in several files, listed and by pattern" {
    write a.raw 0 1 2 3
    write b.raw 4 5 6 7
    write c.raw 8 9 10 11
    local head='NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 3\nencoding: raw\n'
    text in.nhdr "${head}data file: LIST\na.raw\nb.raw\nc.raw\n"
    reads in.nhdr u8 '0 1 2 3 4 5 6 7 8 9 10 11'
    ok stats --show mean in.nhdr
    prints '5.5'
    text in.nhdr "${head}data file: LIST 2\r\nc.raw\r\nb.raw\r\na.raw"
    reads in.nhdr u8 '8 9 10 11 4 5 6 7 0 1 2 3'
    cp a.raw s0.raw; cp b.raw s1.raw; cp c.raw s2.raw
    text in.nhdr "${head}data file: s%d.raw 0 2 1\n"
    reads in.nhdr u8 '0 1 2 3 4 5 6 7 8 9 10 11'
    text in.nhdr "${head}data file: s%d.raw 2 0 -1 2\n"
    reads in.nhdr u8 '8 9 10 11 4 5 6 7 0 1 2 3'
    cp a.raw s-007.raw; cp b.raw s-009.raw; cp c.raw s-011.raw
    text in.nhdr "${head}data file: s-%03d.raw 7 11 2\n"
    reads in.nhdr u8 '0 1 2 3 4 5 6 7 8 9 10 11'
    text in.nhdr "${head}line skip: 0\nbyte skip: -1\ndata file: LIST\na.raw\nb.raw\nc.raw\n"
    write b.raw 99 99 4 5 6 7
    reads in.nhdr u8 '0 1 2 3 4 5 6 7 8 9 10 11'
    text in.nhdr "${head}data file: LIST\na.raw\nb.raw\nc.raw\n"
    refused 3 info in.nhdr
    says 'b.raw'
    text in.nhdr "${head}data file: LIST\na.raw\nmissing.raw\nc.raw\n"
    refused 3 info in.nhdr
    says 'missing.raw'
    text in.nhdr "${head}data file: LIST\na.raw\nc.raw\n"
    refused 3 info in.nhdr
    text in.nhdr "${head}data file: LIST\n"
    refused 3 info in.nhdr
    text in.nhdr "${head}data file: s%s.raw 0 2 1\n"
    refused 3 info in.nhdr
    text in.nhdr "${head}data file: s%d.raw 0 999999999 1\n"
    refused 3 info in.nhdr
    for name in a c; do gzip -9n <$name.raw >$name.gz; done
    printf '\4\5\6\7' | gzip -n >b.gz
    text in.nhdr "${head/raw/gzip}data file: LIST\na.gz\nb.gz\nc.gz\n"
    reads in.nhdr u8 '0 1 2 3 4 5 6 7 8 9 10 11'
}

@test "NRRD: which axes are channels, space and images" {
    ok_axes()
    {
        # shellcheck disable=SC2046
        nrrd in.nrrd "$1" $(seq 1 "$2")
        ok info --json in.nrrd
        prints "\"width\": $3"
        prints "\"height\": $4"
        prints "\"depth\": $5"
        prints "\"channels\": $6"
        ok convert in.nrrd -f raw out.raw
        holds out.raw "$(seq -s ' ' 1 "$2")"
        ok convert in.nrrd out.nrrd
        for field in sizes kinds 'space directions'; do
            ! grep -aq "^$field:" in.nrrd || grep -a "^$field:" in.nrrd | cmp - <(grep -a "^$field:" out.nrrd) ||
                fail "$field: $1"
        done
    }
    ok_axes 'dimension: 1\nsizes: 6\n' 6 6 1 1 1
    ok_axes 'dimension: 2\nsizes: 3 2\n' 6 3 2 1 1
    ok_axes 'dimension: 3\nsizes: 3 2 4\n' 24 3 2 4 1
    ok_axes 'dimension: 3\nsizes: 3 2 1\nkinds: space space space\n' 6 3 2 1 1
    ok_axes 'dimension: 3\nsizes: 3 2 4\nkinds: RGB-color domain domain\n' 24 2 4 1 3
    ok_axes 'dimension: 3\nsizes: 4 2 3\nkinds: RGBA-color space space\n' 24 2 3 1 4
    ok_axes 'dimension: 4\nsizes: 2 3 2 2\nkinds: vector domain domain domain\n' 24 3 2 2 2
    ok_axes 'dimension: 4\nsizes: 3 2 2 2\nkinds: domain domain domain time\n' 24 3 2 2 1
    ok_axes 'dimension: 3\nsizes: 3 2 2\nkinds: domain domain list\n' 12 3 2 1 1
    ok_axes 'dimension: 5\nsizes: 2 3 2 2 2\nkinds: 2-vector space space space list\n' 48 3 2 2 2
    ok_axes 'dimension: 4\nsizes: 7 3 2 2\nkinds: 3D-masked-symmetric-matrix space space space\n' 84 3 2 2 7
    ok_axes 'dimension: 3\nspace dimension: 2\nsizes: 3 2 2\nspace directions: none (1,0) (0,1)\n' 12 2 2 1 3
    nrrd in.nrrd 'dimension: 4\nsizes: 2 2 2 2\n' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
    refused 5 info in.nrrd
    says 'kinds:'
    nrrd in.nrrd 'dimension: 3\nsizes: 2 2 2\nkinds: domain list domain\n' 1 2 3 4 5 6 7 8
    refused 5 info in.nrrd
    nrrd in.nrrd 'dimension: 3\nsizes: 2 2 2\nkinds: RGB-color domain domain\n' 1 2 3 4 5 6 7 8
    refused 3 info in.nrrd
    says 'RGB-color'
    nrrd in.nrrd 'dimension: 2\nsizes: 2 2\nkinds: domain\n' 1 2 3 4
    refused 3 info in.nrrd
    nrrd in.nrrd 'dimension: 2\nsizes: 2 2\nkinds: domain nonsense\n' 1 2 3 4
    refused 3 info in.nrrd
}

# place FILE LINES: info's lines of the place in space.
place()
{
    local found
    ok info "$1"
    found=$(sed -n 's/^  \(spacing\|origin\|directions\|orientation\)  */\1 /p' <<<"$output")
    [ "$found" = "$2" ] || fail "$1 is at '$found', not '$2'"
}

@test "NRRD: the place in space: names, units, directions, origins" {
    local eight='1 2 3 4 5 6 7 8' space
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nsizes: 2 2 2\nspacings: 0.5 1e-1 2\n' $eight
    place in.nrrd 'spacing 0.5 x 0.1 x 2 mm'
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nsizes: 2 2 2\nspacings: 5 6 7\nunits: "um" "um" "um"\n' $eight
    place in.nrrd 'spacing 5 x 6 x 7 um'
    for space in RAS right-anterior-superior; do
        # shellcheck disable=SC2086
        nrrd in.nrrd "dimension: 3\nspace: $space\nsizes: 2 2 2\nspace directions: (2,0,0) ( 0 , 3 , 0 ) (0,0,4)\nspace origin: (1,2,3)\n" $eight
        place in.nrrd $'spacing 2 x 3 x 4 mm\norigin 1, 2, 3 mm\ndirections x 1 0 0, y 0 1 0, z 0 0 1\norientation RAS'
    done
    for space in LPS left-posterior-superior; do
        # shellcheck disable=SC2086
        nrrd in.nrrd "dimension: 3\nspace: $space\nsizes: 2 2 2\nspace directions: (2,0,0) (0,3,0) (0,0,4)\nspace origin: (1,2,3)\nspace units: \"cm\" \"cm\" \"cm\"\n" $eight
        place in.nrrd $'spacing 20 x 30 x 40 mm\norigin -10, -20, 30 mm\ndirections x -1 0 0, y 0 -1 0, z 0 0 1\norientation LPS'
    done
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nspace: LAS\nsizes: 2 2 2\nspace directions: (2,0,0) (0,3,0) (0,0,4)\nspace origin: (1,2,3)\n' $eight
    place in.nrrd $'spacing 2 x 3 x 4 mm\norigin -1, 2, 3 mm\ndirections x -1 0 0, y 0 1 0, z 0 0 1\norientation LAS'
    # Cells begin half a cell before their middle.
    nrrd in.nrrd 'dimension: 2\nsizes: 2 2\naxis mins: 0 10\naxis maxs: 4 12\ncenterings: cell node\n' 1 2 3 4
    place in.nrrd $'spacing 2 x 2 x 1 mm\norigin 1, 10, 0 mm\ndirections x 1 0 0, y 0 1 0, z 0 0 1'
    # A fourth dimension of space is not there; vectors must fit the space.
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nspace: LPST\nsizes: 2 2 2\n' $eight
    refused 5 info in.nrrd
    local bad
    for bad in '(1,0,0) (0,1,0)' '(1,0) (0,1) (0,0)' '(1,0,0) (0,1,0) (0,0,1) none' '(1,0,0) (0,1,0) (0,0,x)' '(1,0,0) (0,1,0) (0,0,1' '1 0 0'; do
        # shellcheck disable=SC2086
        nrrd in.nrrd "dimension: 3\nspace: RAS\nsizes: 2 2 2\nspace directions: $bad\n" $eight
        refused 3 info in.nrrd
    done
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nsizes: 2 2 2\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n' $eight
    refused 3 info in.nrrd
    says "'space'"
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nspace: RAS\nsizes: 2 2 2\nspace directions: (1,0,0) (0,0,0) (0,0,1)\n' $eight
    attempt "$GPUFILT" info in.nrrd
    [ "$status" -eq 0 ]
    says 'warning'
    # shellcheck disable=SC2086
    nrrd in.nrrd 'dimension: 3\nspace: RAS\nsizes: 2 2 2\nspace directions: (1,0,0) (0,1,0) (0,0,1)\nspace units: "px" "px" "px"\n' $eight
    attempt "$GPUFILT" info in.nrrd
    [ "$status" -eq 0 ]
    says 'warning'
}

@test "NRRD: headers that lie are one line" {
    local fields
    while IFS='|' read -r want fields; do
        nrrd in.nrrd "$fields" 1 2 3 4
        refused "$want" convert in.nrrd out.tif
        only in.nrrd
    done <<'END'
3|dimension: 2\nsizes: 2 3\n
3|dimension: 2\nsizes: 2 1\n
3|dimension: 2\nsizes: 2 0\n
3|dimension: 2\nsizes: 2 -2\n
3|dimension: 2\nsizes: 2\n
3|dimension: 2\nsizes: 2 2 2\n
3|dimension: 2\nsizes: 2 2x\n
3|dimension: 2\nsizes: 18446744073709551615 18446744073709551615\n
3|dimension: 2\nsizes: 4294967296 4294967297\n
3|dimension: 2\nsizes: 18446744073709551617 4\n
3|dimension: 0\nsizes: 4\n
3|dimension: 17\nsizes: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 4\n
3|dimension: x\nsizes: 4\n
3|sizes: 4\n
3|dimension: 1\n
3|dimension: 1\nsizes: 4\nsizes: 4\n
3|dimension: 1\nsizes: 4\nendian: middle\n
3|dimension: 1\nsizes: 4\nencoding: nonsense\n
5|dimension: 1\nsizes: 4\nencoding: hex\n
5|dimension: 1\nsizes: 4\nencoding: bz2\n
3|dimension: 1\nsizes: 4\nbyte skip: -2\n
3|dimension: 1\nsizes: 4\nbyte skip: 18446744073709551615\n
3|dimension: 1\nsizes: 4\nbyte skip: 9223372036854775807\n
3|dimension: 1\nsizes: 4\nline skip: 9223372036854775807\n
3|dimension: 1\nsizes: 5\nbyte skip: -1\n
3|dimension: 1\nsizes: 4\nspacings: 1 2\n
3|dimension: 1\nsizes: 4\nspacings: 1,5\n
3|dimension: 1\nsizes: 4\nspacings: 1e400\n
3|dimension: 1\nsizes: 4\nnonsense\n
3|dimension: 1\nsizes: 4\nspace: nowhere\n
3|dimension: 1\nsizes: 4\nspace dimension: 0\n
5|dimension: 1\nsizes: 4\nspace dimension: 4\n
3|dimension: 1\nsizes: 4\nencoding: gzip\n
3|dimension: 2\nsizes: 60000 60000\nencoding: gzip\n
3|dimension: 1\nsizes: 4\ndata file: \n
3|dimension: 1\nsizes: 4\ndata file: /dev/zero\n
3|type: nonsense\ndimension: 1\nsizes: 4\n
3|dimension: 1\nsizes: 4\nzero: \0000\n
END
    text in.nrrd 'NRRD0004\n'
    refused 3 info in.nrrd
    printf 'NRRD0004' >in.nrrd
    refused 3 info in.nrrd
    { printf 'NRRD0004\n'; head -c 6000000 /dev/zero | tr '\0' a; } >in.nrrd
    refused 3 info in.nrrd
}

# ---- NRRD, writing ----

@test "NRRD: what filtering leaves alone stays as it was written" {
    nrrd in.nrrd '# a comment\ncontent: my: scan\ndimension: 3\nspace: RAS\nsizes: 3 2 2\nspace directions: (0.50,0,0) (0,0.25,0) (0,0,1.0)\ncenterings: cell cell node\nthicknesses: nan nan 3\nlabels: "x" "\\"y" "z z"\nspace units: "um" "um" "um"\nspace origin: (1.50,2,-3)\nmeasurement frame: (1,0,0) (0,1,0) (0,0,1)\nsample units: HU\nold min: 0\nodd: field\nDWMRI_b-value:=800\nlines:=a\\nb\n' 1 2 3 4 5 6 7 8 9 10 11 12
    local line same changed
    ok convert in.nrrd out.nrrd
    while IFS= read -r line; do
        has out.nrrd "$line"
    done < <(head -c 600 in.nrrd | sed '1d;/^$/,$d;s/^space: .*/space: right-anterior-superior/;s/^type: .*/type: unsigned char/')
    lacks out.nrrd endian
    ok blur -k box3 in.nrrd out.nrrd
    has out.nrrd 'space directions: (0.50,0,0) (0,0.25,0) (0,0,1.0)'
    # A part is elsewhere, in the old units.
    ok convert --roi 1,1,1+2x1x1 in.nrrd out.nrrd
    has out.nrrd 'sizes: 2 1 1'
    has out.nrrd 'space origin: (2,2.25,-2)'
    has out.nrrd 'labels: "x" "\"y" "z z"'
    # What holds for the samples' type only goes with it; what is false now goes.
    ok convert -t f32 in.nrrd out.nrrd
    has out.nrrd 'type: float'
    has out.nrrd 'endian: little'
    lacks out.nrrd 'old min'
    lacks out.nrrd 'sample units'
    nrrd in.nrrd 'dimension: 2\nsizes: 2 2\nmin: 1\nmax: 4\nspacings: 0.30 nan\naxis mins: 1 2\n' 1 2 3 4
    ok convert in.nrrd out.nrrd
    has out.nrrd 'spacings: 0.30 nan'
    lacks out.nrrd 'max'
    nrrd in.nrrd 'dimension: 2\nsizes: 2 2\nspacings: 0.5 2\naxis mins: 1 2\naxis maxs: 2 6\ncenterings: cell cell\n' 1 2 3 4
    ok convert in.nrrd out.nrrd
    has out.nrrd 'axis mins: 1 2'
    has out.nrrd 'axis maxs: 2 6'
    ok convert --roi 1,1+1x1 in.nrrd out.nrrd
    has out.nrrd 'axis mins: 1.5 4'
    lacks out.nrrd 'axis maxs'
}

@test "NRRD: key/value pairs are texts elsewhere, and come back" {
    nrrd in.nrrd 'dimension: 2\nsizes: 2 2\nTitle:=a picture\nComment:=two\\nlines \\\\ here\n' 1 2 3 4
    ok convert in.nrrd out.png
    ok info out.png
    prints 'Title'
    ok convert out.png back.nrrd
    has back.nrrd 'Title:=a picture'
    has back.nrrd 'Comment:=two\nlines \\ here'
    ok convert back.nrrd back2.png
    cmp out.png back2.png
}

@test "NRRD: encodings as in the input, or as asked for; the same bytes for any number of threads" {
    ok convert "$samples/ct_96x96x64_u16le.raw" plain.nrrd
    has plain.nrrd 'encoding: raw'
    ok convert --compression gzip plain.nrrd packed.nrrd
    has packed.nrrd 'encoding: gzip'
    [ "$(stat -c %s packed.nrrd)" -lt "$(stat -c %s plain.nrrd)" ]
    ok convert packed.nrrd again.nrrd
    cmp packed.nrrd again.nrrd
    ok convert --compression none packed.nrrd again.nrrd
    cmp plain.nrrd again.nrrd
    ok convert -j 1 --compression gzip plain.nrrd one.nrrd
    cmp packed.nrrd one.nrrd
    ok convert packed.nrrd -f raw out.raw
    cmp out.raw "$samples/ct_96x96x64_u16le.raw"
    ok convert plain.nrrd apart.nhdr
    has apart.nhdr 'data file: apart.raw'
    cmp apart.raw "$samples/ct_96x96x64_u16le.raw"
    ok convert --compression gzip plain.nrrd apart2.nhdr
    has apart2.nhdr 'data file: apart2.raw.gz'
    gzip -dc apart2.raw.gz | cmp - "$samples/ct_96x96x64_u16le.raw"
    ok convert apart2.nhdr -f raw out.raw
    cmp out.raw "$samples/ct_96x96x64_u16le.raw"
    "$GPUFILT" convert -f nrrd plain.nrrd - >piped.nrrd
    cmp plain.nrrd piped.nrrd
    refused 5 convert -t f16 plain.nrrd out.nrrd
    refused 2 convert --compression lzw plain.nrrd out.nrrd
}

@test "NRRD: a picture's colours, and pages" {
    ok convert "$samples/chelsea.png" out.nrrd
    has out.nrrd 'kinds: RGB-color domain domain'
    ok convert out.nrrd back.png
    ok convert back.png -f raw a.raw
    ok convert "$samples/chelsea.png" -f raw b.raw
    cmp a.raw b.raw
}

# ---- MetaImage ----

@test "MetaImage: every type, both byte orders" {
    local type name bytes
    while read -r type bytes name; do
        # shellcheck disable=SC2046
        meta in.mha "NDims = 2\nDimSize = 2 1\nElementType = $name\nElementByteOrderMSB = False\n" $(repeat "$bytes" 0) $(repeat "$bytes" 0)
        reads in.mha "$type" '0 0'
    done <<'END'
i8 1 MET_CHAR
u8 1 MET_UCHAR
i16 2 MET_SHORT
u16 2 MET_USHORT
i32 4 MET_INT
u32 4 MET_UINT
i32 4 MET_LONG
u32 4 MET_ULONG
f32 4 MET_FLOAT
f64 8 MET_DOUBLE
END
    for name in MET_LONG_LONG MET_ULONG_LONG MET_STRING; do
        meta in.mha "NDims = 2\nDimSize = 2 1\nElementType = $name\n" 0
        refused 5 info in.mha
    done
    for name in BinaryDataByteOrderMSB ElementByteOrderMSB; do
        meta in.mha "NDims = 2\n$name = True\nDimSize = 2 1\nElementType = MET_USHORT\n" 0 1 1 0
        reads in.mha u16 '1 256'
        meta in.mha "NDims = 2\n$name = False\nDimSize = 2 1\nElementType = MET_USHORT\n" 1 0 0 1
        reads in.mha u16 '1 256'
    done
    meta in.mha 'NDims = 2\nBinaryDataByteOrderMSB = True\nElementByteOrderMSB = False\nDimSize = 2 1\nElementType = MET_USHORT\n' 0 1 1 0
    refused 3 info in.mha
}

@test "MetaImage: channels, four dimensions, text, CRLF, old keys" {
    meta in.mha 'NDims = 2\nDimSize = 2 1\nElementNumberOfChannels = 3\n' 1 2 3 4 5 6
    reads in.mha u8 '1 2 3 4 5 6'
    ok convert in.mha out.png
    meta in.mha 'NDims = 4\nDimSize = 2 1 1 3\n' 1 2 3 4 5 6
    ok info in.mha
    prints '3 images'
    ok convert in.mha out.mha
    has out.mha 'DimSize = 2 1 1 3'
    text in.mha 'ObjectType = Image\r\nNDims = 2\r\nBinaryData = False\r\nDimSize = 3 1\r\nElementType = MET_SHORT\r\nElementDataFile = LOCAL\r\n-5 6\n7'
    reads in.mha i16 '-5 6 7'
    text in.mha 'NDims: 2\nDimSize: 3 1\nElementType: MET_UCHAR\nElementDataFile: LOCAL\n' 1 2 3
    reads in.mha u8 '1 2 3'
    meta in.mha 'NDims = 5\nDimSize = 1 1 1 1 1\n' 1
    refused 5 info in.mha
    text in.mha 'ObjectType = Tube\nNDims = 3\nElementDataFile = LOCAL\n'
    refused 5 info in.mha
}

@test "MetaImage: HeaderSize, detached and listed samples" {
    make <<'END'
save('data.raw', bytes(100) + bytes([10, 20, 30, 40]))
END
    local size
    for size in 100 -1; do
        meta in.mhd "NDims = 2\nHeaderSize = $size\nDimSize = 2 2\nElementDataFile = data.raw\n"
        reads in.mhd u8 '10 20 30 40'
        ok stats --show mean in.mhd
        prints '25'
    done
    meta in.mhd 'NDims = 2\nDimSize = 2 2\nElementDataFile = data.raw\n'
    refused 3 info in.mhd
    meta in.mhd 'NDims = 2\nHeaderSize = 101\nDimSize = 2 2\nElementDataFile = data.raw\n'
    refused 3 info in.mhd
    meta in.mhd 'NDims = 2\nHeaderSize = 9223372036854775807\nDimSize = 2 2\nElementDataFile = data.raw\n'
    refused 3 info in.mhd
    meta in.mhd 'NDims = 2\nDimSize = 2 2\nElementDataFile = missing.raw'
    refused 3 info in.mhd
    says 'missing.raw'
    write a.raw 1 2
    write b.raw 3 4
    meta in.mhd 'NDims = 3\nDimSize = 2 1 2\nElementDataFile = LIST\nb.raw\na.raw\n'
    reads in.mhd u8 '3 4 1 2'
    meta in.mhd 'NDims = 3\nDimSize = 2 1 2\nElementDataFile = LIST 2D\na.raw\nb.raw'
    reads in.mhd u8 '1 2 3 4'
    meta in.mhd 'NDims = 3\nDimSize = 2 1 2\nElementDataFile = LIST\na.raw\n'
    refused 3 info in.mhd
    meta in.mhd 'NDims = 3\nDimSize = 2 1 2\nElementDataFile = s%02d.raw 1 2 1\n'
    refused 5 info in.mhd
    says LIST
}

@test "MetaImage: compressed samples, of zlib and of gzip; their size and checksum count" {
    make <<'END'
import gzip
head = b'ObjectType = Image\nNDims = 2\nCompressedData = True\n%sDimSize = 2 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n'
data = zlib.compress(bytes([1, 2, 3, 4]))
save('plain.mha', head % b'' + data)
save('sized.mha', head % b'CompressedDataSize = %d\n' % len(data) + data)
save('long.mha', head % b'CompressedDataSize = %d\n' % (len(data) + 1) + data)
save('cut.mha', head % b'' + data[:-1])
save('more.mha', head % b'' + data + b'x')
save('broken.mha', head % b'' + data[:-1] + bytes([data[-1] ^ 1]))
save('gzip.mha', head % b'' + gzip.compress(bytes([1, 2, 3, 4]), mtime=0))
save('few.mha', head % b'' + zlib.compress(bytes([1, 2, 3])))
save('many.mha', head % b'' + zlib.compress(bytes([1, 2, 3, 4, 5])))
END
    for name in plain sized gzip; do reads $name.mha u8 '1 2 3 4'; done
    for name in long cut more broken few many; do refused 3 convert $name.mha out.png; done
}

@test "MetaImage: the place in space, and small numbers" {
    local eight='1 2 3 4 5 6 7 8' key
    # shellcheck disable=SC2086
    for key in Offset Position Origin; do
        meta in.mha "NDims = 3\n$key = 1 2 6.95279e-310\nTransformMatrix = 0 1 0 -1 0 0 0 0 1\nElementSpacing = 2 3 4\nDimSize = 2 2 2\n" $eight
        # x goes to posterior, y to the right.
        place in.mha $'spacing 2 x 3 x 4 mm\norigin -1, -2, 6.95279e-310 mm\ndirections x 0 -1 0, y 1 0 0, z 0 0 1\norientation PRS'
    done
    # shellcheck disable=SC2086
    for key in 1e400 nan 1,5 x ''; do
        meta in.mha "NDims = 3\nOffset = 0 0 $key\nDimSize = 2 2 2\n" $eight
        refused 3 info in.mha
    done
    # shellcheck disable=SC2086
    meta in.mha 'NDims = 3\nElementSize = 2 3 4\nDimSize = 2 2 2\n' $eight
    place in.mha 'spacing 2 x 3 x 4 mm'
    # shellcheck disable=SC2086
    meta in.mha 'NDims = 3\nElementSpacing = 2 3 4\nDistanceUnits = um\nDimSize = 2 2 2\n' $eight
    place in.mha 'spacing 2 x 3 x 4 um'
    has in.mha 'ElementSpacing = 2 3 4'
    ok convert in.mha out.mha
    has out.mha 'ElementSpacing = 2 3 4'
    has out.mha 'DistanceUnits = um'
}

@test "MetaImage: what filtering leaves alone stays; other fields are texts" {
    meta in.mha 'NDims = 3\nComment = hello = you\nModality = MET_MOD_CT\nID = 7\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 1.50 2 3\nCenterOfRotation = 0 0 9\nAnatomicalOrientation = RAI\nElementSpacing = 1 2 3.0\nDimSize = 2 2 2\nElementMin = 1\nMine = a b\n' 1 2 3 4 5 6 7 8
    ok convert in.mha out.mha
    for line in 'Comment = hello = you' 'Modality = MET_MOD_CT' 'ID = 7' 'Offset = 1.50 2 3' 'CenterOfRotation = 0 0 9' 'AnatomicalOrientation = RAI' 'ElementSpacing = 1 2 3.0' 'Mine = a b'; do
        has out.mha "$line"
    done
    lacks out.mha ElementMin
    ok convert --roi 1,1,1+1x1x1 in.mha out.mha
    has out.mha 'Offset = 2.5 4 6'
    ok convert in.mha out.nrrd
    has out.nrrd 'Comment:=hello = you'
    has out.nrrd 'space: left-posterior-superior'
    has out.nrrd 'space origin: (1.5,2,3)'
    ok convert out.nrrd back.mha
    has back.mha 'Offset = 1.5 2 3'
    has back.mha 'Comment = hello = you'
    has back.mha 'AnatomicalOrientation = RAI'
}

@test "MetaImage: written whole, apart, compressed, through a pipe" {
    ok convert "$samples/ct_96x96x64_u16le.raw" plain.mha
    has plain.mha 'CompressedData = False'
    ok convert --compression gzip plain.mha packed.mha
    has packed.mha 'CompressedData = True'
    ok convert packed.mha again.mha
    cmp packed.mha again.mha
    ok convert --compression none packed.mha again.mha
    cmp plain.mha again.mha
    ok convert packed.mha -f raw out.raw
    cmp out.raw "$samples/ct_96x96x64_u16le.raw"
    ok convert plain.mha apart.mhd
    has apart.mhd 'ElementDataFile = apart.raw'
    cmp apart.raw "$samples/ct_96x96x64_u16le.raw"
    ok convert --compression gzip plain.mha small.mhd
    has small.mhd 'ElementDataFile = small.zraw'
    ok convert small.mhd -f raw out.raw
    cmp out.raw "$samples/ct_96x96x64_u16le.raw"
    "$GPUFILT" convert -f mha packed.mha - | cat >piped.mha
    cmp packed.mha piped.mha
    refused 5 convert -t f16 plain.mha out.mha
}

@test "MetaImage: headers that lie are one line" {
    local fields
    while IFS='|' read -r want fields; do
        meta in.mha "$fields" 1 2 3 4
        refused "$want" convert in.mha out.tif
        only in.mha
    done <<'END'
3|NDims = 2\nDimSize = 2 3\n
3|NDims = 2\nDimSize = 2 1\n
3|NDims = 2\nDimSize = -2 2\n
3|NDims = 2\nDimSize = 0 2\n
3|NDims = 2\nDimSize = 2\n
3|NDims = 2\nDimSize = 2 2 2\n
3|NDims = 2\nDimSize = 4294967296 4294967297\n
3|NDims = 2\nDimSize = 18446744073709551615 18446744073709551615\n
3|NDims = 0\nDimSize = 4\n
3|NDims = x\nDimSize = 4\n
3|NDims = 2\n
3|NDims = 2\nDimSize = 2 2\nElementType = MET_NONSENSE\n
3|NDims = 2\nDimSize = 2 2\nElementNumberOfChannels = 0\n
5|NDims = 2\nDimSize = 2 2\nElementNumberOfChannels = 4294967295\n
3|NDims = 2\nDimSize = 2 2\nBinaryData = Perhaps\n
3|NDims = 2\nDimSize = 2 2\nHeaderSize = 1\n
3|NDims = 2\nDimSize = 2 2\nHeaderSize = -2\n
3|NDims = 2\nDimSize = 2 2\nCompressedData = True\n
3|NDims = 2\nDimSize = 60000 60000\nCompressedData = True\n
3|NDims = 2\nDimSize = 2 2\nCompressedData = True\nCompressedDataSize = 5\n
3|NDims = 2\nDimSize = 2 2\nElementSpacing = 1\n
3|NDims = 2\nDimSize = 2 2\nDistanceUnits = parsec\n
3|NDims = 2\nDimSize = 2 2\nnonsense\n
3|NDims = 2\nDimSize = 2 2\nDimSize = 4 1\n
3|NDims = 2\nDimSize = 2 2\nElementDataFile = /dev/zero\n
END
    text in.mha 'ObjectType = Image\nNDims = 2\nDimSize = 2 2\nElementType = MET_UCHAR\n'
    refused 3 info in.mha
}

# ---- other programs ----

@test "pynrrd and SimpleITK read what is written here, and the other way round" {
    local python
    for python in "${GPUFILT_TEST_PYTHON:-}" python3; do
        [ -n "$python" ] && "$python" -c 'import numpy, nrrd, SimpleITK' 2>/dev/null && break
        python=
    done
    [ -n "$python" ] || skip 'numpy, pynrrd and SimpleITK are not installed (GPUFILT_TEST_PYTHON names a Python that has them)'
    "$python" -B "$tests/oracle/cross_nrrd_metaimage.py" "$GPUFILT"
}
