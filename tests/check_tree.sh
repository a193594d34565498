#!/bin/bash
# Rules of the tree that a compiler does not check: the layers of CONTRIBUTING.md, and plain
# text hygiene. Prints every offence as FILE:LINE.
#     check_tree.sh ROOT
set -eu
cd "${1:?usage: check_tree.sh ROOT}"

failed=0

# none WHAT PATTERN FILES...: no line may match the extended regular expression.
none()
{
    local what=$1 pattern=$2
    shift 2
    [ $# -gt 0 ] || return 0
    if grep -nHE -- "$pattern" "$@"; then
        echo "check_tree: $what"
        failed=1
    fi
}

# none_code: the same, in lines that do not begin as a comment.
none_code()
{
    local what=$1 pattern=$2
    shift 2
    [ $# -gt 0 ] || return 0
    if grep -nHE -- "$pattern" "$@" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(\*|/[*/])'; then
        echo "check_tree: $what"
        failed=1
    fi
}

# files FOLDERS... -- NAMES...: what lies there by these names; folders need not exist.
files()
{
    local -a folders=() names=()
    while [ "$1" != -- ]; do
        [ ! -e "$1" ] || folders+=("$1")
        shift
    done
    shift
    [ "${#folders[@]}" -gt 0 ] || return 0
    for name in "$@"; do
        names+=(-o -name "$name")
    done
    find "${folders[@]}" -type f '(' "${names[@]:1}" ')' | LC_ALL=C sort
}

# without FILE...: the list on standard input without these.
without()
{
    local -a patterns=()
    for file in "$@"; do
        patterns+=(-e "$file")
    done
    grep -vxF "${patterns[@]}" || true
}

mapfile -t c < <(files src cuda samples tests -- '*.c' '*.h' '*.cu' '*.cuh' '*.def')
mapfile -t program < <(files src cuda -- '*.c' '*.h' '*.cu' '*.cuh' '*.def')
mapfile -t src < <(files src -- '*.c' '*.h')
mapfile -t text < <(files src cuda samples tests man masks .ci CMakeLists.txt CMakePresets.json README.md \
    CONTRIBUTING.md quickstart -- '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.py' '*.sh' '*.bash' '*.bats' '*.mask' '*.md' \
    '*.1' '*.5' '*.txt' '*.json' quickstart run)

# ---- text ----
none 'tab' "$(printf '\t')" "${text[@]}"
none 'blanks at the end of a line' ' +$' "${text[@]}"
none 'carriage return' "$(printf '\r')" "${text[@]}"
for file in "${text[@]}"; do
    if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then
        echo "$file: no newline at the end"
        failed=1
    fi
done
none 'a line of more than 100 columns' '^.{101,}$' "${c[@]}"

# ---- layers ----
none 'CUDA headers belong under cuda/' '#[[:space:]]*include[[:space:]]*[<"](cuda|cub/|cooperative_groups)' "${src[@]}"
mapfile -t cuda < <(files cuda -- '*.c' '*.h' '*.cu' '*.cuh')
none 'cuda/ knows neither the command line nor files' '#[[:space:]]*include[[:space:]]*"(\.\./src/)?(cli|mask|job)\.h"|"(\.\./src/)?io/' \
    ${cuda[@]+"${cuda[@]}"}
mapfile -t io < <(files src/io -- '*.c' '*.h')
none 'src/io/ knows images, not plans' '#[[:space:]]*include[[:space:]]*"(\.\./)?(plan|planner|backend|cli|job|pipeline)\.h"' \
    ${io[@]+"${io[@]}"}
mapfile -t cpu < <(files src/cpu -- '*.c' '*.h')
none 'src/cpu/ opens no files and knows no masks' '#[[:space:]]*include[[:space:]]*"(\.\./)?(io/|cli|mask|job)' \
    ${cpu[@]+"${cpu[@]}"}

# Files go through src/io/sys.c. (snprintf and the like only format.)
mapfile -t rest < <(printf '%s\n' "${src[@]}")
none_code 'stdio is not used for files' '(^|[^a-zA-Z0-9_])(fopen|fdopen|freopen|fread|fwrite|fgets|fgetc|getc|fputc|putc|fputs|puts|putchar|fseeko?|ftello?|fscanf|scanf|tmpfile|mkstemp)[[:space:]]*\(' \
    "${rest[@]}"
mapfile -t rest < <(printf '%s\n' "${src[@]}" | without src/message.c)
none_code 'only src/message.c prints' '(^|[^a-zA-Z0-9_])(v?f?printf|v?dprintf|perror|psignal)[[:space:]]*\(' "${rest[@]}"
none_code 'no mapped files: one that shrinks is a SIGBUS' '(^|[^a-zA-Z0-9_])mmap[[:space:]]*\([^)]*fd' "${src[@]}"
mapfile -t rest < <(printf '%s\n' "${src[@]}" | without src/main.c src/signals.c)
none_code 'only main() ends the program' '(^|[^a-zA-Z0-9_>.])(_?exit|_Exit|abort|quick_exit)[[:space:]]*\(' "${rest[@]}"
mapfile -t rest < <(printf '%s\n' "${src[@]}" | without src/alloc.c)
none_code 'memory comes from src/alloc.c' '(^|[^a-zA-Z0-9_])(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|strndup|asprintf|alloca)[[:space:]]*\(' \
    "${rest[@]}"
none_code 'assert() is not for what comes from files or arguments' '(^|[^a-zA-Z0-9_])assert[[:space:]]*\(' "${src[@]}"
none_code 'functions without bounds' '(^|[^a-zA-Z0-9_])(strcat|sprintf|vsprintf|gets|atoi|atol|atof)[[:space:]]*\(' "${src[@]}"

# ---- arithmetic ----
mapfile -t builds < <(find . -path ./build -prune -o -name CMakeLists.txt -print -o -name '*.cmake' -print -o \
    -name CMakePresets.json -print | grep -v '^\./build')
none 'options that change floating-point results' 'ffast-math|Ofast|use_fast_math|funsafe-math|fassociative-math|ffp-contract=fast' \
    "${builds[@]}" "${program[@]}"

# ---- scripts ----
if command -v shellcheck >/dev/null; then
    shellcheck quickstart .ci/run tests/check_tree.sh tests/cli/helpers.bash || failed=1
fi

exit "$failed"
