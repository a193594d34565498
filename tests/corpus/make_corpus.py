#!/usr/bin/env python3
"""Writes the corpus of good, bad and unsupported files, and what each must give.

    make_corpus.py FOLDER

good-*         must be read, sample by sample as expected.tsv has it
bad-*          must be refused, with that status
unsupported-*  sound, but beyond the program: refused as well

The samples come from an integer formula (common.py), never from a decoder, so the answers are
independent of every library. expected.tsv has a line a file: its name, the exit status ('0|5':
either), width, height, depth, images, channels, sample type, the sha256 of all samples as read
(little-endian, [image][plane][row][column][channel]), and options for the command; '-' is none.
Standard library only; the same bytes on every run with one version of zlib.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import command_lines  # noqa: E402
import common        # noqa: E402
import mask_files    # noqa: E402
import nifti_files   # noqa: E402
import plain_files   # noqa: E402
import png_files     # noqa: E402
import tiff_files    # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: make_corpus.py FOLDER')
    os.makedirs(sys.argv[1], exist_ok=True)
    corpus = common.Corpus(sys.argv[1])
    for maker in (png_files, tiff_files, plain_files, nifti_files):
        maker.make(corpus)
    corpus.finish()
    mask_files.make(os.path.join(sys.argv[1], 'masks'))
    command_lines.make(os.path.join(sys.argv[1], 'words'))


if __name__ == '__main__':
    main()
