#!/usr/bin/env bats
# Volumes that are deflated as a whole, and files that come in pairs, on the command line.
load helpers

# A volume of 20x10x8 u16 under this name; and what a plain run makes of it in wanted.raw.
make_volume()
{
    python3 - "$1" <<'END'
import random, struct, sys
r = random.Random(5)
open(sys.argv[1], 'wb').write(struct.pack('<1600H', *(r.randrange(4000) for _ in range(1600))))
END
    ok blur --sigma 1 "$1" wanted.raw
}

@test "raw.gz in and out, by content and by name" {
    make_volume v_20x10x8_u16le.raw
    gzip -n -k v_20x10x8_u16le.raw
    ok blur --sigma 1 v_20x10x8_u16le.raw.gz out.raw
    cmp wanted.raw out.raw
    # Whatever it is called, and from standard input.
    cp v_20x10x8_u16le.raw.gz named_20x10x8_u16le.raw
    ok blur --sigma 1 named_20x10x8_u16le.raw out.raw
    cmp wanted.raw out.raw
    "$GPUFILT" blur --sigma 1 --raw 20x10x8:u16 - -f raw - <v_20x10x8_u16le.raw.gz >out.raw
    cmp wanted.raw out.raw
    # Several members, and zeros behind them.
    { head -c 999 v_20x10x8_u16le.raw | gzip -1; gzip </dev/null
      tail -c +1000 v_20x10x8_u16le.raw | gzip -9; head -c 5000 /dev/zero; } >m_20x10x8_u16le.raw.gz
    ok blur --sigma 1 m_20x10x8_u16le.raw.gz out.raw.gz
    gzip -t out.raw.gz
    gzip -dc out.raw.gz | cmp wanted.raw -
    ok blur --sigma 1 v_20x10x8_u16le.raw o_20x10x8_u16be.raw.gz
    ok convert o_20x10x8_u16be.raw.gz out.raw
    cmp wanted.raw out.raw
}

@test "the same bytes from any number of threads; levels; no time, no name" {
    cp "$samples/ct_96x96x64_u16le.raw" v_96x96x64_u16le.raw
    for jobs in 1 2 3 8; do
        ok convert -j $jobs v_96x96x64_u16le.raw $jobs.raw.gz
        cmp 1.raw.gz $jobs.raw.gz
    done
    [ "$(head -c 10 1.raw.gz | od -An -tx1 | tr -d ' ')" = 1f8b08000000000000ff ]
    for level in 0 1 6 9; do
        ok convert --level $level v_96x96x64_u16le.raw l$level.raw.gz
        gzip -dc l$level.raw.gz | cmp v_96x96x64_u16le.raw -
    done
    cmp l1.raw.gz 1.raw.gz
    [ "$(stat -c %s l9.raw.gz)" -lt "$(stat -c %s l6.raw.gz)" ]
    [ "$(stat -c %s l6.raw.gz)" -lt "$(stat -c %s l1.raw.gz)" ]
    [ "$(stat -c %s l1.raw.gz)" -lt "$(stat -c %s l0.raw.gz)" ]
}

@test "-f, --compression and names say one thing" {
    make_volume v_20x10x8_u16le.raw
    "$GPUFILT" convert -f raw.gz v_20x10x8_u16le.raw - >a
    gzip -dc a | cmp v_20x10x8_u16le.raw -
    "$GPUFILT" convert -f raw --compression gzip v_20x10x8_u16le.raw - | cmp a -
    "$GPUFILT" convert -f raw v_20x10x8_u16le.raw - | cmp v_20x10x8_u16le.raw -
    # What goes on through a pipe is only deflated on request.
    gzip -n -k v_20x10x8_u16le.raw
    "$GPUFILT" convert v_20x10x8_u16le.raw.gz - | cmp v_20x10x8_u16le.raw -
    ok convert --compression gzip v_20x10x8_u16le.raw b.raw.gz
    cmp a b.raw.gz
    ok convert --compression none v_20x10x8_u16le.raw b.raw
    cmp v_20x10x8_u16le.raw b.raw
    refused 2 convert --compression gzip v_20x10x8_u16le.raw c.raw
    says 'needs a name that ends in .gz'
    refused 2 convert --compression none v_20x10x8_u16le.raw c.raw.gz
    says 'the name says gzip'
    refused 2 convert --compression lzw v_20x10x8_u16le.raw c.raw
    says 'raw has none gzip'
    refused 2 convert --compression gzip v_20x10x8_u16le.raw c.png
    says '--compression is not for png'
    refused 2 convert --compression gzip v_20x10x8_u16le.raw c.tif
    refused 2 convert --compression bzip2 v_20x10x8_u16le.raw c.raw
    says 'gzip'
    refused 2 convert v_20x10x8_u16le.raw c.png.gz
    says 'no format by this name'
    refused 2 convert -f png.gz v_20x10x8_u16le.raw c.png
    [ ! -e c.raw ] && [ ! -e c.raw.gz ] && [ ! -e c.png ] && [ ! -e c.tif ]
}

@test "damage, truncation and what follows are errors, each with its place" {
    make_volume v_20x10x8_u16le.raw
    gzip -n -k v_20x10x8_u16le.raw
    size=$(stat -c %s v_20x10x8_u16le.raw.gz)
    for cut in 3 10 11 100 $((size - 9)) $((size - 8)) $((size - 1)); do
        head -c $cut v_20x10x8_u16le.raw.gz >t_20x10x8_u16le.raw.gz
        refused 3 blur --sigma 1 t_20x10x8_u16le.raw.gz out.raw
        [ ! -e out.raw ]
    done
    says 'truncated'
    { cat v_20x10x8_u16le.raw.gz; printf junk; } >j_20x10x8_u16le.raw.gz
    refused 3 blur --sigma 1 j_20x10x8_u16le.raw.gz out.raw
    says "4 bytes from byte $size on are behind the end of the gzip data"
    cp v_20x10x8_u16le.raw.gz c_20x10x8_u16le.raw.gz
    printf '\0\0\0\0' | dd of=c_20x10x8_u16le.raw.gz bs=1 seek=$((size - 8)) conv=notrunc status=none
    refused 3 blur --sigma 1 c_20x10x8_u16le.raw.gz out.raw
    says 'incorrect data check'
    cp v_20x10x8_u16le.raw.gz s_20x10x9_u16le.raw.gz
    refused 3 blur --sigma 1 s_20x10x9_u16le.raw.gz out.raw
    says 'inflate to 3200 bytes'
    cp v_20x10x8_u16le.raw.gz s_20x10x7_u16le.raw.gz
    refused 3 blur --sigma 1 s_20x10x7_u16le.raw.gz out.raw
    says 'more than the 2800 bytes'
    cp v_20x10x8_u16le.raw.gz s_20000x20000x70_u16le.raw.gz
    refused 3 blur --sigma 1 s_20000x20000x70_u16le.raw.gz out.raw
    says 'cannot hold the 56000000000 bytes'
    # Other formats are not looked for inside.
    ok convert "$samples/ct_96x96x64_u16le.raw" --roi 0,0,0+9x9x1 p.png
    gzip -n p.png
    refused 5 convert p.png.gz out.tif
    says 'gzip-compressed'
    [ ! -e out.raw ] && [ ! -e out.tif ]
}

@test "any order: wrap and regions of a deflated volume, in little memory" {
    cp "$samples/ct_96x96x64_u16le.raw" v_96x96x64_u16le.raw
    gzip -n -k v_96x96x64_u16le.raw
    for options in '--border wrap --sigma 2' '--roi 3,4,40+50x40x20 --sigma 1' '--2d --sigma 1'; do
        # shellcheck disable=SC2086
        ok blur $options v_96x96x64_u16le.raw wanted.raw
        # shellcheck disable=SC2086
        ok blur $options v_96x96x64_u16le.raw.gz out.raw
        cmp wanted.raw out.raw
    done
    "$GPUFILT" stats --json v_96x96x64_u16le.raw | sed 's/"[^"]*raw"//' >wanted
    "$GPUFILT" stats --json v_96x96x64_u16le.raw.gz | sed 's/"[^"]*raw.gz"//' >got
    cmp wanted got
}

@test "into a folder: names keep .gz, and second files do not clash" {
    make_volume v_20x10x8_u16le.raw
    gzip -n -k v_20x10x8_u16le.raw
    ok blur --sigma 1 -o out/ --suffix _b v_20x10x8_u16le.raw.gz
    [ "$(ls out)" = v_20x10x8_u16le_b.raw.gz ]
    gzip -dc out/v_20x10x8_u16le_b.raw.gz | cmp wanted.raw -
    ok convert -f raw.gz -o more/ v_20x10x8_u16le.raw
    [ "$(ls more)" = v_20x10x8_u16le.raw.gz ]
    # a.mhd would have its samples in a.raw, which is another input.
    mkdir here
    cp v_20x10x8_u16le.raw here/a.raw
    ok convert --raw 20x10x8:u16 here/a.raw here/b.mhd
    mv here/a.raw here/x.raw
    cp here/x.raw a.raw
    refused 2 convert --raw 20x10x8:u16 a.raw a.mhd
    says 'its samples would go to a.raw, which is the input'
    cmp a.raw v_20x10x8_u16le.raw
    cp here/b.mhd here/b.raw .
    cp here/b.raw other_20x10x8_u16.raw
    ok convert b.mhd c.mhd
    refused 2 convert -o . --suffix '' b.mhd b.raw
    cmp b.raw v_20x10x8_u16le.raw
    rm c.mhd
    attempt "$GPUFILT" convert -n --dry-run b.mhd c.mhd
    [ "$status" -eq 4 ]
    says 'c.raw: exists already'
    refused 4 convert -n b.mhd c.mhd
    [ ! -e c.mhd ]
}
