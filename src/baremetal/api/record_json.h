/* Rows as JSON, and which of their fields are requested (baremetal-allocations spec, 1.6 and 1.8).
 */
#ifndef BERTH_BAREMETAL_API_RECORD_JSON_H
#define BERTH_BAREMETAL_API_RECORD_JSON_H

#include "baremetal/api/input/arguments.h"
#include "base/buf.h"
#include "model/record.h"

/* The selected fields of a shape; `links` is always among them. */
struct record_fields {
    bool has[RECORD_FIELDS_MAX];
};

/* All fields that the version has and clients may see. */
struct record_fields record_fields_all(const struct record_shape *shape, unsigned minor);

/* Whether the version has all named fields that exist: 406. */
bool record_fields_check_version(const struct record_shape *shape, unsigned minor,
                                 const struct argument_words *words,
                                 struct err *err) BERTH_MUST_CHECK;

/* The named fields. 400 for a field that does not exist. */
bool record_fields_read(const struct record_shape *shape, const struct argument_words *words,
                        struct record_fields *fields, struct err *err) BERTH_MUST_CHECK;

/* Writes "name": value of a stored field. */
void record_write_field(struct buf *out, const struct record_shape *shape,
                        const struct record *record, unsigned field);

/* Writes only the value. */
void record_write_value(struct buf *out, const struct record_shape *shape,
                        const struct record *record, unsigned field);

/* Writes "2026-11-20T20:47:03+00:00"; null for 0. */
void record_write_time(struct buf *out, int64_t at_us);

/* Writes ["A", "B"] from a text of words. */
void record_write_words(struct buf *out, struct slice words);

#endif
