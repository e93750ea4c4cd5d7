/* The log lines of a reload. The main thread. */
#include "conf/changes.h"

#include "base/buf.h"
#include "conf/notes.h"
#include "log/log.h"

static const char LOGGER[] = "berth.conf";

static void log_change(const struct conf_value *before, const struct conf_value *after)
{
    const struct option *option = after->option;
    struct buf old = {0};
    struct buf new = {0};
    notes_print_value(before, &old);
    notes_print_value(after, &new);
    log_write(LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT, "[%s] %s changed from %.*s to %.*s",
              option->section, option->name, SLICE_ARG(buf_slice(&old)),
              SLICE_ARG(buf_slice(&new)));
    buf_free(&old);
    buf_free(&new);
}

static void warn_restart(const struct buf *names)
{
    if (names->len > 0)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                  "these options have changed and need a restart: %.*s",
                  SLICE_ARG(buf_slice(names)));
}

size_t changes_log(const struct conf *started, const struct conf *in_force, const struct conf *next)
{
    struct buf need_restart = {0};
    size_t changed = 0;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (option->effect == OPTION_NO_EFFECT)
            continue;
        if (!option->is_mutable && !value_equal(&started->values[i], &next->values[i]))
            buf_printf(&need_restart, "%s[%s] %s", need_restart.len > 0 ? ", " : "",
                       option->section, option->name);
        if (option->is_mutable && !value_equal(&in_force->values[i], &next->values[i])) {
            log_change(&in_force->values[i], &next->values[i]);
            changed++;
        }
    }
    warn_restart(&need_restart);
    buf_free(&need_restart);
    return changed;
}
