"""Command lines, a word a line and without the program's name: seeds for the fuzz target of the
command line."""
import os
import shlex

LINES = '''
blur -k gauss5 in.png out.png
blur --sigma 1.5 --border wrap in.tif out.tif
blur --sigma 1,2,0.5 --3d in.tif out.tif
blur --sigma=1.5mm --spacing 0.7,0.7,1.5 in.raw out.tif
blur --fwhm 800um,2px --truncate 3 in.tif -f tiff -
blur -k box3 -b normalize -o smooth/ --suffix _s a.png b.png
blur -k gauss3 -b constant --fill -2.5 -t i16 --on-clip error in out.tif
blur --sigma 0.3um --spacing 0.8um --roi 1,2,0+3x2x1 -j 3 in out.raw
blur -s2 -bvalid -nqv --level 9 --compression zstd --sync none in out
blur -k log5 --border reflect101 --alpha independent --max-memory 512M in out.pfm
correlate -k sobel-x in.png gradient.tif
correlate -k sobel-z --3d in.tif gradient.tif
correlate -k '0,-1,0; -1,5,-1; 0,-1,0' in.png sharp.png
correlate -k '3x1+0+0: 1 2 -3 / 7' --type f32 in out.pfm
correlate -k '1,2;3,4;;5,6;7,8' --border symmetric in out.tif
convolve -k '0.25 0.5 0.25' --border=clamp --explain in
convolve -k 16777216,1 -t u32 -b zero in out.tif
convert --raw 512x512x300:u16be+1024 in.raw out.tif
convert --raw 4x3:u8x3le -f png - -
convert --roi 100,50+256x200 --dry-run in.tif part.tif
convert --device cuda:1 --gpu-memory 512M --layout packed in.tif out.tif
blur --sigma 1 --device auto in out.png
devices --json
selftest --device cpu --json
info --json a.tif b.png
info --raw 2x2:f64 --spacing 1 -- -strange
masks list
masks show gauss5
masks make gauss --sigma 2 --truncate 3 --3d
masks make box --size 3,5
help border
help blur
blur --help
--version
-h
blur -k mirror in out
blur --border mirror -k gauss3 in out
blurr
blur --sigm 1 in out
'''


def make(folder):
    os.makedirs(folder, exist_ok=True)
    for number, line in enumerate(LINES.strip().split('\n')):
        with open(os.path.join(folder, '%02d' % number), 'w', encoding='ascii') as f:
            f.write('\n'.join(shlex.split(line)) + '\n')
