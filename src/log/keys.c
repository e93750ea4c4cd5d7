/* THE table of keys that a format string may contain. Sources: Python library reference, LogRecord
 * attributes; oslo.log's ContextFormatter and oslo.context's get_logging_values. tests/logging
 * compares each key with the real ones. Constant data: any thread. */
#include <unistd.h>

#include "log/program.h"

#define OF(field)      LOG_FIELD_CONTEXT, offsetof(struct log_context, field)
#define CONSTANT(what) LOG_FIELD_CONSTANT, LOG_CONSTANT_##what
#define TEXT           LOG_VALUE_TEXT
#define INTEGER        LOG_VALUE_INTEGER
#define REAL           LOG_VALUE_REAL

/* A key that occurs twice is first looked up among the request's. */
static const struct log_key KEYS[] = {
    {"asctime", LOG_IN_RECORD, TEXT, LOG_FIELD_ASCTIME, 0},
    {"isotime", LOG_IN_RECORD, TEXT, LOG_FIELD_ISOTIME, 0},
    {"msecs", LOG_IN_RECORD, REAL, LOG_FIELD_MSECS, 0},
    {"created", LOG_IN_RECORD, REAL, LOG_FIELD_CREATED, 0},
    {"relativeCreated", LOG_IN_RECORD, REAL, LOG_FIELD_RELATIVE, 0},
    {"name", LOG_IN_RECORD, TEXT, LOG_FIELD_NAME, 0},
    {"message", LOG_IN_RECORD, TEXT, LOG_FIELD_MESSAGE, 0},
    {"msg", LOG_IN_RECORD, TEXT, LOG_FIELD_MSG, 0},
    {"levelname", LOG_IN_RECORD, TEXT, CONSTANT(LEVEL_NAME)},
    {"levelno", LOG_IN_RECORD, INTEGER, CONSTANT(LEVEL_NUMBER)},
    {"process", LOG_IN_RECORD, INTEGER, CONSTANT(PROCESS)},
    {"processName", LOG_IN_RECORD, TEXT, CONSTANT(PROCESS_NAME)},
    {"thread", LOG_IN_RECORD, INTEGER, LOG_FIELD_THREAD, 0},
    {"threadName", LOG_IN_RECORD, TEXT, LOG_FIELD_THREAD_NAME, 0},
    {"pathname", LOG_IN_RECORD, TEXT, LOG_FIELD_PATH, 0},
    {"filename", LOG_IN_RECORD, TEXT, LOG_FIELD_FILE, 0},
    {"module", LOG_IN_RECORD, TEXT, LOG_FIELD_MODULE, 0},
    {"lineno", LOG_IN_RECORD, INTEGER, LOG_FIELD_LINE, 0},
    {"funcName", LOG_IN_RECORD, TEXT, LOG_FIELD_FUNCTION, 0},
    {"exc_info", LOG_IN_RECORD, TEXT, CONSTANT(NONE)},
    {"exc_text", LOG_IN_RECORD, TEXT, CONSTANT(NONE)},
    {"stack_info", LOG_IN_RECORD, TEXT, CONSTANT(NONE)},
    {"taskName", LOG_IN_RECORD, TEXT, CONSTANT(NONE)},
    {"error_summary", LOG_IN_RECORD, TEXT, CONSTANT(DASH)},
    {"version", LOG_IN_RECORD, TEXT, CONSTANT(VERSION)},
    {"instance", LOG_IN_RECORD, TEXT, CONSTANT(EMPTY)},
    {"resource", LOG_IN_RECORD, TEXT, CONSTANT(EMPTY)},
    {"color", LOG_IN_RECORD, TEXT, CONSTANT(COLOR)},
    {"reset_color", LOG_IN_RECORD, TEXT, CONSTANT(COLOR_END)},

    {"request_id", LOG_IN_CONTEXT, TEXT, OF(request_id)},
    {"global_request_id", LOG_IN_CONTEXT, TEXT, OF(global_request_id)},
    {"global_request_id", LOG_IN_RECORD, TEXT, CONSTANT(EMPTY)},
    {"user", LOG_IN_CONTEXT, TEXT, OF(user_id)},
    {"user_id", LOG_IN_CONTEXT, TEXT, OF(user_id)},
    {"user_name", LOG_IN_CONTEXT, TEXT, OF(user_name)},
    {"user_name", LOG_IN_RECORD, TEXT, CONSTANT(EMPTY)},
    {"user_domain", LOG_IN_CONTEXT, TEXT, OF(user_domain_id)},
    {"user_domain_name", LOG_IN_CONTEXT, TEXT, OF(user_domain_name)},
    {"project", LOG_IN_CONTEXT, TEXT, OF(project_id)},
    {"project", LOG_IN_RECORD, TEXT, CONSTANT(PRODUCT)},
    {"project_id", LOG_IN_CONTEXT, TEXT, OF(project_id)},
    {"tenant", LOG_IN_CONTEXT, TEXT, OF(project_id)}, /* oslo.context before 4.0 */
    {"project_name", LOG_IN_CONTEXT, TEXT, OF(project_name)},
    {"project_name", LOG_IN_RECORD, TEXT, CONSTANT(EMPTY)},
    {"project_domain", LOG_IN_CONTEXT, TEXT, OF(project_domain_id)},
    {"project_domain_name", LOG_IN_CONTEXT, TEXT, OF(project_domain_name)},
    {"domain", LOG_IN_CONTEXT, TEXT, OF(domain_id)},
    {"domain_name", LOG_IN_CONTEXT, TEXT, OF(domain_name)},
    {"system_scope", LOG_IN_CONTEXT, TEXT, OF(system_scope)},
    {"roles", LOG_IN_CONTEXT, TEXT, LOG_FIELD_ROLES, 0},
    {"auth_token", LOG_IN_CONTEXT, TEXT, LOG_FIELD_TOKEN, 0},
    {"is_admin", LOG_IN_CONTEXT, TEXT, CONSTANT(FALSE)},
    {"is_admin_project", LOG_IN_CONTEXT, TEXT, CONSTANT(TRUE)},
    {"read_only", LOG_IN_CONTEXT, TEXT, CONSTANT(FALSE)},
    {"show_deleted", LOG_IN_CONTEXT, TEXT, CONSTANT(FALSE)},
    {"resource_uuid", LOG_IN_CONTEXT, TEXT, CONSTANT(NONE)},
    {"user_identity", LOG_IN_CONTEXT, TEXT, LOG_FIELD_IDENTITY, 0},
    {"user_identity", LOG_IN_RECORD, TEXT, CONSTANT(EMPTY)},
};

const struct log_key *log_key_find(struct slice name, bool has_context, bool in_identity)
{
    const unsigned scopes[] = {has_context ? LOG_IN_CONTEXT : 0, in_identity ? 0 : LOG_IN_RECORD};
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
        for (size_t j = 0; j < sizeof(KEYS) / sizeof(KEYS[0]); j++)
            if (KEYS[j].scope == scopes[i] && slice_equal(slice_of(KEYS[j].name), name))
                return &KEYS[j];
    return NULL;
}

static struct slice color_of(enum log_level level)
{
    static const char *const COLORS[LOG_LEVELS] = {"\033[00;32m", "\033[00;36m", "\033[01;33m",
                                                   "\033[01;31m", "\033[01;31m"};
    return slice_of(COLORS[level]);
}

struct log_value log_constant_value(enum log_constant constant, enum log_level level, bool color,
                                    bool in_identity, const char *product)
{
    struct log_value value = {.kind = LOG_VALUE_TEXT};
    switch (constant) {
    case LOG_CONSTANT_LEVEL_NAME:
        value.text = slice_of(log_level_name(level));
        break;
    case LOG_CONSTANT_LEVEL_NUMBER:
        value = (struct log_value){.kind = LOG_VALUE_INTEGER, .integer = log_level_number(level)};
        break;
    case LOG_CONSTANT_PROCESS:
        value = (struct log_value){.kind = LOG_VALUE_INTEGER, .integer = getpid()};
        break;
    case LOG_CONSTANT_PROCESS_NAME:
        value.text = SLICE_LIT("MainProcess");
        break;
    case LOG_CONSTANT_COLOR:
        value.text = color ? color_of(level) : SLICE_LIT("");
        break;
    case LOG_CONSTANT_COLOR_END:
        value.text = color ? SLICE_LIT("\033[00m") : SLICE_LIT("");
        break;
    case LOG_CONSTANT_EMPTY:
        value.text = SLICE_LIT("");
        break;
    case LOG_CONSTANT_DASH:
        value.text = SLICE_LIT("-");
        break;
    case LOG_CONSTANT_NONE:
        value.text = in_identity ? SLICE_LIT("-") : SLICE_LIT("None");
        break;
    case LOG_CONSTANT_TRUE:
        value.text = SLICE_LIT("True");
        break;
    case LOG_CONSTANT_FALSE:
        value.text = in_identity ? SLICE_LIT("-") : SLICE_LIT("False");
        break;
    case LOG_CONSTANT_VERSION:
        value.text = SLICE_LIT("unknown");
        break;
    case LOG_CONSTANT_PRODUCT:
        value.text = slice_of(product);
    }
    return value;
}
