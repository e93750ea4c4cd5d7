/* [healthcheck] from values to fields. A backend that is not known is passed over, as upstream
 * does, and told (notes.c). While the process starts. */
#include "conf/healthcheck.h"

#include <string.h>

#include "conf/settings.h"

static const char SECTION[] = "healthcheck";

static bool refuse(const struct conf_value *value, const char *item, const char *what,
                   struct err *err)
{
    return err_set(err, 500, NULL, "%s: [%s] %s: '%s' is not %s", value->where, SECTION,
                   value->option->name, item, what);
}

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

static int backend_of(const char *name)
{
    int backend = 0;
    while (backend < CONF_HEALTH_BACKEND_KINDS &&
           strcmp(name, healthcheck_backend_name((enum conf_health_backend)backend)) != 0)
        backend++;
    return backend;
}

static void fill_backends(const struct conf *conf, struct conf_healthcheck *healthcheck)
{
    const struct conf_value *value = conf_value(conf, SECTION, "backends");
    for (size_t i = 0; i < value->items_n; i++) {
        int backend = backend_of(value->items[i]);
        if (backend == CONF_HEALTH_BACKEND_KINDS)
            healthcheck->unknown_backend = value->items[i];
        else if (healthcheck->backend_count < CONF_HEALTH_BACKENDS_MAX)
            healthcheck->backends[healthcheck->backend_count++] = (enum conf_health_backend)backend;
    }
}

/* PORT:PATH */
static bool parse_port_path(const char *text, struct conf_port_path *out)
{
    unsigned port = 0;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && port <= UINT16_MAX; i++)
        port = port * 10 + (unsigned)(text[i] - '0');
    if (digits == 0 || port > UINT16_MAX || text[digits] != ':' || text[digits + 1] == '\0')
        return false;
    *out = (struct conf_port_path){(uint16_t)port, text + digits + 1};
    return true;
}

static bool fill_port_paths(const struct conf *conf, struct conf_healthcheck *healthcheck,
                            struct err *err)
{
    const struct conf_value *value = conf_value(conf, SECTION, "disable_by_file_paths");
    struct conf_port_path *paths = arena_array(conf->arena, value->items_n, sizeof(*paths));
    for (size_t i = 0; i < value->items_n; i++) {
        if (value->items[i][0] == '\0')
            continue;
        if (!parse_port_path(value->items[i], &paths[healthcheck->port_path_count++]))
            return refuse(value, value->items[i], "PORT:PATH", err);
    }
    healthcheck->port_paths = paths;
    return true;
}

static void fill_enable_paths(const struct conf *conf, struct conf_healthcheck *healthcheck)
{
    const struct conf_value *value = conf_value(conf, SECTION, "enable_by_file_paths");
    healthcheck->enable_by_file_paths =
        arena_array(conf->arena, value->items_n, sizeof(*healthcheck->enable_by_file_paths));
    for (size_t i = 0; i < value->items_n; i++)
        if (value->items[i][0] != '\0')
            healthcheck->enable_by_file_paths[healthcheck->enable_path_count++] = value->items[i];
}

static bool fill_source_ranges(const struct conf *conf, struct conf_healthcheck *healthcheck,
                               struct err *err)
{
    const struct conf_value *value = conf_value(conf, SECTION, "allowed_source_ranges");
    struct address_range *ranges = arena_array(conf->arena, value->items_n, sizeof(*ranges));
    for (size_t i = 0; i < value->items_n; i++)
        if (!address_range_parse(slice_of(value->items[i]),
                                 &ranges[healthcheck->source_range_count++]))
            return refuse(value, value->items[i], "a range of addresses such as 10.0.0.0/8", err);
    healthcheck->source_ranges = ranges;
    return true;
}

bool healthcheck_fill(const struct conf *conf, struct conf_healthcheck *healthcheck,
                      struct err *err)
{
    const struct conf_value *path = conf_value(conf, SECTION, "path");
    const struct conf_value *file = conf_value(conf, SECTION, "disable_by_file_path");
    *healthcheck = (struct conf_healthcheck){
        .is_enabled = conf_value(conf, SECTION, "enabled")->boolean,
        .is_detailed = conf_value(conf, SECTION, "detailed")->boolean,
        .path = slice_of(path->text),
        .disable_by_file_path = file->is_set && file->text[0] != '\0' ? file->text : NULL,
        .ignores_proxied = conf_value(conf, SECTION, "ignore_proxied_requests")->boolean,
    };
    if (path->text[0] != '/')
        return refuse(path, path->text, "a path such as /healthcheck", err);
    fill_backends(conf, healthcheck);
    fill_enable_paths(conf, healthcheck);
    return fill_port_paths(conf, healthcheck, err) && fill_source_ranges(conf, healthcheck, err);
}
