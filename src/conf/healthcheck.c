/* The backends of [healthcheck]. Pure; any thread. */
#include "conf/healthcheck.h"

const char *healthcheck_backend_name(enum conf_health_backend backend)
{
    static const char *const NAMES[CONF_HEALTH_BACKEND_KINDS] = {
        [CONF_DISABLE_BY_FILE] = "disable_by_file",
        [CONF_DISABLE_BY_FILES_PORTS] = "disable_by_files_ports",
        [CONF_ENABLE_BY_FILES] = "enable_by_files",
    };
    return NAMES[backend];
}

bool healthcheck_backend_is_idle(const struct conf_healthcheck *healthcheck,
                                 enum conf_health_backend backend)
{
    switch (backend) {
    case CONF_DISABLE_BY_FILE:
        return healthcheck->disable_by_file_path == NULL;
    case CONF_DISABLE_BY_FILES_PORTS:
        return healthcheck->port_path_count == 0;
    default:
        return healthcheck->enable_path_count == 0;
    }
}
