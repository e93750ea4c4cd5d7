/* [valet]: the Valet API: groups, plans and placements (Valet spec, section 10). */
#ifndef BERTH_CONF_VALET_H
#define BERTH_CONF_VALET_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "conf/listen.h"

struct conf_valet {
    const struct conf_listen *listen; /* empty unless the API is served */
    size_t listen_count;
    bool listen_is_default;             /* not set explicitly */
    const struct slice *mount_prefixes; /* any number */
    size_t mount_prefix_count;
    const char *flavors; /* path of the flavor catalogue; NULL: the built-in one */
    struct slice default_zone;
    int64_t step_limit;
    unsigned max_servers;
};

#endif
