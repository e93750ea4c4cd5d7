/* Members of the wrong type count as absent. Any thread. */
#include "keystone/documents.h"

#include <jansson.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "keystone/token.h"
#include "keystone/url.h"

static json_t *documents_load(struct slice body)
{
    return json_loadb(body.data == NULL ? "" : body.data, body.len, 0, NULL);
}

static const char *documents_text_of(json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* {"versions": {"values": […]}}, {"versions": […]}, or {"version": …}; the caller owns the
 * result. */
static json_t *list_versions(json_t *document)
{
    json_t *versions = json_object_get(document, "versions");
    json_t *values = json_object_get(versions, "values");
    if (json_is_array(values))
        return json_incref(values);
    if (json_is_array(versions))
        return json_incref(versions);
    json_t *list = json_array();
    check(list != NULL);
    if (json_object_get(document, "version") != NULL)
        json_array_append(list, json_object_get(document, "version"));
    return list;
}

static bool is_usable(json_t *version)
{
    static const char *const STATUSES[] = {"stable", "current", "supported", "deprecated"};
    const char *status = documents_text_of(version, "status");
    for (size_t i = 0; status != NULL && i < sizeof(STATUSES) / sizeof(STATUSES[0]); i++)
        if (strcasecmp(status, STATUSES[i]) == 0)
            return true;
    return false;
}

/* 14 for "v3.14", 0 for "v3"; -1: a different version. */
static long minor_of(const char *id)
{
    if (id == NULL || strncmp(id, "v3", 2) != 0)
        return -1;
    if (id[2] == '\0')
        return 0;
    char *end = NULL;
    long minor = id[2] == '.' ? strtol(id + 3, &end, 10) : -1;
    return end != NULL && end != id + 3 && *end == '\0' && minor >= 0 ? minor : -1;
}

static const char *self_link(json_t *version)
{
    size_t i;
    json_t *link;
    json_array_foreach(json_object_get(version, "links"), i, link)
    {
        const char *rel = documents_text_of(link, "rel");
        if (rel != NULL && strcasecmp(rel, "self") == 0)
            return documents_text_of(link, "href");
    }
    return NULL;
}

struct slice keystone_document_find_v3(struct arena *arena, const char *document_url,
                                       struct slice body)
{
    json_t *document = documents_load(body);
    json_t *versions = list_versions(document);
    struct slice found = {0};
    long newest = -1;
    size_t i;
    json_t *version;
    json_array_foreach(versions, i, version)
    {
        long minor = minor_of(documents_text_of(version, "id"));
        const char *href = self_link(version);
        if (minor <= newest || href == NULL || !is_usable(version))
            continue;
        struct slice url = keystone_url_of_link(arena, document_url, href);
        if (url.data == NULL)
            continue;
        found = url;
        newest = minor;
    }
    json_decref(versions);
    json_decref(document);
    return found;
}

static bool documents_is_wanted(json_t *endpoint, const struct keystone_endpoint_wish *wish)
{
    const char *interface = documents_text_of(endpoint, "interface");
    const char *region = documents_text_of(endpoint, "region_id");
    const char *url = documents_text_of(endpoint, "url");
    if (region == NULL)
        region = documents_text_of(endpoint, "region");
    if (interface == NULL || strcmp(interface, wish->interface) != 0 || url == NULL ||
        !keystone_url_is_usable(url))
        return false;
    return wish->region_name == NULL || (region != NULL && strcmp(region, wish->region_name) == 0);
}

static const char *find_endpoint(json_t *catalog, const struct keystone_endpoint_wish *wish)
{
    size_t i;
    json_t *service;
    json_array_foreach(catalog, i, service)
    {
        const char *type = documents_text_of(service, "type");
        if (type == NULL || strcmp(type, "identity") != 0)
            continue;
        size_t j;
        json_t *endpoint;
        json_array_foreach(
            json_object_get(service, "endpoints"), j,
            endpoint) if (documents_is_wanted(endpoint, wish)) return documents_text_of(endpoint,
                                                                                        "url");
    }
    return NULL;
}

static bool read_time(json_t *token, const char *name, int64_t *wall_us)
{
    json_t *text = json_object_get(token, name);
    return json_is_string(text) &&
           token_parse_time((struct slice){json_string_value(text), json_string_length(text)},
                            wall_us);
}

bool keystone_document_read_login(struct arena *arena, struct slice body,
                                  const struct keystone_endpoint_wish *wish,
                                  struct keystone_login *out, const char **why)
{
    json_t *document = documents_load(body);
    json_t *token = json_object_get(document, "token");
    int64_t issued_us, expires_us;
    *out = (struct keystone_login){0};
    *why = NULL;
    if (document == NULL) {
        *why = "it is not valid JSON";
    } else if (!json_is_object(token)) {
        *why = "it has no token";
    } else if (!read_time(token, "expires_at", &expires_us)) {
        *why = "its token has no expiry time";
    } else {
        if (!read_time(token, "issued_at", &issued_us))
            issued_us = clock_wall_us();
        out->life_us = expires_us - issued_us;
        const char *url = find_endpoint(json_object_get(token, "catalog"), wish);
        if (url != NULL)
            out->endpoint = arena_copy(arena, slice_of(url));
    }
    json_decref(document);
    return *why == NULL;
}
