#!/bin/bash
# The CUDA kernels under compute-sanitizer's four tools, on small images, all at the same time.
#     gpu_sanitize.sh FOLDER [SECONDS]
# FOLDER holds check_backend, check_measure, check_ladder, bench_kernels and bench_stats_gpu (gpu.sh build). Each has
# SECONDS (60) under each tool; to be stopped by that is no failure. Prints a line each, and the reports of those that failed.
set -u
folder=${1:?usage: gpu_sanitize.sh FOLDER [SECONDS]}
limit=${2:-60}
reports=$(mktemp -d)
trap 'rm -r "$reports"' EXIT
errors='^=+ *(Invalid|Misaligned|Uninitialized|Barrier error|Program hit|Leaked|(Error|Warning): .*(Race|hazard))'

# under TOOL PROGRAM ARGUMENT...: its line, and more when it failed, in REPORTS/TOOL.PROGRAM
under()
{
    local tool=$1 name=${2##*/} report status verdict
    shift
    report=$(timeout -k 5 -s INT "$limit" compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 5 "$@" 2>&1)
    status=$?
    if [ $status = 0 ]; then
        verdict=$(grep SUMMARY <<<"$report" | sed 's/^=* *//')
    elif [ $status = 124 ] && ! grep -qE "$errors" <<<"$report"; then
        verdict="no error in $limit s"
    else
        verdict="FAILED, status $status"
    fi
    {
        printf '%-10s %-14s %s\n' "$tool" "$name" "$verdict"
        case $verdict in
        FAILED*) grep -v '^{' <<<"$report" | head -12 ;;
        esac
    } >"$reports/$tool.$name"
}

for tool in memcheck racecheck initcheck synccheck; do
    under "$tool" "$folder/bench_kernels" --small --family all &
    # initcheck (CUDA 13.0) takes what cudaMemcpy3DAsync writes for unwritten where the box is lower than the array it
    # lies in, as boxes of volumes are.
    [ $tool = initcheck ] || under "$tool" "$folder/check_backend" --backend cuda --some --iterations 500 &
    under "$tool" "$folder/bench_stats_gpu" --small &
    under "$tool" "$folder/check_measure" --backend cuda --some --seconds 20 &
    under "$tool" "$folder/check_ladder" --backend cuda --some &
done
wait
cat "$reports"/*
! grep -q FAILED "$reports"/*
