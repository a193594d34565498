#!/bin/bash
# Host code that calls a __device__ function from a template compiles to exit(1) without a
# word. Fails when an object of the CUDA backend does so.
#     check_host_calls.sh OBJECT...
set -eu
[ $# -gt 0 ] || { echo "usage: check_host_calls.sh OBJECT..." >&2; exit 2; }
failed=0
for object in "$@"; do
    undefined=$(nm -u "$object")
    if grep -qw exit <<<"$undefined"; then
        echo "$object: its host code calls a function that is for the device alone"
        failed=1
    fi
done
exit "$failed"
