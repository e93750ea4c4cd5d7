/* [baremetal]: the bare metal API and the data it manages (baremetal-allocations spec, section
 * 14). */
#ifndef BERTH_CONF_BAREMETAL_H
#define BERTH_CONF_BAREMETAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/listen.h"

struct conf_baremetal {
    const struct conf_listen *listen; /* empty unless the API is served */
    size_t listen_count;
    bool listen_is_default;             /* not set explicitly */
    const struct slice *mount_prefixes; /* one or none */
    size_t mount_prefix_count;
    bool mirror; /* nodes are mirrored as resource providers */
    bool provider_has_node_name;
    struct slice public_endpoint; /* without a trailing slash; len == 0: none */
    unsigned max_limit;
    unsigned locked_retry_attempts;
    uint64_t locked_retry_interval_us;
    struct slice host; /* never empty */
    uint64_t takeover_us;
    uint64_t fake_delay_us;
};

#endif
