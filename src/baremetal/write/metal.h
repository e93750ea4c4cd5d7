/* The settings of the planners and the conductor of bare metal nodes (baremetal-allocations spec,
 * 14). */
#ifndef BERTH_BAREMETAL_WRITE_METAL_H
#define BERTH_BAREMETAL_WRITE_METAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* A clock may be set back by this much before our own times are recognized as too far in the
 * future. */
enum { METAL_CLOCK_SLACK_US = 5000000 };

/* Created by main, lives as long as the pipeline. */
struct metal {
    bool mirror; /* nodes are resource providers (section 13) */
    bool provider_has_node_name;
    struct slice host;     /* the holder that locks show */
    struct slice instance; /* this process: owner_instance of the rows that it handles */
    bool is_shared;        /* instances on several machines may use the database */
    int64_t takeover_us;   /* how late a row may be whose owner cannot be seen */
    int64_t fake_delay_us;
    unsigned locked_retry_attempts;
    int64_t locked_retry_interval_us;
    struct slice incomplete_project_id; /* of consumers of allocations without an owner */
    struct slice incomplete_user_id;
};

#endif
