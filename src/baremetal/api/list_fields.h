/* Which fields of each object an answer shows: the arguments `fields` and `detail` (bare metal
 * spec 1.6, 8.3). */
#ifndef BERTH_BAREMETAL_API_LIST_FIELDS_H
#define BERTH_BAREMETAL_API_LIST_FIELDS_H

#include "baremetal/api/input/arguments.h"

struct list_fields {
    bool has_fields;
    struct argument_words words; /* the names in `fields` */
    bool has_detail;
    bool is_detailed;
};

/* Reads the arguments; 400. */
bool list_fields_read(struct list_fields *requested, const struct query_string *query,
                      struct arena *arena, struct err *err) BERTH_MUST_CHECK;

/* Whether the version has `fields`: 406. */
bool list_fields_check_version(const struct list_fields *requested, unsigned minor,
                               struct err *err) BERTH_MUST_CHECK;

/* Whether the version has `detail`, and that not both arguments are given: 400. */
bool list_fields_check_detail(const struct list_fields *requested, unsigned minor,
                              struct err *err) BERTH_MUST_CHECK;

#endif
