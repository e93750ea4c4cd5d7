/* Metrics as text: Prometheus's format 0.0.4, or OpenMetrics 1.0.0. */
#ifndef BERTH_API_ADMIN_EXPOSITION_H
#define BERTH_API_ADMIN_EXPOSITION_H

#include <stdbool.h>

#include "api/admin/metric_table.h"
#include "base/buf.h"
#include "base/histogram.h"

struct exposition {
    struct buf *out;
    bool is_openmetrics;
    const struct metric *metric; /* the metric whose samples follow */
};

struct label {
    const char *name;
    struct slice value; /* any text: it is escaped */
};

static inline struct label label_of(const char *name, const char *value)
{
    return (struct label){name, slice_of(value)};
}

/* Begins a metric: writes the lines before its samples, which must all follow it. Each metric may
 * be written once. */
void exposition_begin(struct exposition *exposition, enum metric_id id);

/* Writes one sample. A value without a fraction is written in digits up to 2^53. */
void exposition_count(struct exposition *exposition, const struct label *labels, unsigned count,
                      uint64_t value);
void exposition_value(struct exposition *exposition, const struct label *labels, unsigned count,
                      double value);

/* Writes a metric with one sample and no labels. */
void exposition_single(struct exposition *exposition, enum metric_id id, uint64_t value);

/* Writes a histogram's samples. Bounds and sum are divided by `unit` (1000000 converts microseconds
 * to seconds). At most EXPOSITION_LABELS_MAX labels. */
enum { EXPOSITION_LABELS_MAX = 4 };
void exposition_histogram(struct exposition *exposition, const struct label *labels, unsigned count,
                          const struct histogram_shape *shape, const struct histogram_total *total,
                          double unit);

/* Writes what follows the last metric. */
void exposition_end(struct exposition *exposition);

/* Writes a float as Go does (strconv's 'g' with the fewest digits that read back as the same
 * value): 1.5, 1e+06, 1.048576e+06, NaN, +Inf. */
void exposition_write_float(struct buf *out, double value);

/* Writes a label's value: backslash, quote and line break are escaped, malformed UTF-8 is
 * replaced. */
void exposition_write_text(struct buf *out, struct slice text);

#endif
