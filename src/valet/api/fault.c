/* Title, type and message depend only on the status. Any thread. */
#include "valet/api/fault.h"

#include "api/request.h"
#include "api/services/access_log.h"
#include "api/write.h"
#include "base/json_write.h"
#include "log/log.h"

static const struct words {
    int status;
    const char *title;
    const char *type;
    const char *message;
} WORDS[] = {
    {400, "Bad Request", "HTTPBadRequest",
     "The server could not comply with the request since it is either malformed or otherwise "
     "incorrect."},
    {404, "Not Found", "HTTPNotFound", "The resource could not be found."},
    {405, "Method Not Allowed", "HTTPMethodNotAllowed",
     "The server could not comply with the request since it is either malformed or otherwise "
     "incorrect."},
    {409, "Conflict", "HTTPConflict", "There was a conflict when trying to complete your request."},
    {413, "Request Entity Too Large", "HTTPRequestEntityTooLarge",
     "The body of your request was too large for this server."},
    {503, "Service Unavailable", "HTTPServiceUnavailable",
     "The server is currently unavailable. Please try again at a later time."},
    {500, "Internal Server Error", "HTTPInternalServerError",
     "The server has either erred or is incapable of performing the requested operation."},
};

enum { WORDS_COUNT = sizeof(WORDS) / sizeof(WORDS[0]) };

/* A status that is not in the table is an internal error. */
static const struct words *words_of(const struct api_request *request)
{
    int status = request->err.status;
    if (status == 503 && request->write->err.status == 503) /* a write that the database refuses */
        status = 500;
    unsigned at = 0;
    while (at < WORDS_COUNT - 1 && WORDS[at].status != status)
        at++;
    return &WORDS[at];
}

static void write_refusal(struct api_request *request)
{
    buf_append_lit(api_out(request), "This request needs a valid token of a project, with a role "
                                     "that allows it.");
    buf_append_char(api_out(request), '\n');
    http_add_header(request->http, "Content-Type", SLICE_LIT("text/plain"));
    request->status = 401;
}

/* Details of the database are logged, not shown to clients. */
static void log_fault(const struct api_request *request, struct slice what)
{
    struct log_context context = access_log_context(request);
    log_write(LOG_LEVEL_WARNING, "berth.valet", &context, "answered with 500: %.*s",
              SLICE_ARG(what));
}

void valet_write_fault(struct api_request *request)
{
    struct buf *out = api_out(request);
    out->len = 0;
    if (request->err.status == 401) {
        write_refusal(request);
        return;
    }
    const struct words *words = words_of(request);
    struct slice explanation = request->err.message;
    if (words->status == 500 && request->err.status != 500) {
        log_fault(request, explanation);
        explanation = SLICE_LIT("Not working: store");
    }
    buf_printf(out, "{\"title\": \"%s\", \"explanation\": ", words->title);
    json_write_string(out, explanation.len > 0 ? explanation : slice_of(words->message));
    buf_printf(out,
               ", \"code\": %d, \"error\": {\"message\": \"%s\", \"traceback\": null, \"type\": "
               "\"%s\"}}",
               words->status, words->message, words->type);
    http_add_header(request->http, "Content-Type", SLICE_LIT("application/json"));
    request->status = words->status;
}
