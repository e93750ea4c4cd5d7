/* The contents of a policy file before interpretation: texts, lists, mappings, with their lines. */
#ifndef BERTH_POLICY_VALUE_H
#define BERTH_POLICY_VALUE_H

#include "base/slice.h"

enum policy_value_kind {
    POLICY_VALUE_NULL,
    POLICY_VALUE_TEXT,
    POLICY_VALUE_OTHER, /* a number, a date, true, false */
    POLICY_VALUE_MERGE, /* << */
    POLICY_VALUE_LIST,
    POLICY_VALUE_MAP,
};

/* A value with an anchor may be part of several others. */
struct policy_value {
    enum policy_value_kind kind;
    unsigned line;     /* from 1 */
    struct slice text; /* of all but LIST and MAP: as written, without quotes */
    unsigned count;    /* LIST: items; MAP: keys and values, alternating */
    const struct policy_value **items;
};

#endif
