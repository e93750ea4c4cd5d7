/* Addresses as text. Names are not resolved here: whether a name exists is found out when the
 * address is bound. Any thread. */
#include "conf/listen.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool parse_port(struct slice text, uint16_t *port)
{
    unsigned value = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.data[i] - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

static bool is_host_name(const char *host)
{
    for (const char *at = host; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-' && *at != '_')
            return false;
    return host[0] != '\0';
}

/* Removes `prefix` from the front of the text, ignoring case. */
static bool skip_prefix(struct slice *text, const char *prefix)
{
    size_t len = strlen(prefix);
    if (text->len < len || strncasecmp(text->data, prefix, len) != 0)
        return false;
    *text = slice_skip(*text, len);
    return true;
}

static bool parse_path(struct slice text, struct arena *arena, struct conf_listen *out)
{
    out->path = arena_copy(arena, text).data;
    return text.len > 1 && text.data[0] == '/' && text.data[text.len - 1] != '/';
}

bool listen_parse(struct slice text, struct arena *arena, struct conf_listen *out)
{
    *out = (struct conf_listen){0};
    if (skip_prefix(&text, "unix:"))
        return parse_path(text, arena, out);
    out->tls = skip_prefix(&text, "https://");
    if (!out->tls)
        (void)skip_prefix(&text, "http://");
    const char *colon = text.len == 0 ? NULL : memrchr(text.data, ':', text.len);
    if (colon == NULL)
        return false;
    struct slice host = {text.data, (size_t)(colon - text.data)};
    if (!parse_port(slice_skip(text, host.len + 1), &out->port))
        return false;
    unsigned char address[16];
    bool in_brackets = host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']';
    if (in_brackets)
        host = (struct slice){host.data + 1, host.len - 2};
    out->host = arena_copy(arena, host).data;
    if (in_brackets)
        return inet_pton(AF_INET6, out->host, address) == 1;
    return is_host_name(out->host);
}

bool listen_is_loopback(const struct conf_listen *listen)
{
    unsigned char address[16];
    if (listen->path != NULL)
        return true;
    if (inet_pton(AF_INET, listen->host, address) == 1)
        return address[0] == 127;
    if (inet_pton(AF_INET6, listen->host, address) == 1)
        return memcmp(address, &in6addr_loopback, sizeof(address)) == 0;
    return strcasecmp(listen->host, "localhost") == 0;
}

static const char *plain_host(const struct conf_listen *listen)
{
    return strcasecmp(listen->host, "localhost") == 0 ? "127.0.0.1" : listen->host;
}

static bool is_every(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

bool listen_collides(const struct conf_listen *one, const struct conf_listen *other)
{
    if (one->path != NULL || other->path != NULL)
        return one->path != NULL && other->path != NULL && strcmp(one->path, other->path) == 0;
    const char *host = plain_host(one);
    const char *other_host = plain_host(other);
    return one->port != 0 && one->port == other->port &&
           (is_every(host) || is_every(other_host) || strcasecmp(host, other_host) == 0);
}
