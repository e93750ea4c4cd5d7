/* The object that clients request most: written without format strings; repeated parts are escaped
 * only once. Any thread. */
#include "placement/api/provider_json.h"

#include "base/json_write.h"

void json_append_part(struct buf *out, struct slice part)
{
    size_t at = out->len;
    json_write_string(out, part);
    out->len -= 2;
    memmove(out->data + at, out->data + at + 1, out->len - at);
}

/* Adds a link; the path's text is copied from its position in the buffer. */
static void write_link(struct buf *out, size_t path_at, size_t path_len, struct slice rel)
{
    static const char BEFORE[] = ", {\"rel\": \"";
    static const char MIDDLE[] = "\", \"href\": \"";
    static const char AFTER[] = "\"}";
    char *at =
        buf_reserve(out, sizeof(BEFORE) + sizeof(MIDDLE) + sizeof(AFTER) + path_len + 2 * rel.len);
    char *start = at;
    at = mempcpy(at, BEFORE, sizeof(BEFORE) - 1);
    at = mempcpy(at, rel.data, rel.len);
    at = mempcpy(at, MIDDLE, sizeof(MIDDLE) - 1);
    at = mempcpy(at, out->data + path_at, path_len);
    *at++ = '/';
    at = mempcpy(at, rel.data, rel.len);
    at = mempcpy(at, AFTER, sizeof(AFTER) - 1);
    out->len += (size_t)(at - start);
}

/* Appends a part of the buffer again. */
static void append_again(struct buf *out, size_t at, size_t len)
{
    char *to = buf_reserve(out, len);
    memcpy(to, out->data + at, len);
    out->len += len;
}

/* uuid_at, uuid_len: the escaped uuid in the buffer. */
static void write_links(struct buf *out, size_t uuid_at, size_t uuid_len, unsigned minor,
                        struct slice mount)
{
    static const struct {
        struct slice rel;
        unsigned min_minor;
    } LINKS[] = {
        {{"inventories", 11}, 0}, {{"usages", 6}, 0},        {{"aggregates", 10}, 1},
        {{"traits", 6}, 6},       {{"allocations", 11}, 11},
    };
    buf_append_lit(out, "[{\"rel\": \"self\", \"href\": \"");
    size_t path_at = out->len;
    if (mount.len > 0)
        json_append_part(out, mount);
    buf_append_lit(out, "/resource_providers/");
    append_again(out, uuid_at, uuid_len);
    size_t path_len = out->len - path_at;
    buf_append_lit(out, "\"}");
    for (size_t i = 0; i < sizeof(LINKS) / sizeof(LINKS[0]); i++)
        if (minor >= LINKS[i].min_minor)
            write_link(out, path_at, path_len, LINKS[i].rel);
    buf_append_char(out, ']');
}

void provider_write_planned_json(struct buf *out, const struct planned_provider *provider,
                                 unsigned minor, struct slice mount)
{
    buf_append_lit(out, "{\"uuid\": ");
    size_t uuid_at = out->len + 1;
    json_write_string(out, provider->uuid);
    size_t uuid_len = out->len - 1 - uuid_at;
    buf_append_lit(out, ", \"name\": ");
    json_write_string(out, provider->name);
    buf_append_lit(out, ", \"generation\": ");
    buf_append_int(out, provider->generation);
    buf_append_lit(out, ", \"links\": ");
    write_links(out, uuid_at, uuid_len, minor, mount);
    if (minor >= 14) {
        buf_append_lit(out, ", \"parent_provider_uuid\": ");
        if (provider->parent_uuid.data == NULL)
            buf_append_lit(out, "null");
        else
            json_write_string(out, provider->parent_uuid);
        buf_append_lit(out, ", \"root_provider_uuid\": ");
        if (slice_equal(provider->root_uuid, provider->uuid))
            append_again(out, uuid_at - 1, uuid_len + 2);
        else
            json_write_string(out, provider->root_uuid);
    }
    buf_append_char(out, '}');
}

void provider_write_json(struct buf *out, const struct provider *provider,
                         const struct version *version, unsigned minor, struct slice mount)
{
    struct planned_provider shown = {
        .uuid = provider_uuid(provider),
        .name = provider_name(provider),
        .generation = provider->generation,
    };
    if (minor >= 14) {
        shown.root_uuid = provider->root.v == provider->no.v
                              ? shown.uuid
                              : provider_uuid(version_provider(version, provider->root));
        if (provider->parent.v != NUMBER_NONE)
            shown.parent_uuid = provider_uuid(version_provider(version, provider->parent));
    }
    provider_write_planned_json(out, &shown, minor, mount);
}
