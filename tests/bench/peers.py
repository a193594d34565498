#!/usr/bin/env python3
"""Times gpufilt against other tools on the same machine in the same run.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy scipy pillow pyvips pyvips-binary opencv-python-headless
    /tmp/peers/bin/python tests/bench/peers.py build/release/gpufilt [FOLDER=/dev/shm/gpufilt-bench]

Whole processes for gpufilt. The peers are timed inside a warm Python process, without its start and imports and with
memory that was touched before, which favours them. Each figure is the median of five; inputs are seeded noise over
waves, files in memory. Where a peer's result is wrong by more than rounding the row says so.
"""
import os
import statistics
import subprocess
import sys
import time

import cv2
import numpy as np
import pyvips
import scipy.ndimage as ndi
from PIL import Image

gpufilt = os.path.abspath(sys.argv[1])
folder = sys.argv[2] if len(sys.argv) > 2 else "/dev/shm/gpufilt-bench"
os.makedirs(os.path.join(folder, "g"), exist_ok=True)
os.chdir(folder)
rng = np.random.default_rng(1)


def waves(*shape):
    total = np.zeros(shape, np.float32)
    for i in range(6):
        term = np.float32(0.7 ** i)
        for axis, n in enumerate(shape):
            wave = np.sin(np.arange(n) * (2 ** i * 7.0 / n) + i + axis).astype(np.float32)
            term = term * wave.reshape([-1 if a == axis else 1 for a in range(len(shape))])
        total += term
    return total


def noisy(scale, offset, sigma, *shape):
    return offset + scale * waves(*shape) + sigma * rng.standard_normal(shape, np.float32)


def timed(work, repeat=5):
    work()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ours(*arguments):
    def work():
        subprocess.run([gpufilt, *arguments], check=True)
    return timed(work)


def row(name, mine, peers):
    best = min(seconds for _, seconds in peers)
    print(f"{name:44} gpufilt {mine:6.3f} s   ", end="")
    print("   ".join(f"{peer} {seconds:6.3f}" for peer, seconds in peers), f"  ratio {mine / best:5.2f}", flush=True)


def size(path):
    return f"{os.path.getsize(path) / 1e6:.1f} MB"


GAUSS5 = np.array([1, 4, 6, 4, 1], np.float32) / 16
cv2.setNumThreads(2)

# A: an RGB picture, PNG to PNG.
picture = np.clip(np.stack([noisy(70, 128, 2.6, 4096, 4096) for _ in range(3)], -1), 0, 255).astype(np.uint8)
Image.fromarray(picture).save("a.png", compress_level=3)
mask = pyvips.Image.new_from_array((np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1])).tolist(), scale=256)


def vips_a(level, kind):
    image = pyvips.Image.new_from_file("a.png", access="sequential")
    image.conv(mask, precision="integer").pngsave("a_vips.png", compression=level, filter=kind)


def cv_a():
    image = cv2.imread("a.png", cv2.IMREAD_UNCHANGED)
    cv2.imwrite("a_cv.png", cv2.sepFilter2D(image, -1, GAUSS5, GAUSS5, borderType=cv2.BORDER_REPLICATE))


mine = ours("blur", "-k", "gauss5", "a.png", "a_out.png")
peers = []
for level, kind in ((1, "up"), (3, "up")):
    seconds = timed(lambda: vips_a(level, kind))
    peers.append((f"vips level {level} {size('a_vips.png')}", seconds))
seconds = timed(cv_a)
peers.append((f"OpenCV {size('a_cv.png')}", seconds))
row(f"A gauss5 RGB u8 4096^2 PNG ({size('a_out.png')})", mine, peers)

# B: u16 TIFF, sigma 2.
b = np.clip(noisy(15000, 20000, 300, 8192, 8192), 0, 65535).astype(np.uint16)
pyvips.Image.new_from_array(b).tiffsave("b.tif")


def vips_b():
    line = np.exp(-np.arange(-8, 9) ** 2 / 8.0)
    line = pyvips.Image.new_from_array([(line / line.sum()).tolist()])
    image = pyvips.Image.new_from_file("b.tif", access="sequential")
    image.convsep(line, precision="float").rint().cast("ushort").tiffsave("b_vips.tif")


def cv_b():
    image = cv2.imread("b.tif", cv2.IMREAD_UNCHANGED)
    out = cv2.GaussianBlur(image, (17, 17), 2, borderType=cv2.BORDER_REPLICATE)
    cv2.imwrite("b_cv.tif", out, [cv2.IMWRITE_TIFF_COMPRESSION, 1])


row("B sigma 2 u16 8192^2 TIFF", ours("blur", "--sigma", "2", "b.tif", "b_out.tif"),
    [("vips", timed(vips_b)), ("OpenCV", timed(cv_b))])
del b

# C: 7x7 direct, float.
noisy(100, 0, 3, 8192, 8192).astype(np.float32).tofile("c.raw")
m7 = rng.uniform(-0.5, 1, (7, 7))
m7 /= m7.sum()
np.savetxt("c.mask", m7, fmt="%.9f")


def cv_c():
    image = np.fromfile("c.raw", np.float32).reshape(8192, 8192)
    cv2.filter2D(image, -1, m7.astype(np.float32), borderType=cv2.BORDER_REPLICATE).tofile("c_cv.raw")


def vips_c():
    image = pyvips.Image.rawload("c.raw", 8192, 8192, 1, format="float", access="sequential")
    image.conv(pyvips.Image.new_from_array(m7.tolist()), precision="float").rawsave("c_vips.raw")


row("C 7x7 direct f32 8192^2 raw", ours("correlate", "--raw", "8192x8192:f32", "-k", "@c.mask", "c.raw", "c_out.raw"),
    [("OpenCV", timed(cv_c)), ("vips", timed(vips_c))])

# D: a volume, sigma 1.5.
np.clip(noisy(15000, 20000, 300, 512, 512, 512), 0, 65535).astype(np.uint16).tofile("d.raw")
line = np.exp(-np.arange(-6, 7) ** 2 / 4.5)
line = (line / line.sum()).astype(np.float32)


def cv_d():
    volume = np.fromfile("d.raw", np.uint16).reshape(512, 512, 512)
    between = np.empty(volume.shape, np.float32)
    for z in range(512):
        between[z] = cv2.sepFilter2D(volume[z], cv2.CV_32F, line, line, borderType=cv2.BORDER_REPLICATE)
    flat = between.reshape(512, -1)
    out = cv2.filter2D(flat, -1, line.reshape(-1, 1), borderType=cv2.BORDER_REPLICATE)
    np.rint(out).astype(np.uint16).tofile("d_cv.raw")


row("D sigma 1.5 u16 512^3 raw", ours("blur", "--raw", "512x512x512:u16", "--sigma", "1.5", "d.raw", "d_out.raw"),
    [("OpenCV slices + z", timed(cv_d, 3))])

# E: 5x5x5 direct.
noisy(100, 0, 3, 256, 256, 256).astype(np.float32).tofile("e.raw")
m5 = rng.uniform(-0.01, 0.03, (5, 5, 5))
with open("e.mask", "w") as f:
    f.write("---\n".join("".join(" ".join(f"{v:.9f}" for v in r) + "\n" for r in plane) for plane in m5))


def scipy_e():
    volume = np.fromfile("e.raw", np.float32).reshape(256, 256, 256)
    ndi.correlate(volume, m5.astype(np.float32), mode="nearest").tofile("e_scipy.raw")


def cv_e():
    volume = np.fromfile("e.raw", np.float32).reshape(256, 256, 256)
    padded = np.pad(volume, ((2, 2), (0, 0), (0, 0)), "edge")
    out = np.zeros_like(volume)
    for k in range(5):
        m = m5[k].astype(np.float32)
        for z in range(256):
            out[z] += cv2.filter2D(padded[z + k], -1, m, borderType=cv2.BORDER_REPLICATE)
    out.tofile("e_cv.raw")


row("E 5x5x5 direct f32 256^3 raw", ours("correlate", "--raw", "256x256x256:f32", "-k", "@e.mask", "e.raw", "e_out.raw"),
    [("OpenCV slices", timed(cv_e, 3)), ("scipy", timed(scipy_e, 3))])

# G: 200 small pictures.
for i in range(200):
    Image.fromarray(np.clip(noisy(70, 128, 5, 512, 512), 0, 255).astype(np.uint8)).save(f"g/{i:03}.png")
names = sorted(f"g/{n}" for n in os.listdir("g") if n.endswith(".png"))
os.makedirs("g_cv", exist_ok=True)


def cv_g():
    for name in names:
        image = cv2.imread(name, cv2.IMREAD_UNCHANGED)
        out = cv2.sepFilter2D(image, -1, GAUSS5, GAUSS5, borderType=cv2.BORDER_REPLICATE)
        cv2.imwrite(f"g_cv/{os.path.basename(name)}", out)


row("G gauss5 200 gray PNG 512^2, one process", ours("blur", "-k", "gauss5", "-o", "g_out", *names),
    [("OpenCV", timed(cv_g, 3))])
print(f"  one 512^2 PNG, whole process {1000 * ours('blur', '-k', 'gauss5', names[0], 'one.png'):.1f} ms;"
      f" --version {1000 * timed(lambda: subprocess.run([gpufilt, '--version'], stdout=subprocess.DEVNULL)):.1f} ms")
