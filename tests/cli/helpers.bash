# Shared by all command-line tests. GPUFILT is the program; every test works in a folder of
# its own, and nothing is written into the source tree.
# shellcheck shell=bash disable=SC2034,SC2154,SC2012
bats_require_minimum_version 1.5.0

: "${GPUFILT:?GPUFILT must name the program to test}"
GPUFILT=$(readlink -f "$GPUFILT")
tests=$(readlink -f "$BATS_TEST_DIRNAME/..")
samples=$(readlink -f "$tests/../samples")
oracle=$tests/oracle/filter_oracle.py
export GPUFILT PYTHONDONTWRITEBYTECODE=1
# A sanitizer's finding must not look like one of the program's own statuses.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99:allocator_may_return_null=1
export UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}exitcode=99:print_stacktrace=1
unset GPUFILT_TEST_IO GPUFILT_TEST_ALLOC GPUFILT_MASK_PATH
export LC_ALL=C

# Beside bats' own files, not among them.
setup()
{
    mkdir "$BATS_TEST_TMPDIR/room"
    cd "$BATS_TEST_TMPDIR/room" || return 1
}

# fail WORDS: ends the test and shows what the last run said.
fail()
{
    printf '%s\n' "$*" "status: ${status:-}" "stdout: $(head -c 2000 <<<"${output:-}" | tr -d '\0')" \
        "stderr: $(head -c 4000 <<<"${stderr:-}")" >&2
    return 1
}

# attempt COMMAND...: runs it and sets status, output, stderr and stderr_lines. As bats' run, but
# quicker, and without a word about status 127 where that is no surprise.
attempt()
{
    status=0
    "$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
    output=$(tr -d '\0' <"$BATS_TEST_TMPDIR/stdout")
    stderr=$(tr -d '\0' <"$BATS_TEST_TMPDIR/stderr")
    mapfile -t stderr_lines <"$BATS_TEST_TMPDIR/stderr"
}

# expect STATUS[|STATUS...] COMMAND...: runs it and checks the status. A failure must say
# exactly one line, on standard error, and nothing on standard output.
expect()
{
    local wanted="|$1|" line
    shift
    attempt "$@"
    [[ $wanted == *"|$status|"* ]] || fail "expected status ${wanted//|/ }: $*"
    [[ $stderr != *Sanitizer* && $stderr != *'runtime error'* ]] || fail "sanitizer: $*"
    if [ "$status" -ne 0 ] && [ "$status" -lt 128 ]; then
        [ -z "$output" ] || fail "words on standard output with status $status: $*"
        [ "${#stderr_lines[@]}" -eq 1 ] || fail "not exactly one line: $*"
        line=${stderr_lines[0]}
        [[ $line == 'gpufilt: '?* ]] || fail "no 'gpufilt: ' before the message: $*"
    fi
}

# ok ARGUMENTS: gpufilt succeeds and says nothing on standard error.
ok()
{
    expect 0 "$GPUFILT" "$@"
    [ -z "$stderr" ] || fail "not silent: $*"
}

# refused STATUS ARGUMENTS
refused()
{
    local wanted=$1
    shift
    expect "$wanted" "$GPUFILT" "$@"
}

# says WORDS: the last run's standard error holds them.
says()
{
    [[ $stderr == *"$1"* ]] || fail "standard error lacks '$1'"
}

prints()
{
    [[ $output == *"$1"* ]] || fail "standard output lacks '$1'"
}

# bytes FILE: as decimal numbers on one line.
bytes()
{
    od -An -v -tu1 "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'
}

# holds FILE WORDS: the file's bytes are these decimal numbers.
holds()
{
    local found
    found=$(bytes "$1")
    [ "$found" = "$2" ] || fail "$1 holds '$found', not '$2'"
}

# write FILE NUMBERS: bytes from decimal numbers.
write()
{
    local file=$1 number
    shift
    for number in "$@"; do
        # shellcheck disable=SC2059
        printf "\\$(printf %03o "$number")"
    done >"$file"
}

# only NAMES: the folder holds exactly these, hidden files included.
only()
{
    local found
    found=$(ls -A | LC_ALL=C sort)
    [ "$found" = "$(printf '%s\n' "$@" | LC_ALL=C sort)" ] || fail "the folder holds: $found"
}

sum()
{
    sha256sum <"$1" | cut -d' ' -f1
}

has_hooks()
{
    GPUFILT_TEST_ALLOC=1+ "$GPUFILT" convert "$samples/cell.png" "$BATS_TEST_TMPDIR/.hooks.png" >/dev/null 2>&1 ||
        return 0
    rm -f "$BATS_TEST_TMPDIR/.hooks.png"
    return 1
}
