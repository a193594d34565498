# gpufilt bench: what it prints, and with which status. Whether the kernels are right is check_ladder's.
load helpers

# simulated ARGUMENTS: counted, in a small size.
simulated()
{
    ok bench --simulate "$@"
}

need_simulation()
{
    ! "$GPUFILT" bench copy --simulate -n 5 2>&1 | grep -q 'built with ThreadSanitizer' ||
        skip 'a build without the simulation'
}

gpu_is_there()
{
    "$GPUFILT" devices | grep -q '^cuda:0 ' && "$GPUFILT" blur -k gauss3 --device cuda "$samples/cell.png" x.png
}

@test "bench: tables of every ladder, counted" {
    need_simulation
    simulated reduce -n 5000
    prints 'a model of one NVIDIA H200'
    prints 'reduce: 5000 samples, 19.5 KiB'
    prints '%simt'
    prints 'rounds of a block of 1024 threads: pairs'
    prints 'bank conflicts'
    prints 'with its barrier: right, no race'
    prints 'without its barrier: wrong, a race:'
    [[ $output != *FAIL* ]] || fail 'a FAIL'
    [ "$(wc -L <<<"$output")" -le 108 ] || fail 'lines too long'
    simulated conv2d --size 50x40 --taps 3 --gpu rtx-4090
    prints 'NVIDIA GeForce RTX 4090'
    prints 'conv2d: 50x40 samples, 3x3 taps, zero outside'
    prints 'reuse'
    [[ $output != *'bank conflicts'* ]] || fail 'ideas of the reduction'
    simulated conv3d --size 12x11x10 --valid
    prints 'conv3d: 12x11x10 samples, 5x5x5 taps, valid outputs alone'
    simulated copy reduce -n 1
    prints 'copy: 1 sample, '
    prints 'reduce: 1 sample, '
}

@test "bench: the same numbers each time" {
    need_simulation
    simulated reduce -n 3001 --json
    local first=$output
    simulated reduce -n 3001 --json
    [ "$first" = "$output" ] || fail 'they differ'
}

@test "bench: the known sums of the rounds, and the banks" {
    need_simulation
    simulated reduce -n 1000 --json
    python3 - "$output" <<'END'
import json, sys
d = json.loads(sys.argv[1])
assert d['schema'] == 'gpufilt-bench-1' and d['gpu'] is None
s = d['simulation']
sums = {r['step']: (sum(x['useful'] for x in r['rounds']), sum(x['slots'] for x in r['rounds'])) for r in s['rounds']}
assert sums == {'pairs': (2047, 7136), 'modulo': (1023, 6112), 'sequential': (1023, 1152)}, sums
rounds = [(b['pattern'], b['wavefronts'] / b['requests']) for b in s['banks']]
assert [r for _, r in rounds] == [1, 2, 4, 8, 16, 32, 1, 1, 1, 1], rounds
with_barrier, without = s['reversal']
assert with_barrier == {'barrier': True, 'right': True, 'race': None}, with_barrier
assert not without['barrier'] and 'race' in without['race'] and 'thread' in without['race'], without
END
}

@test "bench: JSON and CSV hold the same, with the names of the man page" {
    need_simulation
    simulated all -n 2000 --size 40x30 --json
    printf '%s' "$output" >bench.json
    simulated all -n 2000 --size 40x30 --csv
    printf '%s\n' "$output" >bench.csv
    python3 - "$tests/../man/gpufilt-bench.1" <<'END'
import csv, json, re, sys
page = open(sys.argv[1]).read()
d = json.load(open('bench.json'))
rows = list(csv.DictReader(open('bench.csv')))
steps = [(l['ladder'], s) for l in d['simulation']['ladders'] for s in l['steps']]
assert [l['ladder'] for l in d['simulation']['ladders']] == ['reduce', 'conv2d', 'conv3d', 'copy']
assert len(rows) == len(steps) >= 20, (len(rows), len(steps))
for row, (ladder, step) in zip(rows, steps):
    assert None not in row and None not in row.values()
    assert (row['device'], row['ladder'], row['step']) == ('simulation', ladder, step['step']), row
    if step['skipped']:
        assert row['skipped'] == step['skipped']
        continue
    assert step['pass'] and row['pass'] == 'yes', row
    for name in ('blocks', 'warp_instructions', 'barriers', 'global_sectors'):
        assert int(row[name]) == step[name], (name, row)
    for name in ('error', 'issue_seconds', 'memory_seconds'):
        assert float(row[name]) == step[name], (name, row)
    assert row['seconds'] == '' and row['same_bits'] == ''

def section(name):
    return re.search(rf'^\.Sh {name}$(.*?)^\.Sh', page, re.M | re.S).group(1)

said = [word for line in re.findall(r'^\.It Cm (.*)$', section('CSV'), re.M) for word in line.split(' , ')]
assert said == list(rows[0]), set(said) ^ set(rows[0])

def names(value):
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            yield from names(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from names(inside)

here = set(names(d))
there = set(re.findall(r'"(\w+)":', section('JSON')))
assert here <= there, here - there
timed = set('compute_capability peak_bytes_per_second peak_flops_per_second copy_bytes_per_second seconds '
            'fastest_seconds slowest_seconds bytes flops flops_per_second of_copy of_peak of_peak_flops '
            'times_first'.split())
assert there - here == timed, (there - here) ^ timed
END
}

@test "bench: every step is in the man page with what it changes" {
    python3 - "$tests/.." <<'END'
import re, sys
root = sys.argv[1]
page = open(f'{root}/man/gpufilt-bench.1').read()
steps = re.search(r'^\.Sh STEPS$(.*?)^\.Sh', page, re.M | re.S).group(1)
said = {}
for ladder, body in re.findall(r'^\.Ss (\w+)\n\.Bl.*?\n(.*?)^\.El', steps, re.M | re.S):
    for key, text in re.findall(r'^\.It Cm (\S+)\n(.*?)(?=^\.It|\Z)', body, re.M | re.S):
        said[ladder, key] = ' '.join(text.replace('\\&', '').split())
string = r'"([^"]*)"'
table = {}
for ladder, key, name, change in re.findall(
        rf'^STEP\(GF_(\w+), \w+,\s*{string},\s*((?:"[^"]*"\s*)+),\s*((?:"[^"]*"\s*)+)\)',
        open(f'{root}/src/bench/steps.def').read(), re.M):
    name, change = (''.join(re.findall(string, s)) for s in (name, change))
    table[ladder.lower(), key] = f'{name[0].upper()}{name[1:]}: {change}.'
assert len(table) >= 20
assert list(table) == list(said) or set(table) == set(said), set(table) ^ set(said)
for key in table:
    assert table[key] == said[key], (table[key], said[key])
END
}

@test "bench: pictures" {
    need_simulation
    simulated conv2d copy --size 40x30 -n 100 --plot steps.svg
    grep -q 'conv2d GFLOP/s at most by the model' steps.svg
    python3 -c 'import sys, xml.dom.minidom as x; x.parse("steps.svg")'
    simulated copy -n 100 --plot steps.PNG
    "$GPUFILT" info steps.PNG | grep -q 800
    only steps.svg steps.PNG
    attempt "$GPUFILT" bench copy --simulate -n 100 --csv --plot no/such/folder.svg
    [ "$status" -eq 4 ] || fail 'a picture in no folder'
    prints 'to-host-pinned'
    says 'no/such/folder.svg'
}

@test "bench: without a GPU it says so in one line, and counts" {
    need_simulation
    ! gpu_is_there || skip 'a GPU is there'
    rm -f x.png
    expect 0 "$GPUFILT" bench copy -n 1000000000
    [ "${#stderr_lines[@]}" -eq 1 ] || fail 'not one line'
    says 'warning: bench: nothing is timed, the kernels are counted instead (--simulate): '
    # The simulation does not take what was meant for a GPU.
    prints 'copy: 65536 samples'
    ok bench copy -n 100 -q
    refused 7 bench copy --device cuda
    refused 7 bench all --device cuda:3 --json
}

@test "bench: on a GPU" {
    gpu_is_there || skip 'no GPU'
    ok bench reduce copy -n 2^20 --repeat 3 --json
    python3 - "$output" <<'END'
import json, sys
d = json.loads(sys.argv[1])
assert d['simulation'] is None and d['gpu']['copy_bytes_per_second'] > 0
for ladder in d['gpu']['ladders']:
    for step in ladder['steps']:
        assert step['skipped'] or (step['pass'] and step['seconds'] > 0), step
END
    ok bench all -n 2^16 --size 64x64 --repeat 2
    prints 'peak, by its clock and width'
    prints 'Counted on a GPU in software'
}

@test "bench: usage" {
    refused 2 bench
    says 'which ladder'
    refused 2 bench reduc
    says "did you mean 'reduce'"
    refused 2 bench reduce -n 128M
    says '128Mi'
    refused 2 bench reduce --gpu nothing --simulate
    says 'H200 H100'
    refused 2 bench reduce --simulate --plot a.jpg
    refused 2 bench conv3d --size 9x9
    refused 2 blur --simulate a b
    says 'not an option of blur but of bench'
}

@test "bench: a signal ends it between two steps" {
    need_simulation
    python3 - "$GPUFILT" <<'END'
import signal, subprocess, sys, time
process = subprocess.Popen([sys.argv[1], 'bench', 'reduce', 'copy', '--simulate', '-n', '2^22', '--json'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
time.sleep(0.5)
assert process.poll() is None, 'it ended before the signal'
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=300)
assert process.returncode == -signal.SIGINT, process.returncode
assert out == b'', out
END
}
