#!/usr/bin/env bats
# What a guest in someone's file system and terminal does, and does not.
load helpers

setup()
{
    mkdir "$BATS_TEST_TMPDIR/room"
    cd "$BATS_TEST_TMPDIR/room" || return 1
    printf 'P5 4 3 255\nabcdefghijkl' >in.pgm
    "$GPUFILT" blur -k gauss3 in.pgm -f pnm - >../wanted.pgm
}

wanted()
{
    cmp ../wanted.pgm "$1"
}

@test "an existing output is replaced, its mode kept" {
    printf old >out.pgm
    chmod 640 out.pgm
    ok blur -k gauss3 in.pgm out.pgm
    wanted out.pgm
    [ "$(stat -c %a out.pgm)" = 640 ]
    only in.pgm out.pgm
}

@test "a new output has the mode that umask leaves" {
    umask 027
    ok blur -k gauss3 in.pgm out.pgm
    [ "$(stat -c %a out.pgm)" = 640 ]
    umask 077
    ok blur -k gauss3 in.pgm private.pgm
    [ "$(stat -c %a private.pgm)" = 600 ]
}

@test "--no-clobber refuses, and does not touch" {
    printf old >out.pgm
    refused 4 blur -n -k gauss3 in.pgm out.pgm
    says out.pgm
    [ "$(cat out.pgm)" = old ]
    ok blur -n -k gauss3 in.pgm new.pgm
    only in.pgm new.pgm out.pgm
}

@test "in place: input and output are one file, by path, link and folder" {
    cp in.pgm same.pgm
    ok blur -k gauss3 same.pgm same.pgm
    wanted same.pgm
    cp in.pgm same.pgm
    ok blur -k gauss3 same.pgm ../"${PWD##*/}"/./same.pgm
    wanted same.pgm
    cp in.pgm same.pgm
    ln -s same.pgm link.pgm
    ok blur -k gauss3 link.pgm same.pgm
    wanted same.pgm
    cp in.pgm same.pgm
    ok blur -k gauss3 same.pgm link.pgm
    wanted same.pgm
    [ -L link.pgm ]
    only in.pgm link.pgm same.pgm
}

@test "a symbolic link is followed: the target is replaced, the link stays" {
    mkdir there
    printf old >there/target.pgm
    ln -s there/target.pgm link.pgm
    ln -s link.pgm second.pgm
    ok blur -k gauss3 in.pgm second.pgm
    [ -L link.pgm ]
    [ -L second.pgm ]
    wanted there/target.pgm
    [ "$(ls -A there)" = target.pgm ]
    # To nothing: the target is made.
    ln -s there/new.pgm dangling.pgm
    ok blur -k gauss3 in.pgm dangling.pgm
    wanted there/new.pgm
    ln -s loop.pgm loop.pgm
    refused 4 blur -k gauss3 in.pgm loop.pgm
    [ -L loop.pgm ]
}

@test "another name of the old output keeps the old bytes" {
    printf old >out.pgm
    ln out.pgm other.pgm
    ok blur -k gauss3 in.pgm out.pgm
    wanted out.pgm
    [ "$(cat other.pgm)" = old ]
}

@test "a read-only output is refused, a read-only folder too" {
    [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null || skip 'root without setpriv'
    as=()
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        "${as[@]}" "$GPUFILT" --version >/dev/null 2>&1 || skip 'the program cannot be run by nobody'
        chmod 755 "$BATS_RUN_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR/test" .. . 2>/dev/null
        "${as[@]}" test -r in.pgm || skip 'the folder cannot be read by nobody'
    fi
    mkdir shut open
    chmod 777 open
    chmod 555 shut
    printf old >open/out.pgm
    chmod 444 open/out.pgm
    expect 4 "${as[@]}" "$GPUFILT" blur -k gauss3 in.pgm open/out.pgm
    says open/out.pgm
    [ "$(cat open/out.pgm)" = old ]
    expect 4 "${as[@]}" "$GPUFILT" blur -k gauss3 in.pgm shut/out.pgm
    says shut
    chmod 000 in.pgm
    expect 3 "${as[@]}" "$GPUFILT" blur -k gauss3 in.pgm open/new.pgm
    says in.pgm
    [ "$(ls -A open)" = out.pgm ]
    [ -z "$(ls -A shut)" ]
}

@test "devices and pipes are written straight away" {
    ok blur -k gauss3 in.pgm -f pnm /dev/null
    [ -c /dev/null ]
    mkfifo pipe
    timeout 20 cat pipe >got.pgm &
    ok blur -k gauss3 in.pgm -f pnm pipe
    wait
    wanted got.pgm
    [ -p pipe ]
    "$GPUFILT" blur -k gauss3 in.pgm -f pnm /dev/stdout >got.pgm
    wanted got.pgm
    "$GPUFILT" blur -k gauss3 /dev/stdin got.pgm <in.pgm
    wanted got.pgm
}

@test "images are never sent to a terminal" {
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip 'no script(1), or no terminal for it'
    run script -qec '"$GPUFILT" blur -k gauss3 in.pgm -f pnm -' typescript </dev/null
    [ "$status" -eq 2 ] || fail 'status on a terminal'
    [[ $output == *gpufilt:*terminal* ]] || fail 'no word about the terminal'
    [[ $output != *P5* ]] || fail 'the image was sent'
    # Text is.
    run script -qec '"$GPUFILT" info in.pgm' typescript </dev/null
    [ "$status" -eq 0 ]
    [[ $output == *4* ]]
}

@test "names with control characters are escaped in messages" {
    name=$'evil\e[31m\nname\x07.pgm'
    attempt "$GPUFILT" blur -k gauss3 "$name" out.pgm
    [ "$status" -eq 3 ]
    [ "${#stderr_lines[@]}" -eq 1 ] || fail 'the newline came through'
    [[ $stderr != *$'\e'* && $stderr != *$'\x07'* ]] || fail 'a control character came through'
    [[ $stderr == *evil* ]]
    # Bytes that are not UTF-8.
    attempt "$GPUFILT" blur -k gauss3 $'caf\xe9.pgm' out.pgm
    [ "$status" -eq 3 ]
    [[ $stderr != *$'\xe9'* ]] || fail 'a byte that is not UTF-8 came through'
    # Such names work all the same.
    cp in.pgm "$name"
    ok blur -k gauss3 "$name" $'out\e.pgm'
    wanted $'out\e.pgm'
    # In reports as well.
    attempt "$GPUFILT" info "$name"
    [[ $output != *$'\e'* ]] || fail 'info prints a control character'
    attempt "$GPUFILT" info --json "$name"
    python3 -c 'import json, sys; json.loads(sys.argv[1])' "$output"
}

@test "what a file says about itself is escaped too" {
    python3 "$tests/corpus/make_corpus.py" corpus
    attempt "$GPUFILT" info corpus/good-tiff-description-not-utf8.tif
    [ "$status" -eq 0 ]
    [[ $output != *$'\e'* && $output != *$'\xe9'* ]] || fail 'raw bytes of the file came through'
    attempt "$GPUFILT" info --json corpus/good-tiff-description-not-utf8.tif
    python3 -c 'import json, sys; json.loads(sys.argv[1])' "$output"
}

@test "names of all kinds: blanks, dashes, UTF-8, very long" {
    for name in 'a b.pgm' '-dash.pgm' 'çédille.pgm' '%s%n.pgm' "$(printf 'x%.0s' {1..251}).pgm" '.hidden.pgm'; do
        cp in.pgm "./$name"
        ok blur -k gauss3 -- "$name" "$name"
        wanted "./$name"
    done
}

@test "an empty name is an error" {
    refused 3 blur -k gauss3 '' out.pgm
    refused 2 blur -k gauss3 in.pgm ''
    only in.pgm
}

@test "many writers of one output: one whole result" {
    cp "$samples/cell.png" a.png
    "$GPUFILT" blur -k gauss3 a.png -f png - >one.png
    "$GPUFILT" blur -k box9 a.png -f png - >two.png
    mkdir shared
    for round in 1 2 3 4 5; do
        pids=()
        for n in 1 2 3 4; do
            "$GPUFILT" blur --sync none -k gauss3 a.png shared/out.png &
            pids+=($!)
            "$GPUFILT" blur --sync none -k box9 a.png shared/out.png &
            pids+=($!)
        done
        for pid in "${pids[@]}"; do wait "$pid"; done
        cmp -s shared/out.png one.png || cmp -s shared/out.png two.png || fail "round $round: torn"
        [ "$(ls -A shared)" = out.png ] || fail "round $round: $(ls -A shared)"
    done
}

@test "-o DIR: a batch; the folder is made" {
    cp in.pgm two.pgm
    ok blur -k gauss3 -o made in.pgm two.pgm
    wanted made/in.pgm
    wanted made/two.pgm
    ok blur -k gauss3 -o made --suffix -soft in.pgm
    wanted made/in-soft.pgm
    ok blur -k gauss3 -o made -f png in.pgm
    [ -e made/in.png ]
}

@test "a batch with a bad file: the others are done, status 8" {
    printf 'P5 4 3 255\nshort' >bad.pgm
    cp in.pgm two.pgm
    attempt "$GPUFILT" blur -k gauss3 -o made in.pgm bad.pgm missing.pgm two.pgm
    [ "$status" -eq 8 ] || fail 'status'
    says bad.pgm
    says missing.pgm
    wanted made/in.pgm
    wanted made/two.pgm
    [ "$(ls -A made | wc -l)" -eq 2 ]
}

@test "two inputs of one name do not overwrite each other in a batch" {
    mkdir a b
    cp in.pgm a/x.pgm
    cp in.pgm b/x.pgm
    attempt "$GPUFILT" blur -k gauss3 -o made a/x.pgm b/x.pgm
    [ "$status" -ne 0 ] || fail 'one result was lost without a word'
    says x.pgm
}

@test "the working folder may be gone" {
    mkdir gone
    work=$PWD
    cd gone
    rmdir "$work/gone"
    ok blur -k gauss3 "$work/in.pgm" "$work/out.pgm"
    cd "$work"
    wanted out.pgm
}

@test "neither the locale nor the environment matters" {
    LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 ok blur -k gauss3 in.pgm out.pgm
    wanted out.pgm
    expect 0 env -i "$GPUFILT" blur -k gauss3 in.pgm out.pgm
    wanted out.pgm
}

@test "no colour and no progress where there is no terminal" {
    attempt "$GPUFILT" blur -v -k gauss3 in.pgm out.pgm
    [[ $stderr != *$'\e'* && $stderr != *$'\r'* ]]
}
