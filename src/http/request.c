/* The headers of a request: a table in the exchange's arena that any thread may read while the
 * exchange exists, and the framing errors that the library does not detect. If two servers on the
 * way could disagree about where a header or a body ends, the request is refused: a second
 * Content-Length, Content-Length together with Transfer-Encoding, a transfer coding other than
 * chunked, a blank or control character in a name, a bare CR, a NUL byte, a line that ends with a
 * bare LF or is folded. The exchange's worker writes the table.
 *
 * The library returns texts that are still in its receive buffer, where it has overwritten the
 * colons and the line ends with NUL bytes. The distance from one text to the next therefore shows
 * how a line ended and whether a NUL byte from the client has truncated a text: the distance is two
 * bytes for CR LF, and four after the last line.
 *
 * The library checks only those parts of the chunk syntax that it needs. After a chunked request
 * the connection is therefore closed, so that nothing after the chunks can be taken for a
 * request. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum { CRLF_LEN = 2 };

static bool text_is(struct slice text, const char *word, size_t len)
{
    /* the first letter, in either case, distinguishes most names of the same length */
    return text.len == len && len > 0 && ((text.data[0] ^ word[0]) & ~0x20) == 0 &&
           strncasecmp(text.data, word, len) == 0;
}

#define TEXT_IS(text, word) text_is((text), (word), sizeof(word) - 1)

static enum MHD_Result header_take(void *cls, enum MHD_ValueKind kind, const char *name,
                                   size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    struct exchange *exchange = cls;
    const char *end = value == NULL ? NULL : value + value_len;
    while (value_len > 0 && (value[value_len - 1] == ' ' || value[value_len - 1] == '\t'))
        value_len--;
    exchange->headers[exchange->header_count++] =
        (struct request_header){{name, name_len}, {value == NULL ? "" : value, value_len}, end};
    return MHD_YES;
}

/* tchar of RFC 9110, 5.6.2 */
static const bool IS_TCHAR[UCHAR_MAX + 1] = {
    ['!'] = true, ['#' ... '\''] = true, ['*'] = true,         ['+'] = true,
    ['-'] = true, ['.'] = true,          ['^' ... '`'] = true, ['|'] = true,
    ['~'] = true, ['0' ... '9'] = true,  ['a' ... 'z'] = true, ['A' ... 'Z'] = true,
};

static bool is_token(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!IS_TCHAR[(unsigned char)text.data[i]])
            return false;
    return text.len > 0;
}

static bool word_has_below(const char *at, unsigned char limit)
{
    const uint64_t ones = UINT64_MAX / UCHAR_MAX;
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return ((word - ones * limit) & ~word & ones * 128) != 0;
}

/* Whether a byte is below the limit, which is at most 128; eight bytes at once, because the target,
 * names and values of every request are checked. The last eight bytes may overlap the previous
 * ones. */
static bool has_below(struct slice text, unsigned char limit)
{
    const size_t step = sizeof(uint64_t);
    if (text.len >= step) {
        for (size_t i = 0; i + step < text.len; i += step)
            if (word_has_below(text.data + i, limit))
                return true;
        return word_has_below(text.data + text.len - step, limit);
    }
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < limit)
            return true;
    return false;
}

static bool has_cr(struct slice value)
{
    return has_below(value, ' ') && memchr(value.data, '\r', value.len) != NULL;
}

/* Checks for method, one blank, target, one blank, version, CR LF. */
static bool line_is_whole(const struct exchange *exchange, const char *method, const char *version)
{
    struct slice target = exchange->http.target;
    return exchange->target_end != NULL && exchange->target_end + 1 == version &&
           exchange->target_end - target.len == method + exchange->http.method.len + 1 &&
           is_token(exchange->http.method) && !has_below(target, ' ' + 1) &&
           memchr(target.data, 0x7f, target.len) == NULL;
}

/* Checks that the headers follow each other without gaps, with the empty line after the last. */
static bool headers_are_whole(const struct exchange *exchange, const char *method,
                              const char *version)
{
    const char *end = version + strlen(version);
    for (size_t i = 0; i < exchange->header_count; i++) {
        const struct request_header *header = &exchange->headers[i];
        if (header->name.data != end + CRLF_LEN || header->name.len == 0 ||
            has_below(header->name, ' ' + 1) || has_cr(header->value))
            return false;
        end = header->end;
    }
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(exchange->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return size != NULL && method + size->header_size == end + 2 * CRLF_LEN;
}

/* The library has refused values that are not 64-bit numbers, unless there is a
 * Transfer-Encoding. */
static uint64_t length_parse(struct slice value)
{
    uint64_t length = 0;
    for (size_t i = 0; i < value.len && value.data[i] >= '0' && value.data[i] <= '9'; i++)
        length = length * 10 + (uint64_t)(value.data[i] - '0');
    return length;
}

void request_read_headers(struct exchange *exchange, const char *method, const char *version)
{
    struct http_exchange *http = &exchange->http;
    int count = MHD_get_connection_values(exchange->mhd, MHD_HEADER_KIND, NULL, NULL);
    exchange->headers =
        arena_array(http->arena, count < 0 ? 0 : (size_t)count, sizeof(*exchange->headers));
    if (count > 0)
        MHD_get_connection_values_n(exchange->mhd, MHD_HEADER_KIND, header_take, exchange);

    unsigned lengths = 0;
    unsigned codings = 0;
    bool framed = true;
    for (size_t i = 0; i < exchange->header_count; i++) {
        const struct request_header *header = &exchange->headers[i];
        if (TEXT_IS(header->name, "content-length")) {
            lengths++;
            exchange->content_length = length_parse(header->value);
        } else if (TEXT_IS(header->name, "transfer-encoding")) {
            codings++;
            exchange->chunked = TEXT_IS(header->value, "chunked");
            framed = framed && exchange->chunked;
        }
    }
    http->has_content_length = lengths + codings > 0;
    if (!line_is_whole(exchange, method, version) || !headers_are_whole(exchange, method, version))
        http->fault = HTTP_FAULT_SYNTAX;
    else if (!framed || lengths + codings > 1)
        http->fault = HTTP_FAULT_FRAMING;
    else if (exchange->content_length > exchange->server->limits.max_body_bytes)
        http->fault = HTTP_FAULT_BODY_TOO_LARGE;
}

struct slice http_request_header(const struct http_exchange *exchange, const char *name)
{
    const struct exchange *own = (const struct exchange *)exchange;
    size_t len = strlen(name);
    for (size_t i = own->header_count; i > 0; i--) {
        if (text_is(own->headers[i - 1].name, name, len))
            return own->headers[i - 1].value;
    }
    return (struct slice){NULL, 0};
}

struct slice http_own_address(const struct http_exchange *exchange)
{
    const struct exchange *own = (const struct exchange *)exchange;
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address = {0};
    socklen_t len = sizeof(address);
    char host[INET6_ADDRSTRLEN];
    if (getsockname(own->connection->fd, &address.any, &len) != 0)
        return SLICE_LIT("localhost");
    const void *number = NULL;
    int family = address.any.sa_family;
    if (family == AF_INET) {
        number = &address.in.sin_addr;
    } else if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address.in6.sin6_addr)) {
        number = &address.in6.sin6_addr.s6_addr[12];
        family = AF_INET;
    } else if (family == AF_INET6) {
        number = &address.in6.sin6_addr;
    }
    if (number == NULL || inet_ntop(family, number, host, sizeof(host)) == NULL)
        return SLICE_LIT("localhost");
    return http_address_text(exchange->arena, host, exchange->port);
}
