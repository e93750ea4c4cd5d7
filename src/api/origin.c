/* Proxy headers. Header values contain no CR, LF or NUL (the HTTP server refuses them); anything
 * that is not allowed in a URL is left out of Location. Pure; any thread. */
#include "api/origin.h"

#include "api/request.h"
#include "base/arena.h"

/* Reads the first proxy's element (RFC 7239). */
static void read_forwarded(struct slice header, struct origin *origin)
{
    struct slice element = slice_cut(&header, ',');
    while (element.len > 0) {
        struct slice value = slice_cut(&element, ';');
        struct slice key = slice_trim(slice_cut(&value, '='));
        value = slice_trim(value);
        if (value.len == 0)
            continue;
        if (slice_equal_nocase(key, SLICE_LIT("proto")))
            origin->scheme = value;
        else if (slice_equal_nocase(key, SLICE_LIT("host")))
            origin->host = value;
        else if (slice_equal_nocase(key, SLICE_LIT("for")))
            origin->address = value;
    }
}

static void origin_take(const struct api_request *request, const char *name, struct slice *into)
{
    struct slice value = http_request_header(request->http, name);
    if (value.len > 0)
        *into = value;
}

static bool has_port(struct slice host)
{
    const char *colon = host.len == 0 ? NULL : memrchr(host.data, ':', host.len);
    return colon != NULL && memchr(colon, ']', (size_t)(host.data + host.len - colon)) == NULL;
}

static void add_port(const struct api_request *request, struct origin *origin)
{
    struct slice port = http_request_header(request->http, "X-Forwarded-Port");
    if (port.len == 0 || origin->host.len == 0 || has_port(origin->host))
        return;
    struct buf text = {0};
    buf_append_slice(&text, origin->host);
    buf_append_char(&text, ':');
    buf_append_slice(&text, port);
    origin->host = arena_copy(request->arena, buf_slice(&text));
    buf_free(&text);
}

struct origin origin_read(const struct api_request *request, bool trust_proxies)
{
    struct origin origin = {
        .scheme = request->http->tls ? SLICE_LIT("https") : SLICE_LIT("http"),
        .host = http_request_header(request->http, "Host"),
        .address = request->http->peer,
    };
    if (!trust_proxies)
        return origin;
    struct slice forwarded = http_request_header(request->http, "Forwarded");
    if (forwarded.len > 0) {
        read_forwarded(forwarded, &origin);
    } else {
        origin_take(request, "X-Forwarded-Proto", &origin.scheme);
        origin_take(request, "X-Forwarded-Host", &origin.host);
        origin_take(request, "X-Forwarded-For", &origin.address);
        add_port(request, &origin);
    }
    origin_take(request, "X-Forwarded-Prefix", &origin.prefix);
    while (origin.prefix.len > 0 && origin.prefix.data[origin.prefix.len - 1] == '/')
        origin.prefix.len--;
    return origin;
}

static bool ends_with(struct slice text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

static void append_visible(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i]; /* so that it does not matter whether char is
                                                        * signed */
        if (c > ' ' && c < 0x7f)
            buf_append_char(out, text.data[i]);
    }
}

struct slice origin_absolute(const struct api_request *request, struct slice path)
{
    struct slice scheme = request->origin.scheme;
    struct slice host = request->origin.host;
    if (slice_equal(scheme, SLICE_LIT("http")) && ends_with(host, ":80"))
        host.len -= 3;
    else if (slice_equal(scheme, SLICE_LIT("https")) && ends_with(host, ":443"))
        host.len -= 4;
    struct buf text = {0};
    /* HTTP/1.0 requires no Host header; without a host, only a bare path is a correct URL */
    if (host.len > 0) {
        append_visible(&text, scheme);
        buf_append_lit(&text, "://");
        append_visible(&text, host);
    }
    append_visible(&text, path);
    struct slice url = arena_copy(request->arena, buf_slice(&text));
    buf_free(&text);
    return url;
}
