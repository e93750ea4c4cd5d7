/* Settings that several sections have: addresses and mount prefixes. Runs while the process
 * starts. */
#include "conf/fill_apis.h"

#include <ctype.h>
#include <string.h>

static const struct conf_value *multi(const struct conf *conf, const char *section,
                                      const char *name)
{
    const struct conf_value *value = conf_value(conf, section, name);
    check(value->option->type == OPTION_MULTI);
    return value;
}

bool fill_refuse(struct err *err, const struct conf_value *value, const char *what,
                 const char *item)
{
    return err_set(err, 500, NULL, "%s: [%s] %s: '%s' is not %s", value->where,
                   value->option->section, value->option->name, item, what);
}

bool fill_listen(struct conf *conf, const char *section, const char *option,
                 const struct conf_listen **filled, size_t *count_filled, struct err *err)
{
    const struct conf_value *value = multi(conf, section, option);
    struct conf_listen *listen = arena_array(conf->arena, value->items_n, sizeof(*listen));
    for (size_t i = 0; i < value->items_n; i++)
        if (!listen_parse(slice_of(value->items[i]), conf->arena, &listen[i]))
            return fill_refuse(err, value, LISTEN_FORMS, value->items[i]);
    *filled = listen;
    *count_filled = value->items_n;
    return true;
}

bool fill_api(struct conf *conf, const char *section, const struct conf_listen **filled,
              size_t *count_filled, bool *is_default, struct err *err)
{
    enum conf_origin origin = conf_value(conf, section, "listen")->origin;
    *is_default = origin <= CONF_ORIGIN_EMBEDDED;
    *count_filled = 0;
    if (!conf_value(conf, section, "enabled")->boolean && origin != CONF_ORIGIN_COMMAND_LINE)
        return true;
    return fill_listen(conf, section, "listen", filled, count_filled, err);
}

/* Segments of letters, digits and -._~ after single slashes: a request's path matches these without
 * any doubt about its encoding. An empty value means no prefix. */
static bool is_mount_path(struct slice path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];
        bool empty = c == '/' && i + 1 < path.len && path.data[i + 1] == '/';
        if (empty || (c != '/' && !isalnum((unsigned char)c) && strchr("-._~", c) == NULL))
            return false;
    }
    return path.len == 0 || path.data[0] == '/';
}

bool fill_prefixes(struct conf *conf, const char *section, const char *option,
                   const struct slice **filled, size_t *count_filled, struct err *err)
{
    const struct conf_value *value = multi(conf, section, option);
    struct slice *prefixes = arena_array(conf->arena, value->items_n, sizeof(*prefixes));
    size_t n = 0;
    for (size_t i = 0; i < value->items_n; i++) {
        struct slice prefix = slice_of(value->items[i]);
        while (prefix.len > 0 && prefix.data[prefix.len - 1] == '/')
            prefix.len--;
        if (!is_mount_path(prefix))
            return fill_refuse(err, value, "a path such as /placement", value->items[i]);
        if (prefix.len > 0)
            prefixes[n++] = arena_copy(conf->arena, prefix);
    }
    *filled = prefixes;
    *count_filled = n;
    return true;
}
