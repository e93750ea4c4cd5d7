/* Texts and levels are the Python service's where it has such a line. Worker threads. */
#include "api/services/reason_log.h"

#include "api/definition.h"
#include "api/services/access_log.h"
#include "base/buf.h"
#include "base/python_text.h"

static void write_line(enum log_level level, const char *logger, const struct api_request *request,
                       const struct slice *parts, size_t part_count)
{
    struct log_context context = access_log_context(request);
    const struct log_message message = {.parts = parts, .part_count = part_count};
    log_gather(level, logger, &context, &message);
}

static void add_credential(struct buf *out, const char *name, struct slice value)
{
    enum { SHOWN_BYTES_MAX = 255 };
    buf_printf(out, "%s'%s': ", out->len > 1 ? ", " : "", name);
    if (value.data == NULL)
        buf_append_lit(out, "None");
    else
        python_text_write(out, value, SHOWN_BYTES_MAX);
}

/* As a Python dict: the caller's attributes that policy rules can read. */
static void write_credentials(const struct identity *who, struct buf *out)
{
    enum { ROLES_SHOWN = 64, ROLE_BYTES_MAX = 255 };
    buf_append_char(out, '{');
    add_credential(out, "user_id", who->user_id);
    add_credential(out, "user_domain_id", who->user_domain_id);
    add_credential(out, "system_scope", who->system_scope);
    add_credential(out, "domain_id", who->domain_id);
    add_credential(out, "project_id", who->project_id);
    add_credential(out, "project_domain_id", who->project_domain_id);
    buf_append_lit(out, ", 'roles': [");
    for (unsigned i = 0; i < who->roles.count && i < ROLES_SHOWN; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        python_text_write(out, who->roles.names[i], ROLE_BYTES_MAX);
    }
    buf_append_lit(out, "]}");
}

static void write_denial(const struct api_request *request)
{
    struct buf credentials = {0};
    write_credentials(&request->identity, &credentials);
    const struct slice parts[] = {SLICE_LIT("Policy check for "), slice_of(request->err.denied_by),
                                  SLICE_LIT(" failed with credentials "), buf_slice(&credentials)};
    write_line(LOG_LEVEL_DEBUG, request->definition->policy_logger, request, parts,
               sizeof(parts) / sizeof(parts[0]));
    buf_free(&credentials);
}

static void write_error(const struct api_request *request)
{
    const struct slice parts[] = {slice_of(request->definition->title),
                                  SLICE_LIT(" API returning an error response: "),
                                  request->err.message};
    write_line(LOG_LEVEL_DEBUG, request->definition->error_logger, request, parts,
               sizeof(parts) / sizeof(parts[0]));
}

void reason_log_write(const struct api_request *request)
{
    const struct api_definition *definition = request->definition;
    const struct err *err = &request->err;
    if (err_is_set(err)) {
        if (err->reason.data != NULL &&
            log_is_enabled(LOG_LEVEL_WARNING, definition->reason_logger))
            write_line(LOG_LEVEL_WARNING, definition->reason_logger, request, &err->reason, 1);
        if (err->denied_by != NULL && log_is_enabled(LOG_LEVEL_DEBUG, definition->policy_logger))
            write_denial(request);
        /* An error without a text of its own (no route has the path) is fully described by the
         * request's line. */
        if (err->message.len > 0 && log_is_enabled(LOG_LEVEL_DEBUG, definition->error_logger))
            write_error(request);
    } else if (request->remark.data != NULL &&
               log_is_enabled(LOG_LEVEL_INFO, definition->remark_logger)) {
        write_line(LOG_LEVEL_INFO, definition->remark_logger, request, &request->remark, 1);
    }
}
