/* Converts [healthcheck] to fields. As upstream does, an unknown backend is ignored; notes.c logs
 * it. While the process starts. */
#include "conf/fill_sections.h"

#include <string.h>

#include "conf/fill_apis.h"

static const char SECTION[] = "healthcheck";

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
            return fill_refuse(err, value, "PORT:PATH", value->items[i]);
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
            return fill_refuse(err, value, "a range of addresses such as 10.0.0.0/8",
                               value->items[i]);
    healthcheck->source_ranges = ranges;
    return true;
}

bool fill_healthcheck(struct conf *conf, struct err *err)
{
    struct conf_healthcheck *healthcheck = &conf->healthcheck;
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
        return fill_refuse(err, path, "a path such as /healthcheck", path->text);
    fill_backends(conf, healthcheck);
    fill_enable_paths(conf, healthcheck);
    return fill_port_paths(conf, healthcheck, err) && fill_source_ranges(conf, healthcheck, err);
}
