#!/bin/bash
# Builds gpufilt for one kind of GPU, checks it on that GPU against the CPU, and measures it and its peers.
#
#     tests/bench/gpu.sh build                         into build-gpu/run, which can be carried
#     tests/bench/gpu.sh run [--quick] [STEP...]       on the machine with the GPU
#     tests/bench/gpu.sh [--quick] [STEP...]           both
#
# Steps, all of them unless some are named: check (check_backend), measure (check_measure), matrix (the same commands
# on both devices), sanitize (compute-sanitizer), kernels, stats, peers, whole (whole commands). Everything goes to build-gpu/out, the tables
# to results.md there (results-h200.md is one) and, last, to standard output. Exit status 1 when samples differ or a
# step failed.
#
# environment: GPU_ARCH (90); JOBS, compilers at a time (all processors); OUT, a folder that gets copies of results.md,
# results.jsonl and log.txt
#
# The build needs what gpufilt needs, and nvcc; the other machine only a driver, and for the peers CuPy, PyTorch and
# NPP, each left out where it is not. The libraries that gpufilt loads travel in build-gpu/run/lib.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build-gpu
run=$build/run
out=$build/out
arch=${GPU_ARCH:-90}
jobs=${JOBS:-$(nproc)}
quick=
failed=

die()
{
    printf 'gpu.sh: %s\n' "$*" >&2
    exit 2
}

# ---- building ----

# The shared libraries of a program that another distribution may lack.
carry_libraries()
{
    mkdir -p "$run/lib"
    ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so' | xargs -r cp -Lt "$run/lib"
}

# bench NAME OPTIONS... : a program of this folder
bench()
{
    local name=$1
    shift
    nvcc -std=c++17 -O3 -arch="sm_$arch" -Werror all-warnings -Xcompiler -Wall,-Wextra "$here/$name.cu" -o "$run/$name" "$@"
}

# shellcheck disable=SC2016
build_all()
{
    local core=$build/cmake/src/libgpufilt_core.a
    mkdir -p "$run"
    # DT_RPATH: the libraries' own libraries are found by it too.
    if ! { cmake -S "$root" -B "$build/cmake" -DCMAKE_BUILD_TYPE=Release -DGPUFILT_TEST_HOOKS=ON -DGPUFILT_CUDA=ON \
        -DCMAKE_CUDA_ARCHITECTURES="$arch" -DCMAKE_BUILD_RPATH='$ORIGIN/lib' \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags &&
        cmake --build "$build/cmake" --target gpufilt check_backend check_measure check_ladder -j "$jobs"; } >"$build/cmake.log" 2>&1; then
        grep -E 'error|Error' "$build/cmake.log" | head -20
        die 'the build failed'
    fi
    bash "$root/tests/check_host_calls.sh" "$build"/cmake/cuda/CMakeFiles/gpufilt_cuda.dir/*.o || exit 2
    cp "$build"/cmake/{gpufilt,check_backend,check_measure,check_ladder} "$run"
    carry_libraries "$build/cmake/gpufilt"
    gcc -std=c17 -O2 -D_GNU_SOURCE -I"$root/src" -c "$here/bench_rows.c" -o "$build/bench_rows.o" || die 'bench_rows.c'
    bench bench_kernels --fmad=false -DGF_DEVICE=gf_cuda -I"$root/src" -I"$root/cuda" "$build/bench_rows.o" "$core" \
        -lpthread || die 'bench_kernels.cu'
    bench bench_stats_gpu --fmad=false -DGF_DEVICE=gf_cuda -I"$root/src" -I"$root/cuda" "$core" -lpthread ||
        die 'bench_stats_gpu.cu'
    bench textbook || die 'textbook.cu'
}

# NPP comes with a whole toolkit, often only where the GPU is.
build_npp()
{
    [ -x "$run/npp_peer" ] && return
    echo '#include <nppi_filtering_functions.h>' | nvcc -x cu -E - >/dev/null 2>&1 || return
    bench npp_peer -lnppif -lnppist -lnppc
}

# ---- running ----

say() { printf '== %s (%s s)\n' "$*" "$SECONDS"; }

# step NAME LINES COMMAND... : its output to out/NAME.txt, the last lines here
step()
{
    local name=$1 lines=$2
    shift 2
    say "$name"
    if "$@" >"$out/$name.txt" 2>&1; then
        tail -n "$lines" "$out/$name.txt"
    else
        tail -n 20 "$out/$name.txt" | cut -c 1-200
        say "$name FAILED"
        failed="$failed $name"
    fi
}

# results NAME COMMAND... : its standard output, one line of JSON a result, to out/NAME.jsonl
results()
{
    local name=$1
    shift
    say "$name"
    if ! "$@" >"$out/$name.jsonl" 2>"$out/$name.txt"; then
        tail -15 "$out/$name.txt"
        say "$name FAILED"
        failed="$failed $name"
    fi
}

step_check()
{
    local -a plans=(--seconds 40)
    [ -n "$quick" ] && plans=(--some --seconds 5)
    step check 3 timeout 170 "$run/check_backend" --backend cuda "${plans[@]}" --iterations 1000000
}

step_measure()
{
    step measure 3 timeout 170 "$run/check_measure" --backend cuda --seconds "$([ -n "$quick" ] && echo 5 || echo 40)"
}

# One command on both devices: a line when its statuses or files differ, or when there is no file.
one_command()
{
    local name=$1 folder device
    local -A status
    shift
    folder=$(mktemp -d)
    for device in cpu cuda; do
        "$run/gpufilt" "$@" -q --device "$device" "$name" "$folder/$device.raw" 2>"$folder/$device.err"
        status[$device]=$?
    done
    if [ "${status[cpu]}" != "${status[cuda]}" ]; then
        printf 'DIFFERS: gpufilt %s %s: status %s on the CPU, %s: %s\n' "$*" "$name" "${status[cpu]}" "${status[cuda]}" \
            "$(cat "$folder/cuda.err")"
    elif [ "${status[cpu]}" != 0 ]; then
        printf 'no file: gpufilt %s %s: %s\n' "$*" "$name" "$(cat "$folder/cpu.err")"
    elif ! cmp -s "$folder/cpu.raw" "$folder/cuda.raw"; then
        printf 'DIFFERS: gpufilt %s %s\n' "$*" "$name"
    fi
    rm -r "$folder"
}

matrix()
{
    local commands=$out/commands border sample filter
    for sample in camera.png chelsea.png bubbles_rgba.png cells_16bit.tif ct_96x96x64_u16le.raw; do
        for border in zero 'constant --fill 7' clamp wrap symmetric reflect101 valid normalize; do
            for filter in '-k gauss5' '-k box31' '--sigma 1.5' '--sigma 12'; do
                echo "blur $filter --border $border"
            done
            for filter in 'correlate -k sobel-x' 'convolve -k laplace' 'correlate -k sharpen -t f32'; do
                echo "$filter --border $border"
            done
        done | sed "s|^|$root/samples/$sample |"
    done >"$commands"
    xargs -P 8 -L 1 "$0" one <"$commands" >"$out/differences"
    local all differ refused
    all=$(wc -l <"$commands")
    differ=$(grep -c '^DIFFERS' "$out/differences")
    refused=$(grep -c '^no file' "$out/differences")
    grep '^DIFFERS' "$out/differences"
    echo "$all commands; $differ differ; $refused refused, such as a derivative with normalize"
    [ "$differ" = 0 ] && [ "$all" -gt 200 ] && [ "$refused" -lt 20 ]
}

step_matrix() { step matrix 1 timeout 150 "$0" matrix; }

step_sanitize()
{
    local seconds=100
    [ -n "$quick" ] && seconds=30
    step sanitize 8 bash "$root/tests/gpu_sanitize.sh" "$run" "$seconds"
}

step_kernels() { results kernels timeout 200 "$run/bench_kernels" --family "$([ -n "$quick" ] && echo best || echo all)"; }

step_stats() { results stats timeout 120 "$run/bench_stats_gpu"; }

step_peers()
{
    results textbook timeout 60 "$run/textbook"
    build_npp >"$out/npp_build.txt" 2>&1
    [ -x "$run/npp_peer" ] && results npp timeout 60 "$run/npp_peer"
    [ -n "$quick" ] && return
    results cupy timeout 100 python3 "$here/peers_gpu.py" cupy
    results cudnn timeout 60 python3 "$here/peers_gpu.py" cudnn
    results cupy_stats timeout 60 python3 "$here/peers_gpu.py" stats
}

step_whole() { results whole timeout 240 python3 "$here/whole_gpu.py" "$run/gpufilt" ${quick:+--quick}; }

run_steps()
{
    [ -x "$run/gpufilt" ] || die "$run/gpufilt is missing: gpu.sh build first"
    nvidia-smi -L >/dev/null 2>&1 || die 'no GPU here'
    rm -rf "$out"
    mkdir -p "$out"
    for name in "$@"; do
        "step_$name"
    done
    say tables
    if compgen -G "$out/*.jsonl" >/dev/null; then
        {
            printf '# Speeds on one %s\n\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
            printf 'Made by gpu.sh: driver %s, %s. gpu_table.py says what the columns mean.\n\n' \
                "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)" "$("$run/gpufilt" --version | sed -n 's/^cuda */CUDA /p')"
            python3 "$here/gpu_table.py" "$out"/*.jsonl
        } | tee "$out/results.md"
    fi
    say "done${failed:+, FAILED:$failed}"
    if [ -n "${OUT:-}" ]; then
        cp "$out/results.md" "$OUT"
        cat "$out"/*.jsonl >"$OUT/results.jsonl"
        tail -n +1 "$out"/*.txt >"$OUT/log.txt"
    fi
    [ -z "$failed" ]
}

# ---- arguments ----

what=both
case ${1:-} in
build | run)
    what=$1
    shift ;;
matrix) matrix; exit ;;
one) shift; one_command "$@"; exit ;;
esac
steps=()
for argument in "$@"; do
    case $argument in
    --quick) quick=1 ;;
    check | measure | matrix | sanitize | kernels | stats | peers | whole) steps+=("$argument") ;;
    *) sed -n '2,/^set /{s/^# \{0,1\}//p}' "$0"; exit 2 ;;
    esac
done
[ "${#steps[@]}" -gt 0 ] || steps=(check measure matrix sanitize kernels stats peers whole)
[ "$what" = run ] || build_all
[ "$what" = build ] || run_steps "${steps[@]}"
