/* The two formats differ in the name of a counter's metadata, in how bounds that are whole numbers
 * are written, and in the end marker. Pure; any thread. */
#include "api/admin/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

static const char *type_name(enum metric_type type)
{
    static const char *const NAMES[] = {"counter", "gauge", "histogram"};
    return NAMES[type];
}

/* The name used in HELP and TYPE. */
static struct slice family_name(const struct exposition *exposition)
{
    static const struct slice TOTAL = {"_total", 6};
    struct slice name = slice_of(exposition->metric->name);
    if (exposition->is_openmetrics && exposition->metric->type == METRIC_COUNTER)
        name.len -= TOTAL.len;
    return name;
}

void exposition_begin(struct exposition *exposition, enum metric_id id)
{
    exposition->metric = &metric_table[id];
    struct slice name = family_name(exposition);
    buf_printf(exposition->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", SLICE_ARG(name),
               exposition->metric->help, SLICE_ARG(name), type_name(exposition->metric->type));
}

void exposition_write_text(struct buf *out, struct slice text)
{
    size_t run = 0; /* start of the text not yet written */
    size_t i = 0;
    while (i < text.len) {
        unsigned char c = (unsigned char)text.data[i];
        size_t len = c < 0x80 ? 1 : utf8_length(text.data + i, text.len - i);
        if (len > 0 && c != '\\' && c != '"' && c != '\n') {
            i += len;
            continue;
        }
        buf_append(out, text.data + run, i - run);
        if (len == 0)
            buf_append_lit(out, "\xef\xbf\xbd");
        else if (c == '\n')
            buf_append_lit(out, "\\n");
        else
            buf_append(out, (const char[]){'\\', (char)c}, 2);
        run = ++i;
    }
    buf_append(out, text.data + run, i - run);
}

/* Writes digits and a power of ten as Go's %e does, with at least two digits of exponent. */
static void write_scientific(struct buf *out, const char *digits, size_t count, int exponent)
{
    buf_append_char(out, digits[0]);
    if (count > 1) {
        buf_append_char(out, '.');
        buf_append(out, digits + 1, count - 1);
    }
    buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

/* For whole numbers below 2^53, their own digits are the shortest. */
static void write_whole(struct buf *out, int64_t value)
{
    char digits[DECIMAL_MAX];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t len = decimal_write(digits, (int64_t)magnitude);
    size_t used = len;
    if (value < 0)
        buf_append_char(out, '-');
    if (len <= 6) {
        buf_append(out, digits, len);
        return;
    }
    while (used > 1 && digits[used - 1] == '0')
        used--;
    write_scientific(out, digits, used, (int)len - 1);
}

void exposition_write_float(struct buf *out, double value)
{
    if (isnan(value)) {
        buf_append_lit(out, "NaN");
        return;
    }
    if (isinf(value)) {
        buf_append_slice(out, value > 0 ? SLICE_LIT("+Inf") : SLICE_LIT("-Inf"));
        return;
    }
    if (fabs(value) < 0x1p53 && value == floor(value) && !(value == 0 && signbit(value))) {
        write_whole(out, (int64_t)value);
        return;
    }
    char text[40];
    int precision = 0;
    do {
        snprintf(text, sizeof(text), "%.*e", precision, value);
    } while (strtod(text, NULL) != value && precision++ < 17);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 6) {
        int decimals = precision - exponent;
        buf_printf(out, "%.*f", decimals < 0 ? 0 : decimals, value);
        return;
    }
    char digits[40];
    size_t count = 0;
    for (const char *at = text; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    if (text[0] == '-')
        buf_append_char(out, '-');
    write_scientific(out, digits, count, exponent);
}

static void write_name(struct exposition *exposition, const char *suffix,
                       const struct label *labels, unsigned count)
{
    struct buf *out = exposition->out;
    buf_append_slice(out, slice_of(exposition->metric->name));
    buf_append_slice(out, slice_of(suffix));
    for (unsigned i = 0; i < count; i++) {
        buf_append_char(out, i == 0 ? '{' : ',');
        buf_append_slice(out, slice_of(labels[i].name));
        buf_append_lit(out, "=\"");
        exposition_write_text(out, labels[i].value);
        buf_append_char(out, '"');
    }
    if (count > 0)
        buf_append_char(out, '}');
    buf_append_char(out, ' ');
}

static void write_count(struct exposition *exposition, const char *suffix,
                        const struct label *labels, unsigned count, uint64_t value)
{
    write_name(exposition, suffix, labels, count);
    buf_append_int(exposition->out, (int64_t)(value & INT64_MAX));
    buf_append_char(exposition->out, '\n');
}

static void write_value(struct exposition *exposition, const char *suffix,
                        const struct label *labels, unsigned count, double value)
{
    write_name(exposition, suffix, labels, count);
    exposition_write_float(exposition->out, value);
    buf_append_char(exposition->out, '\n');
}

void exposition_count(struct exposition *exposition, const struct label *labels, unsigned count,
                      uint64_t value)
{
    write_count(exposition, "", labels, count, value);
}

void exposition_value(struct exposition *exposition, const struct label *labels, unsigned count,
                      double value)
{
    write_value(exposition, "", labels, count, value);
}

void exposition_single(struct exposition *exposition, enum metric_id id, uint64_t value)
{
    exposition_begin(exposition, id);
    exposition_count(exposition, NULL, 0, value);
}

/* OpenMetrics requires a bound to be written as a float. */
static struct slice bound_text(const struct exposition *exposition, double bound, struct buf *text)
{
    text->len = 0;
    exposition_write_float(text, bound);
    bool shows =
        memchr(text->data, '.', text->len) != NULL || memchr(text->data, 'e', text->len) != NULL;
    if (exposition->is_openmetrics && !shows)
        buf_append_lit(text, ".0");
    return buf_slice(text);
}

void exposition_histogram(struct exposition *exposition, const struct label *labels, unsigned count,
                          const struct histogram_shape *shape, const struct histogram_total *total,
                          double unit)
{
    struct label with_bound[EXPOSITION_LABELS_MAX + 1];
    struct buf text = {0};
    uint64_t up_to = 0;
    check(count <= EXPOSITION_LABELS_MAX);
    for (unsigned i = 0; i < count; i++)
        with_bound[i] = labels[i];
    with_bound[count].name = "le";
    for (unsigned i = 0; i < shape->count; i++) {
        up_to += total->buckets[i];
        with_bound[count].value = bound_text(exposition, (double)shape->bounds[i] / unit, &text);
        write_count(exposition, "_bucket", with_bound, count + 1, up_to);
    }
    buf_free(&text);
    up_to += total->buckets[shape->count];
    with_bound[count].value = SLICE_LIT("+Inf");
    write_count(exposition, "_bucket", with_bound, count + 1, up_to);
    write_value(exposition, "_sum", labels, count, (double)total->sum / unit);
    write_count(exposition, "_count", labels, count, up_to);
}

void exposition_end(struct exposition *exposition)
{
    if (exposition->is_openmetrics)
        buf_append_lit(exposition->out, "# EOF\n");
}
