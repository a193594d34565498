#include "cpu/kernels.h"
#include "devices.h"
#include "help.h"
#include "output.h"

#include <png.h>
#include <string.h>
#include <tiffio.h>
#include <zlib.h>

#ifndef GPUFILT_VERSION
#error "the build defines GPUFILT_VERSION"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef GPUFILT_TEST_HOOKS
#define HOOKS "with test hooks"
#else
#define HOOKS "without test hooks"
#endif

enum gf_status gf_help_version(struct gf_error *e)
{
    struct gf_buffer t = {0};
    const struct gf_kernels *kernels;
    const char *tiff = TIFFGetVersion();
    const char *number = strstr(tiff, "Version ");
    number = number ? number + 8 : tiff;
    GF_TRY(gf_kernels_choose(&kernels, e));
    gf_buffer_printf(&t, "gpufilt %s\n", GPUFILT_VERSION);
    gf_buffer_printf(&t, "compiler   %s, %s\n", COMPILER, HOOKS);
    gf_buffer_printf(&t, "cpu        %s\n", kernels->name);
    gf_buffer_printf(&t, "cuda       %s\n",
                     gf_devices_built() ? gf_devices_built() : "not built in");
    gf_buffer_printf(&t, "libraries  libpng %s, libtiff %.*s, zlib %s\n", png_get_libpng_ver(NULL),
                     (int)strcspn(number, "\n"), number, zlibVersion());
    return gf_output_text(&t, false, e);
}
