/* The headers of a request: a table in the exchange's arena that any thread may ask while the
 * exchange lives, and the faults of framing that the library lets through. Where two servers on the
 * way could disagree about where a body ends, the request is refused: a second Content-Length,
 * Content-Length beside Transfer-Encoding, another coding than chunked, a blank in a header's
 * name. The table is written by the exchange's worker. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "http/http_internal.h"

static bool text_is(struct slice text, const char *word, size_t len)
{
    return text.len == len && strncasecmp(text.data, word, len) == 0;
}

#define TEXT_IS(text, word) text_is((text), (word), sizeof(word) - 1)

static enum MHD_Result header_take(void *cls, enum MHD_ValueKind kind, const char *name,
                                   size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    struct exchange *exchange = cls;
    while (value_len > 0 && (value[value_len - 1] == ' ' || value[value_len - 1] == '\t'))
        value_len--;
    exchange->headers[exchange->header_count++] =
        (struct request_header){{name, name_len}, {value == NULL ? "" : value, value_len}};
    return MHD_YES;
}

/* The library has refused what is not a number of 64 bits, unless there is a Transfer-Encoding. */
static uint64_t length_parse(struct slice value)
{
    uint64_t length = 0;
    for (size_t i = 0; i < value.len && value.data[i] >= '0' && value.data[i] <= '9'; i++)
        length = length * 10 + (uint64_t)(value.data[i] - '0');
    return length;
}

void request_read_headers(struct exchange *exchange)
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
        } else if (memchr(header->name.data, ' ', header->name.len) != NULL ||
                   memchr(header->name.data, '\t', header->name.len) != NULL) {
            framed = false;
        }
    }
    http->has_content_length = lengths + codings > 0;
    if (!framed || lengths + codings > 1)
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
