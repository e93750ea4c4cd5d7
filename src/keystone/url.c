/* URLs are parsed by libcurl, which also requests them later. Any thread. */
#include "keystone/url.h"

#include <curl/curl.h>
#include <strings.h>

static struct slice trim_slashes(struct slice text)
{
    while (text.len > 0 && text.data[text.len - 1] == '/')
        text.len--;
    return text;
}

static struct slice last_segment(struct slice path)
{
    path = trim_slashes(path);
    const char *slash = path.len == 0 ? NULL : memrchr(path.data, '/', path.len);
    return slash == NULL ? path : slice_skip(path, (size_t)(slash - path.data) + 1);
}

/* Whether the segment is v and a number, optionally followed by a point and a number. */
static bool is_version(struct slice segment)
{
    if (segment.len < 2 || segment.data[0] != 'v')
        return false;
    for (size_t i = 1; i < segment.len; i++) {
        char c = segment.data[i];
        if ((c < '0' || c > '9') && (c != '.' || i == 1 || i + 1 == segment.len))
            return false;
    }
    return true;
}

static CURLU *parse(const char *url)
{
    CURLU *parsed = curl_url();
    check(parsed != NULL);
    if (curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK)
        return parsed;
    curl_url_cleanup(parsed);
    return NULL;
}

/* Copies a part into the arena; data == NULL: the URL has no such part. */
static struct slice part_of(CURLU *url, CURLUPart part, struct arena *arena)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, 0) != CURLUE_OK)
        return (struct slice){0};
    struct slice copy = arena_copy(arena, slice_of(text));
    curl_free(text);
    return copy;
}

bool keystone_url_is_usable(const char *url)
{
    if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
        return false;
    if (strstr(url, "://")[3] == '/') /* libcurl would take the text after it for a host */
        return false;
    for (const char *c = url; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f)
            return false;
    CURLU *parsed = parse(url);
    char *user = NULL;
    bool is_usable = parsed != NULL && curl_url_get(parsed, CURLUPART_USER, &user, 0) != CURLUE_OK;
    curl_free(user);
    curl_url_cleanup(parsed);
    return is_usable;
}

bool keystone_url_is_v3(struct slice url)
{
    struct slice segment = last_segment(url);
    return is_version(segment) && segment.data[1] == '3' &&
           (segment.len == 2 || segment.data[2] == '.');
}

bool keystone_url_begins_with_v3(const char *url)
{
    CURLU *parsed = parse(url);
    char *path = NULL;
    bool begins = parsed != NULL && curl_url_get(parsed, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
                  strncasecmp(path, "/v3", 3) == 0;
    curl_free(path);
    curl_url_cleanup(parsed);
    return begins;
}

struct slice keystone_url_without_version(struct slice url)
{
    struct slice trimmed = trim_slashes(url);
    struct slice segment = last_segment(trimmed);
    if (!is_version(segment))
        return url;
    trimmed.len -= segment.len;
    return trimmed;
}

struct slice keystone_url_of_tokens(struct arena *arena, struct slice url)
{
    url = trim_slashes(url);
    bool has_version = url.len >= 2 && memcmp(url.data + url.len - 2, "v3", 2) == 0;
    return arena_printf(arena, "%.*s%s/auth/tokens", SLICE_ARG(url), has_version ? "" : "/v3");
}

/* The document's path with the version at the end of the link. */
static struct slice path_with_version(struct arena *arena, struct slice document_path,
                                      struct slice href)
{
    struct slice version = last_segment(href);
    struct slice path = trim_slashes(document_path);
    if (path.len >= version.len &&
        memcmp(path.data + path.len - version.len, version.data, version.len) == 0)
        return document_path;
    bool slash = href.len > 0 && href.data[href.len - 1] == '/';
    return arena_printf(arena, "%.*s/%.*s%s", SLICE_ARG(path), SLICE_ARG(version),
                        slash ? "/" : "");
}

static bool same_place(CURLU *a, CURLU *b, struct arena *arena)
{
    struct slice host_a = part_of(a, CURLUPART_HOST, arena);
    struct slice host_b = part_of(b, CURLUPART_HOST, arena);
    struct slice port_a = part_of(a, CURLUPART_PORT, arena);
    struct slice port_b = part_of(b, CURLUPART_PORT, arena);
    return slice_equal_nocase(host_a, host_b) && slice_equal(port_a, port_b);
}

struct slice keystone_url_of_link(struct arena *arena, const char *document_url, const char *href)
{
    struct slice base = trim_slashes(slice_of(document_url));
    CURLU *document = parse(arena_printf(arena, "%.*s/", SLICE_ARG(base)).data);
    CURLU *link = document == NULL ? NULL : curl_url_dup(document);
    struct slice url = {0};
    if (link != NULL && curl_url_set(link, CURLUPART_URL, href, 0) == CURLUE_OK) {
        struct slice path = part_of(link, CURLUPART_PATH, arena);
        if (!same_place(document, link, arena))
            path =
                path_with_version(arena, part_of(document, CURLUPART_PATH, arena), slice_of(href));
        if (path.data != NULL && curl_url_set(document, CURLUPART_PATH, path.data, 0) == CURLUE_OK)
            url = part_of(document, CURLUPART_URL, arena);
    }
    curl_url_cleanup(link);
    curl_url_cleanup(document);
    return url;
}

struct slice keystone_url_beside_tokens(struct slice url)
{
    const struct slice tokens = SLICE_LIT("/auth/tokens");
    check(url.len >= tokens.len && slice_equal(slice_skip(url, url.len - tokens.len), tokens));
    url.len -= tokens.len;
    return url;
}
