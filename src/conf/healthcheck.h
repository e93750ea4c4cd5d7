/* [healthcheck]: oslo.middleware's options of that name. */
#ifndef BERTH_CONF_HEALTHCHECK_H
#define BERTH_CONF_HEALTHCHECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/address_range.h"
#include "conf/value.h"

enum conf_health_backend {
    CONF_DISABLE_BY_FILE,
    CONF_DISABLE_BY_FILES_PORTS,
    CONF_ENABLE_BY_FILES,
    CONF_HEALTH_BACKEND_KINDS
};

enum { CONF_HEALTH_BACKENDS_MAX = 8 };

struct conf_port_path {
    uint16_t port;
    const char *path;
};

struct conf_healthcheck {
    bool is_enabled;
    struct slice path; /* begins with a slash */
    bool is_detailed;
    enum conf_health_backend backends[CONF_HEALTH_BACKENDS_MAX];
    unsigned backend_count;
    const char *unknown_backend;      /* an unknown one, which is ignored; or NULL */
    const char *disable_by_file_path; /* NULL: none */
    const struct conf_port_path *port_paths;
    size_t port_path_count;
    const char **enable_by_file_paths;
    size_t enable_path_count;
    const struct address_range *source_ranges; /* empty: any source */
    size_t source_range_count;
    bool ignores_proxied;
};

/* The name in [healthcheck] backends. */
const char *healthcheck_backend_name(enum conf_health_backend backend);
/* Whether no file is configured for it. */
bool healthcheck_backend_is_idle(const struct conf_healthcheck *healthcheck,
                                 enum conf_health_backend backend);

#endif
