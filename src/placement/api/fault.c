/* The body of an error: the sentence of the status, then the detail. The Accept header selects one
 * of three forms; there is a fourth for JSON errors that do not come from the API proper, and one
 * that is always the same. Any thread. */
#include "placement/api/fault.h"

#include <strings.h>

#include "api/request.h"
#include "api/text/accept.h"
#include "api/text/html_text.h"
#include "api/text/latin1.h"
#include "base/json_write.h"
#include "placement/api/headers.h"
#include "placement/api/microversion.h"
#include "placement/api/placement_request.h"
#include "placement/api/routes.h"

/* %M: the method, %T: the content type, %A: the Accept header. Line breaks are visible only in
 * HTML. */
static const struct status {
    int status;
    const char *title;
    const char *sentence;
    bool is_short; /* the detail ends the text, without trailing white space */
} STATUSES[] = {
    {400, "Bad Request",
     "The server could not comply with the request since it is either malformed or otherwise "
     "incorrect.",
     false},
    {401, "Unauthorized",
     "This server could not verify that you are authorized to access the document you requested. "
     "Either you supplied the wrong credentials (e.g., bad password), or your browser does not "
     "understand how to supply the credentials required.",
     false},
    {403, "Forbidden", "Access was denied to this resource.", false},
    {404, "Not Found", "The resource could not be found.", false},
    {405, "Method Not Allowed", "The method %M is not allowed for this resource. ", true},
    {406, "Not Acceptable",
     "The resource could not be generated that was acceptable to your browser\n(content of type "
     "%A. ",
     true},
    {409, "Conflict", "There was a conflict when trying to complete your request.", false},
    {413, "Request Entity Too Large", "The body of your request was too large for this server.",
     false},
    {415, "Unsupported Media Type", "The request media type %T is not supported by this server.\n",
     true},
    {503, "Service Unavailable",
     "The server is currently unavailable. Please try again at a later time.", false},
    {500, "Internal Server Error",
     "The server has either erred or is incapable of performing the requested operation.", false},
};

static const struct status *find_status(int status)
{
    const struct status *found = STATUSES;
    while (found->status != status && found->status != 500)
        found++;
    return found;
}

static void append_escaped(struct buf *out, struct slice text)
{
    html_write_text(out, text, SLICE_LIT("&quot;"), SLICE_LIT("&#x27;"));
}

/* The part of the request that a sentence repeats. */
static struct slice repeated_part(struct api_request *request, char which)
{
    if (which == 'M')
        return request->http->method;
    if (which == 'A')
        return latin1_text(request->arena, placement_accept(request));
    struct slice type = http_request_header(request->http, "Content-Type");
    return latin1_text(request->arena, type.len > 0 ? type : placement_content_type(request));
}

typedef void append_text(struct buf *out, struct slice text);

/* Writes the sentence and the detail with HTML line breaks and tags, from which both forms are
 * made. */
static void write_body(struct api_request *request, const struct status *status,
                       append_text *append, struct buf *out)
{
    for (const char *c = status->sentence; *c != '\0'; c++) {
        if (*c == '%')
            append(out, repeated_part(request, *++c));
        else
            buf_append_char(out, *c);
    }
    buf_append_lit(out, "<br /><br />\n");
    append(out, request->err.message);
    if (!status->is_short)
        buf_append_lit(out, "\n\n");
}

static bool begins_with(const char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    return len >= word_len && strncasecmp(text, word, word_len) == 0;
}

/* Removes in place everything from `open` up to the next '>'; `instead` replaces it unless it is
 * NUL. Returns the new length. */
static size_t cut_tags(char *text, size_t len, const char *open, char instead)
{
    size_t out = 0;
    bool may_end = true;
    for (size_t i = 0; i < len;) {
        if (may_end && begins_with(text + i, len - i, open)) {
            size_t inside = i + strlen(open);
            const char *end = memchr(text + inside, '>', len - inside);
            may_end = end != NULL;
            if (end != NULL) {
                i = (size_t)(end - text) + 1;
                if (instead != '\0')
                    text[out++] = instead;
                continue;
            }
        }
        text[out++] = text[i++];
    }
    return out;
}

static size_t cut_comment_marks(char *text, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len;) {
        if (begins_with(text + i, len - i, "<!--"))
            i += 4;
        else if (begins_with(text + i, len - i, "-->"))
            i += 3;
        else
            text[out++] = text[i++];
    }
    return out;
}

static size_t join_lines(char *text, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\r')
            text[out++] = text[i] == '\n' ? ' ' : text[i];
    return out;
}

/* Converts HTML to text as the Python service's formatter does, including tags from clients, in
 * this order. */
static void fault_write_text(struct api_request *request, const struct status *status,
                             struct buf *out)
{
    size_t from = out->len;
    write_body(request, status, buf_append_slice, out);
    char *text = out->data + from;
    size_t len = join_lines(text, out->len - from);
    len = cut_tags(text, len, "<br", '\n');
    len = cut_comment_marks(text, len);
    out->len = from + cut_tags(text, len, "<", '\0');
}

static void write_html(struct api_request *request, const struct status *status, struct buf *out)
{
    buf_printf(out,
               "<html>\n <head>\n  <title>%d %s</title>\n </head>\n <body>\n  <h1>%d %s</h1>\n  ",
               status->status, status->title, status->status, status->title);
    write_body(request, status, append_escaped, out);
    buf_append_lit(out, "\n </body>\n</html>");
}

/* From 1.23. A request refused before the version was negotiated uses the version it would have
 * had. */
static bool shows_code(struct api_request *request)
{
    struct err unused = {.arena = request->arena};
    unsigned minor = request->minor;
    if (!request->has_minor &&
        !microversion_negotiate(
            latin1_text(request->arena,
                        http_request_header(request->http, "OpenStack-API-Version")),
            &minor, &unused))
        return false;
    return minor >= 23;
}

static void write_json(struct api_request *request, const struct status *status, struct buf *out)
{
    struct buf detail = {0};
    fault_write_text(request, status, &detail);
    buf_printf(out,
               "{\"errors\": [{\"status\": %d, \"title\": \"%s\", \"detail\": ", status->status,
               status->title);
    json_write_string(out, buf_slice(&detail));
    buf_free(&detail);
    if (shows_code(request))
        buf_printf(out, ", \"code\": \"%s\"",
                   request->err.code != NULL ? request->err.code : "placement.undefined_code");
    buf_printf(out, ", \"request_id\": \"%s\"", request->request_id);
    if (placement_own(request)->version_in_error)
        buf_printf(out, ", \"max_version\": \"1.%d\", \"min_version\": \"1.0\"",
                   PLACEMENT_MINOR_MAX);
    buf_append_lit(out, "}]}");
}

static void write_outside_json(struct api_request *request, const struct status *status,
                               struct buf *out)
{
    struct buf message = {0};
    write_body(request, status, buf_append_slice, &message);
    buf_append_lit(out, "{\"message\": ");
    json_write_string(out, buf_slice(&message));
    buf_free(&message);
    buf_printf(out, ", \"code\": \"%d %s\", \"title\": \"%s\"}", status->status, status->title,
               status->title);
}

static void write_keystone_refusal(struct buf *out)
{
    buf_append_lit(out, "{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \"message\": "
                        "\"The request you have made requires authentication.\"}}");
}

/* As upstream: a 404 from some handlers bypasses the code that adds vary. */
static void hide_vary(struct api_request *request)
{
    const struct api_route *route = request->route;
    if (request->err.status == 404 && route != NULL && (route->flags & ROUTE_BARE_404) != 0 &&
        request->minor >= route->min_minor)
        placement_own(request)->vary_shown = false;
}

void placement_write_fault(struct api_request *request)
{
    const struct status *status = find_status(request->err.status);
    struct buf *out = api_out(request);
    hide_vary(request);
    struct slice accept = placement_accept(request);
    unsigned html = accept_weight(accept, SLICE_LIT("text/html"));
    unsigned json = accept_weight(accept, SLICE_LIT("application/json"));
    struct slice type;
    out->len = 0;
    if (request->fault_form == FAULT_OF_KEYSTONE) {
        type = SLICE_LIT("application/json");
        write_keystone_refusal(out);
    } else if (html > 0 && html >= json) {
        type = SLICE_LIT("text/html; charset=UTF-8");
        write_html(request, status, out);
    } else if (json > 0) {
        type = SLICE_LIT("application/json");
        if (request->fault_form == FAULT_OUTSIDE)
            write_outside_json(request, status, out);
        else
            write_json(request, status, out);
    } else {
        type = SLICE_LIT("text/plain; charset=UTF-8");
        buf_printf(out, "%d %s\n\n", status->status, status->title);
        fault_write_text(request, status, out);
    }
    request->status = status->status;
    http_add_header(request->http, "Content-Type", type);
}
