/* ImageJ and OME descriptions: what is read from them, damaged and very long ones, and what is
 * said of them for a file of many pages. */
#include "io/tiff.h"

#include "tiff_make.h"

#include "caught.h"

#include <math.h>
#include <time.h>

#define OME "<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeX=\"4\" SizeY=\"3\" SizeZ=\"2\" " \
            "SizeC=\"3\" SizeT=\"5\" Type=\"uint8\">"

static void attributes(void **state)
{
    /* All say the same; the last ones as no XML library would write it. */
    static const char *const texts[] = {
        "<OME><Pixels SizeZ=\"7\" SizeC=\"2\" PhysicalSizeZ=\"3\"/></OME>",
        "<?xml version=\"1.0\"?><!-- a > b --><OME:OME>\n<OME:Pixels\n\tSizeZ = '7'\r\nSizeC='2' "
        "PhysicalSizeZ= \"3\" >",
        "<OME><Pixels Name=\"SizeZ='1' a>b/\" XSizeZ=\"4\" SizeZ=\"7\" SizeZX=\"5\" SizeC=\"2\" "
        "PhysicalSizeZUnit=\"\xc2\xb5m\" PhysicalSizeZ=\"3\">",
        "<OME></Pixels><Pixel SizeZ=\"9\"/><PixelsX SizeZ=\"9\"/><Pixels PhysicalSizeZ=\"3e-3\" "
        "SizeC=\"2\" PhysicalSizeZUnit='mm' SizeZ=\"7\"><Channel SizeC=\"5\"/>",
    };
    struct gf_tiff_stack s;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gf_tiff_stack_parse(texts[i], 1, &s);
        assert_int_equal(s.kind, GF_TIFF_OME);
        assert_int_equal(s.z, 7);
        assert_int_equal(s.c, 2);
        assert_int_equal(s.t, 1);
        assert_true(fabs(s.spacing[2] - 0.003) < 1e-15);
        assert_true(s.in_order && s.other_files == 0);
    }
}

static void damaged(void **state)
{
    static const char *const texts[] = {
        "<OME><Pixels", "<OME><Pixels ", "<OME><Pixels SizeZ", "<OME><Pixels SizeZ=",
        "<OME><Pixels SizeZ=\"", "<OME><Pixels SizeZ=\"7", "<OME><Pixels SizeZ=7>",
        "<OME><Pixels SizeZ=\"7<a>\">", "<OME><Pixels =\"7\" SizeZ>", "<OME><Pixels SizeZ=\"7'>",
        "<OME><Pixels Name=\"a<b\" SizeZ=\"7\">", /* not XML */
        "<OME><Pixels><TiffData", "<OME><Pixels><UUID FileName", "<OME><Pixels SizeZ=\"x\">",
    };
    struct gf_tiff_stack s;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gf_tiff_stack_parse(texts[i], 1, &s);
        assert_int_equal(s.kind, GF_TIFF_OME);
        assert_int_equal(s.z, 1);
    }
    gf_tiff_stack_parse("<OME>", 1, &s);
    assert_int_equal(s.kind, GF_TIFF_PLAIN);
    gf_tiff_stack_parse("<", 1, &s);
    assert_int_equal(s.kind, GF_TIFF_PLAIN);
}

static void planes(void **state)
{
    struct gf_tiff_stack s;

    (void)state;
    gf_tiff_stack_parse(OME "<TiffData IFD=\"0\"/><TiffData FirstT=\"1\" FirstZ=\"1\" "
                        "FirstC=\"2\" IFD=\"11\"/>", 1, &s);
    assert_true(s.in_order);
    gf_tiff_stack_parse(OME "<TiffData IFD=\"0\"/><TiffData FirstT=\"1\" FirstZ=\"1\" "
                        "FirstC=\"2\" IFD=\"12\"/>", 1, &s);
    assert_false(s.in_order);
    gf_tiff_stack_parse(OME "<TiffData><UUID FileName=\"a\">1</UUID></TiffData>"
                        "<TiffData><UUID FileName=\"b\">2</UUID></TiffData>"
                        "<TiffData><UUID FileName=\"a\">1</UUID></TiffData>"
                        "<TiffData><UUID FileName=\"ab\">2</UUID></TiffData>", 1, &s);
    assert_int_equal(s.other_files, 2);
    gf_tiff_stack_parse(OME "</Pixels></Image><Image><Pixels/>", 1, &s);
    assert_false(s.in_order);
}

/* Time in proportion to the length, whatever is repeated. */
static void long_descriptions(void **state)
{
    static const char *const pieces[] = {
        "<TiffData IFD=\"0\"/>", "<TiffData ", "<TiffData A=\"", "TiffData ", ":TiffData ",
        "<UUID FileName=\"a\">x</UUID>", "<UUID ", "<UUID:", "<Pixels ", "<", "\"'",
        "<TiffData A='", "<TiffData A='\" B=\"' ",
        "<TiffData FirstZ=\"1\" FirstC=\"1\" FirstT=\"1\" IFD=\"0\" PlaneCount=\"1\">",
    };
    const size_t count = 100000;

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t piece = strlen(pieces[i]), head = strlen(OME);
        char *text = malloc(head + count * piece + 1);
        struct gf_tiff_stack s;
        clock_t start = clock();
        double seconds;

        assert_non_null(text);
        memcpy(text, OME, head);
        for (size_t k = 0; k < count; k++)
            memcpy(text + head + k * piece, pieces[i], piece);
        text[head + count * piece] = '\0';
        gf_tiff_stack_parse(text, 1, &s);
        seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        free(text);
        assert_int_equal(s.z, 2);
        if (seconds >= 1)
            fail_msg("'%s' took %.1f s", pieces[i], seconds);
    }
}

static struct picture make(enum gf_type type, uint64_t depth)
{
    struct picture p = {.image = {.width = 4, .height = 3, .depth = depth, .channels = 1,
                                  .type = type, .alpha = -1, .volume = depth > 1}};

    p.rows = calloc(1, (size_t)gf_image_bytes(&p.image));
    assert_non_null(p.rows);
    return p;
}

static void describe(struct picture *p, const char *text)
{
    p->image.meta.description = gf_alloc(strlen(text) + 1, 1);
    strcpy(p->image.meta.description, text);
}

static unsigned lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* A description that does not fit is said once, with the file's name. */
static void one_warning(void **state)
{
    struct picture volume = make(GF_U8, 50), pages[3];
    const char *printed;

    (void)state;
    describe(&volume, OME "</Pixels></Image></OME>");
    catch();
    must_write(&volume, 1, 3, NULL);
    printed = caught();
    assert_int_equal(lines(printed), 1);
    assert_non_null(strstr(printed, test_path));
    assert_non_null(strstr(printed, "OME-XML"));
    picture_free(&volume);
    for (int i = 0; i < 3; i++) {
        pages[i] = make(GF_U8, 1);
        describe(&pages[i], OME "</Pixels></Image></OME>");
    }
    catch();
    must_write(pages, 3, 3, NULL);
    printed = caught();
    assert_int_equal(lines(printed), 1);
    assert_non_null(strstr(printed, test_path));
    for (int i = 0; i < 3; i++)
        picture_free(&pages[i]);
}

/* Resolutions count in the unit of the first page's description on every page. */
static void one_unit(void **state)
{
    struct picture p[3];
    TIFF *t;
    unsigned count = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        p[i] = make(GF_U16, 2);
        p[i].image.meta.spacing[0] = p[i].image.meta.spacing[1] = 0.0005;
        p[i].image.meta.spacing[2] = 0.002;
    }
    describe(&p[0], "ImageJ=1.53\nimages=6\nslices=2\nframes=3\nunit=um\nspacing=2\n");
    must_write(p, 3, 3, NULL);
    t = TIFFOpen(test_path, "r");
    assert_non_null(t);
    do {
        float x = 0;
        char *text = NULL;
        assert_int_equal(TIFFGetField(t, TIFFTAG_XRESOLUTION, &x), 1);
        assert_true(fabsf(x - 2) < 1e-6f); /* pixels a micrometre */
        assert_int_equal(TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text), count == 0);
        count++;
    } while (TIFFReadDirectory(t));
    TIFFClose(t);
    assert_int_equal(count, 6);
    for (int i = 0; i < 3; i++)
        picture_free(&p[i]);
    assert_int_equal(gf_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes),        cmocka_unit_test(damaged),
        cmocka_unit_test(planes),            cmocka_unit_test(long_descriptions),
        cmocka_unit_test(one_warning),       cmocka_unit_test(one_unit),
    };
    int failed;

    test_path_make();
    failed = cmocka_run_group_tests_name("tiff_stack", tests, NULL, NULL);
    unlink(test_path);
    return failed;
}
