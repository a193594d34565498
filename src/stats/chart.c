#include "chart.h"

#include "bins.h"

#include "../util.h"

#include <math.h>
#include <stdio.h>

void gf_bars_make(struct gf_bars *bars, const struct gf_histogram *h, unsigned most)
{
    uint32_t first = 0, end = h->bins, each;

    *bars = (struct gf_bars){0};
    if (h->kind == GF_BINS_VALUES) {
        while (first < end && h->count[first] == 0)
            first++;
        while (end > first && h->count[end - 1] == 0)
            end--;
    }
    if (first == end)
        return;
    each = (uint32_t)gf_ceil_div(end - first, most);
    for (uint32_t i = first; i < end; i += each) {
        uint32_t last = (uint32_t)gf_min(i + each, end) - 1;
        struct gf_bar *bar = &bars->bar[bars->count++];
        bar->low = gf_bin_low(h, i);
        bar->high = gf_bin_high(h, last);
        for (uint32_t k = i; k <= last; k++)
            bar->count += h->count[k];
        bars->largest = gf_max(bars->largest, bar->count);
    }
}

/* ---- axes ---- */

/* Round numbers in [low, high], not nearer than `least` to each other, about `wanted` of them. */
static void make_ticks(struct gf_ticks *ticks, double low, double high, double least, int wanted)
{
    static const double steps[] = {1, 2, 5, 10};
    const double rough = (high - low) / wanted;
    const double power = pow(10, floor(log10(rough)));
    double step = 0, first;

    ticks->count = 0;
    for (size_t i = 0; i < GF_COUNT(steps) && !(step >= rough); i++)
        step = fmax(steps[i] * power, least);
    first = ceil(low / step);
    /* Beyond the range of double, or where its steps are coarser, there are none. */
    if (!(step > 0) || !(fabs(first) < 0x1p52))
        return;
    for (unsigned i = 0; i < GF_TICKS && (first + i) * step <= high; i++)
        ticks->at[ticks->count++] = (first + i) * step + 0.0;
}

void gf_chart_make(struct gf_chart *chart, const struct gf_histogram *h)
{
    const bool values = h->kind == GF_BINS_VALUES;

    *chart = (struct gf_chart){.low = h->low, .high = h->high, .margin = values ? 0.5 : 0};
    gf_bars_make(&chart->bars, h, GF_BARS);
    if (values && chart->bars.count > 0) {
        chart->low = chart->bars.bar[0].low;
        chart->high = chart->bars.bar[chart->bars.count - 1].high;
    }
    chart->low -= chart->margin;
    chart->high += chart->margin;
    chart->top = chart->bars.largest > 0 ? (double)chart->bars.largest : 1;
    make_ticks(&chart->x, chart->low, chart->high, values ? 1 : 0, 6);
    make_ticks(&chart->y, 0, chart->top, 1, 5);
}

double gf_chart_x(const struct gf_chart *chart, double value)
{
    return GF_CHART_LEFT + (value - chart->low) / (chart->high - chart->low) *
                               (GF_CHART_RIGHT - GF_CHART_LEFT);
}

double gf_chart_y(const struct gf_chart *chart, double count)
{
    return GF_CHART_BOTTOM - count / chart->top * (GF_CHART_BOTTOM - GF_CHART_TOP);
}

/* Not so many digits that a multiple of a step would show its rounding. */
const char *gf_chart_x_label(char text[GF_NUMBER_TEXT], double tick)
{
    snprintf(text, GF_NUMBER_TEXT, "%.12g", tick);
    return text;
}

const char *gf_chart_y_label(char text[GF_NUMBER_TEXT], double tick)
{
    snprintf(text, GF_NUMBER_TEXT, "%.6g", tick);
    return text;
}
