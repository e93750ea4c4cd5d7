/* Unknown options are ignored, as in oslo.config: a configuration may be shared with programs that
 * know them. */
#include "conf/unknown.h"

#include "base/buf.h"
#include "conf/ini.h"
#include "conf/options.h"
#include "conf/suggest.h"

static bool is_section(struct slice name)
{
    for (size_t i = 0; i < option_count; i++)
        if (ini_section_is(name, option_table[i].section))
            return true;
    return false;
}

/* One of oslo.middleware's older sections for an additional origin. Without a line in the log,
 * operators who use it would not know why browsers are refused. */
static bool is_old_cors(struct slice section)
{
    return slice_starts_with(section, SLICE_LIT("cors."));
}

static bool has_come(const struct conf *conf, size_t before, struct slice section)
{
    for (size_t i = 0; i < before; i++)
        if (slice_equal(conf->unknown[i].section, section))
            return true;
    return false;
}

static void write_section(const struct conf_unknown *unknown, struct buf *out)
{
    buf_printf(out, "%s:%u: there is no section [%.*s]: its options are ignored", unknown->path,
               unknown->line, SLICE_ARG(unknown->section));
    const struct option *option = suggest_option(unknown->section, unknown->name);
    const char *section = suggest_section(unknown->section);
    if (section == NULL && option != NULL)
        section = option->section;
    if (section != NULL)
        buf_printf(out, "; did you mean [%s]?", section);
}

static void write_option(const struct conf_unknown *unknown, struct buf *out)
{
    const struct option *meant = suggest_option(unknown->section, unknown->name);
    buf_printf(out, "%s:%u: [%.*s] %.*s is ", unknown->path, unknown->line,
               SLICE_ARG(unknown->section), SLICE_ARG(unknown->name));
    if (option_find_any(unknown->section, unknown->name) != NULL) {
        buf_append_lit(out, "ignored, because auth_section names another section for it");
        return;
    }
    buf_append_lit(out, "not known, and is ignored");
    if (meant != NULL)
        buf_printf(out, "; did you mean [%s] %s?", meant->section, meant->name);
}

size_t unknown_report(const struct conf *conf, void (*report)(void *cls, struct slice line),
                      void *cls)
{
    struct buf line = {0};
    size_t count = 0;
    for (size_t i = 0; i < conf->unknown_n; i++) {
        const struct conf_unknown *unknown = &conf->unknown[i];
        bool section = !is_section(unknown->section);
        if (section && has_come(conf, i, unknown->section))
            continue;
        if (count == UNKNOWN_LINES_MAX) {
            line.len = 0;
            buf_printf(&line, "%s:%u: unknown options from here on are not listed", unknown->path,
                       unknown->line);
            report(cls, buf_slice(&line));
            break;
        }
        line.len = 0;
        if (is_old_cors(unknown->section))
            buf_printf(&line,
                       "%s:%u: [%.*s] is not read: all origins belong in [cors] allowed_origin",
                       unknown->path, unknown->line, SLICE_ARG(unknown->section));
        else if (section)
            write_section(unknown, &line);
        else
            write_option(unknown, &line);
        report(cls, buf_slice(&line));
        count++;
    }
    buf_free(&line);
    return count;
}
