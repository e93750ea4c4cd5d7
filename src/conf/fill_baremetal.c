/* Converts the options of the bare metal API to fields. Runs while the process starts. */
#include "conf/fill_sections.h"

#include <string.h>
#include <unistd.h>

#include "conf/fill_apis.h"

static const char SECTION[] = "baremetal";

static const struct conf_value *option(const struct conf *conf, const char *name)
{
    return conf_value(conf, SECTION, name);
}

/* Scheme, host and path: links are made by appending to it, also in headers. */
static bool is_endpoint(struct slice url)
{
    struct slice rest =
        slice_skip(url, slice_starts_with(url, SLICE_LIT("http://"))    ? sizeof("http://") - 1
                        : slice_starts_with(url, SLICE_LIT("https://")) ? sizeof("https://") - 1
                                                                        : url.len);
    for (size_t i = 0; i < rest.len; i++)
        if (rest.data[i] <= ' ' || rest.data[i] > '~' ||
            strchr("\"#<>?\\^`{|}", rest.data[i]) != NULL)
            return false;
    return rest.len > 0 && rest.data[0] != '/';
}

static bool fill_endpoint(const struct conf *conf, struct conf_baremetal *baremetal,
                          struct err *err)
{
    const struct conf_value *value = option(conf, "public_endpoint");
    struct slice endpoint = slice_of(value->is_set ? value->text : "");
    while (endpoint.len > 0 && endpoint.data[endpoint.len - 1] == '/')
        endpoint.len--;
    baremetal->public_endpoint = endpoint;
    if (endpoint.len == 0 || is_endpoint(endpoint))
        return true;
    return fill_refuse(err, value, "a URL such as https://baremetal.example.org", value->text);
}

/* The default is Ironic's: the machine's host name. */
static struct slice host_name(struct arena *arena)
{
    char name[256];
    if (gethostname(name, sizeof(name)) != 0 || name[0] == '\0')
        return SLICE_LIT("localhost");
    name[sizeof(name) - 1] = '\0';
    return arena_copy(arena, slice_of(name));
}

static bool fill_host(const struct conf *conf, struct conf_baremetal *baremetal, struct err *err)
{
    const struct conf_value *value = option(conf, "host");
    if (!value->is_set || value->text[0] == '\0') {
        baremetal->host = host_name(conf->arena);
        return true;
    }
    baremetal->host = slice_of(value->text);
    if (baremetal->host.len <= 255 && strpbrk(value->text, " \t\r\n") == NULL)
        return true;
    return fill_refuse(err, value, "a name of at most 255 characters without blanks", value->text);
}

bool fill_baremetal(struct conf *conf, struct err *err)
{
    struct conf_baremetal *baremetal = &conf->baremetal;
    const struct conf_value *interval = option(conf, "node_locked_retry_interval");
    *baremetal = (struct conf_baremetal){
        .mirror = option(conf, "mirror")->boolean,
        .provider_has_node_name = strcmp(option(conf, "provider_name")->text, "name") == 0,
        .max_limit = (unsigned)option(conf, "max_limit")->integer,
        .locked_retry_attempts = (unsigned)option(conf, "node_locked_retry_attempts")->integer,
        .locked_retry_interval_us = (uint64_t)interval->integer * 1000000,
        .takeover_us = (uint64_t)option(conf, "takeover_after")->integer * 1000000,
        .fake_delay_us = (uint64_t)option(conf, "fake_delay_ms")->integer * 1000,
    };
    return fill_api(conf, SECTION, &baremetal->listen, &baremetal->listen_count,
                    &baremetal->listen_is_default, err) &&
           fill_prefixes(conf, SECTION, "prefix", &baremetal->mount_prefixes,
                         &baremetal->mount_prefix_count, err) &&
           fill_endpoint(conf, baremetal, err) && fill_host(conf, baremetal, err);
}
