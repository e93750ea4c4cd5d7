/* The counts at DEBUG use the Python service's texts where it has such a line. Worker threads and
 * the slow lane. */
#include "placement/api/candidates_reason.h"

#include "api/definition.h"
#include "api/services/access_log.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/python_text.h"

#define COUNTS_LOGGER "placement.objects.research_context"

enum { NAMES_SHOWN = 8, STEPS_SHOWN = 32, NAME_BYTES_MAX = 255 };

enum ac_counts candidates_counts_wanted(const struct api_request *request)
{
    if (log_is_enabled(LOG_LEVEL_DEBUG, COUNTS_LOGGER))
        return AC_COUNTS_ALWAYS;
    return log_is_enabled(LOG_LEVEL_INFO, request->definition->remark_logger) ? AC_COUNTS_IF_NONE
                                                                              : AC_COUNTS_NEVER;
}

static void write_names(struct buf *out, const struct ac_names *names)
{
    buf_append_char(out, '[');
    for (uint32_t i = 0; i < names->count && i < NAMES_SHOWN; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        python_text_write(out, names->names[i], NAME_BYTES_MAX);
    }
    if (names->count > NAMES_SHOWN)
        buf_printf(out, ", and %u more", names->count - NAMES_SHOWN);
    buf_append_char(out, ']');
}

/* One name is enough for each set. */
static void write_sets(struct buf *out, const struct ac_names *sets, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        if (i > 0)
            buf_append_lit(out, " and ");
        if (sets[i].count > 1)
            buf_append_lit(out, "one of ");
        write_names(out, &sets[i]);
    }
    if (count > NAMES_SHOWN)
        buf_printf(out, " and %u more", count - NAMES_SHOWN);
}

static void begin_filter(struct buf *out, const char *what)
{
    buf_printf(out, "after applying %s filter (", what);
}

static void write_condition(struct buf *out, const struct ac_step *step)
{
    const struct ac_group *group = step->group;
    switch (step->by) {
    case AC_NONE_CAPACITY:
        buf_printf(out, "with available %lld %.*s", (long long)step->resource->amount,
                   SLICE_ARG(step->resource->class_name));
        break;
    case AC_NONE_REQUIRED_TRAITS:
        begin_filter(out, "required traits");
        write_sets(out, group->required, group->required_count);
        buf_append_char(out, ')');
        break;
    case AC_NONE_FORBIDDEN_TRAITS:
        begin_filter(out, "forbidden traits");
        write_names(out, &group->forbidden);
        buf_append_char(out, ')');
        break;
    case AC_NONE_MEMBER_OF:
        begin_filter(out, "required aggregates");
        write_sets(out, group->member_of, group->member_of_count);
        buf_append_char(out, ')');
        break;
    case AC_NONE_FORBIDDEN_AGGREGATES:
        begin_filter(out, "forbidden aggregates");
        write_names(out, &group->forbidden_aggregates);
        buf_append_char(out, ')');
        break;
    default:
        buf_printf(out, "after applying in_tree filter (%.*s)", SLICE_ARG(group->in_tree));
        break;
    }
    if (group->suffix.len > 0)
        buf_printf(out, " in group %.*s", SLICE_ARG(group->suffix));
}

static void write_step(struct buf *out, const struct ac_step *step)
{
    buf_printf(out, "found %llu providers ", (unsigned long long)step->providers);
    write_condition(out, step);
}

static const char *sentence_of(enum ac_none none)
{
    static const char *const SENTENCES[AC_NONE_COUNT] = {
        [AC_NONE_NOTHING_REQUESTED] = "a group asks for no resources, traits or aggregates",
        [AC_NONE_INVENTORY] = "no provider has inventory of a requested resource class",
        [AC_NONE_CAPACITY] = "no provider has enough free capacity",
        [AC_NONE_REQUIRED_TRAITS] = "no provider has the required traits",
        [AC_NONE_FORBIDDEN_TRAITS] = "all remaining providers have a forbidden trait",
        [AC_NONE_MEMBER_OF] = "no provider is in the requested aggregates",
        [AC_NONE_FORBIDDEN_AGGREGATES] = "all remaining providers are in a forbidden aggregate",
        [AC_NONE_IN_TREE] = "no provider of the requested tree can serve a group",
        [AC_NONE_ROOT_TRAITS] = "no root provider meets root_required",
        [AC_NONE_SHARING] = "no provider tree serves all groups, even with sharing providers",
        [AC_NONE_ONE_TREE] = "no provider tree serves all groups",
        [AC_NONE_SUMS] = "the groups together exceed the capacity of the providers they share",
        [AC_NONE_GROUP_POLICY] = "group_policy=isolate leaves a group without a provider",
        [AC_NONE_ONE_PROVIDER] = "before microversion 1.29, one provider of a tree must serve all",
        [AC_NONE_SAME_SUBTREE] = "no provider tree meets same_subtree",
        [AC_NONE_LIMIT] = "max_allocation_candidates is 0",
        [AC_NONE_NOT_KNOWN] = "finding the reason would take too long",
    };
    return SENTENCES[none] != NULL ? SENTENCES[none] : "the reason is not known";
}

static struct slice candidates_reason_keep(struct api_request *request, struct buf *text)
{
    struct slice copy = arena_copy(request->arena, buf_slice(text));
    buf_free(text);
    return copy;
}

static void log_counts(struct api_request *request, const struct ac_reason *reason)
{
    struct log_context context = access_log_context(request);
    for (uint32_t i = 0; i < reason->step_count && i < STEPS_SHOWN; i++) {
        struct buf text = {0};
        write_step(&text, &reason->steps[i]);
        const struct slice line = buf_slice(&text);
        const struct log_message message = {.parts = &line, .part_count = 1};
        log_gather(LOG_LEVEL_DEBUG, COUNTS_LOGGER, &context, &message);
        buf_free(&text);
    }
}

void candidates_log_reason(struct api_request *request, const struct ac_reason *reason)
{
    if (log_is_enabled(LOG_LEVEL_DEBUG, COUNTS_LOGGER))
        log_counts(request, reason);
    if (reason->none == AC_NONE_FOUND_SOME ||
        !log_is_enabled(LOG_LEVEL_INFO, request->definition->remark_logger))
        return;
    struct buf text = {0};
    buf_printf(&text, "No allocation candidates: %s (%s)", sentence_of(reason->none),
               ac_none_name(reason->none));
    for (uint32_t i = 0; i < reason->step_count && i < STEPS_SHOWN; i++) {
        buf_append_slice(&text, i == 0 ? SLICE_LIT(": ") : SLICE_LIT(", "));
        write_step(&text, &reason->steps[i]);
    }
    request->remark = candidates_reason_keep(request, &text);
}
