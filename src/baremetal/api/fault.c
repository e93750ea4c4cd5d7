/* Clients extract the text from either form and show it. Any thread. */
#include "baremetal/api/fault.h"

#include "api/request.h"
#include "base/json_write.h"

static const char *title_of(int status)
{
    static const struct {
        int status;
        const char *title;
    } TITLES[] = {
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {409, "Conflict"},
        {413, "Request Entity Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < sizeof(TITLES) / sizeof(TITLES[0]); i++)
        if (TITLES[i].status == status)
            return TITLES[i].title;
    return "Error";
}

static void write_inner(const struct api_request *request, struct buf *out)
{
    const struct err *err = &request->err;
    if (request->fault_form == FAULT_OUTSIDE) {
        buf_printf(out, "{\"code\": %d, \"title\": \"%s\", \"description\": ", err->status,
                   title_of(err->status));
        json_write_string(out, err->message);
        buf_append_lit(out, "}");
        return;
    }
    buf_printf(
        out, "{\"faultcode\": \"%s\", \"faultstring\": ", err->status >= 500 ? "Server" : "Client");
    json_write_string(out, err->message);
    buf_append_lit(out, ", \"debuginfo\": null}");
}

/* The answer of keystonemiddleware, which rejects a request before Ironic sees it. */
static void write_keystone_refusal(struct buf *out)
{
    buf_append_lit(out, "{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \"message\": "
                        "\"The request you have made requires authentication.\"}}");
}

void baremetal_write_fault(struct api_request *request)
{
    struct buf *out = api_out(request);
    out->len = 0;
    if (request->fault_form == FAULT_OF_KEYSTONE) {
        write_keystone_refusal(out);
    } else {
        struct buf inner = {0};
        write_inner(request, &inner);
        buf_append_lit(out, "{\"error_message\": ");
        json_write_string(out, buf_slice(&inner));
        buf_append_lit(out, "}");
        buf_free(&inner);
    }
    http_add_header(request->http, "Content-Type", SLICE_LIT("application/json"));
    request->status = request->err.status;
}
