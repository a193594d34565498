#!/bin/bash
# The samples that programs made come out the same again.
#     check_samples.sh SAMPLES MAKE_CT
set -eu
samples=${1:?} make_ct=${2:?}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$make_ct" "$folder/ct.raw"
cmp "$folder/ct.raw" "$samples/ct_96x96x64_u16le.raw"
python3 "$samples/make_pictures.py" "$folder"
cmp "$folder/cells_16bit.tif" "$samples/cells_16bit.tif"
# Its bytes depend on the version of zlib, its samples do not.
read_png=$(dirname "$0")/oracle/read_png.py
python3 "$read_png" "$folder/bubbles_rgba.png" >"$folder/made"
python3 "$read_png" "$samples/bubbles_rgba.png" >"$folder/kept"
cmp "$folder/made" "$folder/kept"
# Every file is in the table, and the table names no other.
for file in "$samples"/*; do
    [ -f "$file" ] || continue
    name=$(basename "$file")
    case $name in
    README.md | make_ct.c | make_pictures.py) ;;
    *) grep -qF "\`$name\`" "$samples/README.md" || { echo "samples/README.md does not name $name"; exit 1; } ;;
    esac
done
