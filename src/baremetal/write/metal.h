/* What the planners and the conductor of bare metal nodes go by (baremetal-allocations spec, 14).
 */
#ifndef BERTH_BAREMETAL_WRITE_METAL_H
#define BERTH_BAREMETAL_WRITE_METAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* By which a clock may be set back before it is noticed that times of ours are too far off. */
enum { METAL_CLOCK_SLACK_US = 5000000 };

/* Made by main, lives as long as the pipeline. */
struct metal {
    bool mirror; /* nodes are resource providers (section 13) */
    bool provider_has_node_name;
    struct slice host;     /* what locks show as their holder */
    struct slice instance; /* this process: owner_instance of the rows that it acts on */
    int64_t fake_delay_us;
    unsigned locked_retry_attempts;
    int64_t locked_retry_interval_us;
    struct slice incomplete_project_id; /* of consumers of allocations without an owner */
    struct slice incomplete_user_id;
};

#endif
