# Every example of the README, of the man pages and of --help is run, and every option is in
# the man page.
load helpers

# A folder with the files the examples name.
furnish()
{
    cp "$samples/chelsea.png" in.png
    cp "$samples/rocket_exif6.jpg" photo.jpg
    cp "$samples/ct_96x96x64_u16le.raw" .
    "$GPUFILT" convert --spacing 0.7,0.7,1.5 ct_96x96x64_u16le.raw scan.nii.gz
    "$GPUFILT" convert in.png in.tif
    cp "$samples/cells_16bit.tif" in16.tif
    cp "$samples/camera.png" a.png
    cp "$samples/cell.png" b.png
    cp "$samples/camera.png" c.png
    cp "$samples/cell.png" slice.png
    "$GPUFILT" correlate -k '1 / 64' slice.png organs.png
    cp organs.png lung.png
    "$GPUFILT" convert ct_96x96x64_u16le.raw 'slices/slice_%04d.tif'
    "$GPUFILT" masks make gauss --sigma 1 >psf.mask
    mkdir -p bin
    ln -sf "$GPUFILT" bin/gpufilt
    PATH=$PWD/bin:$PATH
}

# run_lines NAME: runs each line of standard input as a shell command; all must succeed, and
# there must be some.
run_lines()
{
    local line count=0
    furnish
    while IFS= read -r line; do
        count=$((count + 1))
        bash -euc "$line" </dev/null >out.txt 2>err.txt || {
            cat err.txt >&2
            printf 'status %s from %s: %s\n' "$?" "$1" "$line" >&2
            return 1
        }
    done
    [ "$count" -ge "$2" ] || fail "only $count examples in $1"
}

@test "the examples of the README work" {
    sed -n 's/^    \(gpufilt .*\)/\1/p' "$tests/../README.md" | grep -v 'COMMAND' | run_lines README 15
}

@test "the examples of gpufilt(1) work" {
    sed -n 's/^\.Dl \(gpufilt .*\)/\1/p' "$tests/../man/gpufilt.1" | sed 's/\\-/-/g; s/\\&//g' | run_lines man 8
}

@test "the examples of gpufilt-mask(5) work" {
    sed -n 's/^\.Dl \$ \(gpufilt .*\)/\1/p' "$tests/../man/gpufilt-mask.5" | sed 's/\\-/-/g; s/\\&//g' | run_lines mask 1
}

@test "the examples of gpufilt-bench(1) work" {
    sed -n 's/^\.Dl \(gpufilt .*\)/\1/p' "$tests/../man/gpufilt-bench.1" | sed 's/\\-/-/g; s/\\&//g' | run_lines bench 5
}

@test "the examples of --help work" {
    local command
    for command in blur correlate convolve convert stats info masks devices selftest bench help; do
        "$GPUFILT" "$command" --help | sed -n '/^Examples:/,/^$/s/^  \(gpufilt .*\)/\1/p'
    done >lines
    "$GPUFILT" --help | sed -n '/^Examples:/,/^$/s/^  \(gpufilt .*\)/\1/p' >>lines
    run_lines help 15 <lines
}

# long_options: the names of the rows on standard input.
long_options()
{
    sed -n 's/^OPTION([A-Z0-9_]*, [^,]*, "\([^"]*\)".*/\1/p' | sort -u
}

# said_options PAGE...: the long options that the pages name.
said_options()
{
    sed 's/\\-/-/g' "$@" | grep -o 'Fl Fl [a-z0-9-]*' | sed 's/Fl Fl //' | sort -u
}

@test "every option is in the man page, and no other" {
    local rows=$tests/../src/options.def
    # Options of bench alone are in its own page.
    grep '^OPTION(' "$rows" | grep -v ', BENCH, "' | long_options >table
    said_options "$tests/../man/gpufilt.1" >page
    [ -s table ] || fail "no options found in options.def"
    diff table page >difference || { cat difference >&2; fail "options.def and gpufilt.1 differ"; }
    grep '^OPTION(' "$rows" | grep -E '[ |]BENCH,' | long_options >table
    grep -A1 '^OPTION(JSON' "$rows" | grep -q '| BENCH,' || fail 'the row of --json has changed'
    sort -u table <(echo json) >table2
    said_options "$tests/../man/gpufilt-bench.1" >page
    diff table2 page >difference || { cat difference >&2; fail "options.def and gpufilt-bench.1 differ"; }
}

@test "the man pages are clean" {
    local page
    for page in "$tests"/../man/*; do
        mandoc -Tlint -W warning "$page" >lint || { cat lint >&2; fail "$page"; }
        [ ! -s lint ] || { cat lint >&2; fail "$page"; }
    done
}

@test "every command and every border is in gpufilt(1)" {
    local word
    for word in blur correlate convolve convert stats info masks devices selftest bench help; do
        grep -q "^\.It Cm $word" "$tests/../man/gpufilt.1" || fail "$word is not in gpufilt(1)"
    done
    for word in $(sed -n 's/^ *X([A-Z0-9]*, "\([a-z0-9]*\)", .*/\1/p' "$tests/../src/border.h"); do
        grep -q "^\.It Cm $word" "$tests/../man/gpufilt.1" || fail "$word is not in gpufilt(1)"
    done
}
