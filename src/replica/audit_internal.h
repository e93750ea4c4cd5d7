/* Shared by audit.c and the other audit_ files. */
#ifndef BERTH_REPLICA_AUDIT_INTERNAL_H
#define BERTH_REPLICA_AUDIT_INTERNAL_H

#include "base/buf.h"
#include "replica/version.h"

/* For a function that returns whether all checks pass. */
#define AUDIT_INTO(why, condition, ...)                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            buf_printf((why), __VA_ARGS__);                                                        \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

/* Like audit_version, for the trees of nodes and their allocations. */
bool audit_nodes(const struct version *version, struct buf *why);

/* The same for groups, plans and placements. */
bool audit_valet(const struct version *version, struct buf *why);

#endif
