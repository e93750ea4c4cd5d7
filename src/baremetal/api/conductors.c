/* GET /v1/conductors and /v1/conductors/{host} (bare metal spec 8.1): the one conductor is this
 * service, which is always alive. The list of one is paged like any other. Workers. */
#include "api/request.h"
#include "api/text/python_repr.h"
#include "baremetal/api/collection.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/links.h"
#include "baremetal/api/list_fields.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/record_json.h"
#include "base/clock.h"
#include "base/json_write.h"

enum conductor_field {
    CREATED_AT,
    UPDATED_AT,
    HOSTNAME,
    GROUP,
    DRIVERS,
    ALIVE,
    LINKS,
    FIELD_COUNT,
};

static const char *const FIELDS[FIELD_COUNT] = {
    "created_at", "updated_at", "hostname", "conductor_group", "drivers", "alive", "links"};

struct shown {
    bool has[FIELD_COUNT];
};

static bool is_field(const void *with, struct slice name)
{
    (void)with;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (slice_equal(slice_of(FIELDS[i]), name))
            return true;
    return false;
}

static bool choose(const struct list_fields *requested, bool all, struct shown *shown,
                   struct err *err)
{
    *shown = (struct shown){{[HOSTNAME] = true, [GROUP] = true, [ALIVE] = true}};
    for (size_t i = 0; i < FIELD_COUNT && (all || requested->has_fields); i++)
        shown->has[i] = all;
    for (size_t i = 0; i < requested->words.count; i++)
        for (size_t f = 0; f < FIELD_COUNT; f++)
            shown->has[f] |= slice_equal(requested->words.words[i], slice_of(FIELDS[f]));
    shown->has[LINKS] = true;
    return argument_check_fields(&requested->words, is_field, NULL, err);
}

static void write_value(struct api_request *request, enum conductor_field field)
{
    struct buf *out = api_out(request);
    struct slice host = metal_conf(request)->host;
    if (field == LINKS) {
        baremetal_write_links(request, SLICE_LIT("conductors"), host, (struct slice){0}, out);
        return;
    }
    buf_printf(out, "\"%s\": ", FIELDS[field]);
    switch (field) {
    case UPDATED_AT: /* its last heartbeat */
        record_write_time(out, clock_wall_us());
        return;
    case HOSTNAME:
        json_write_string(out, host);
        return;
    case GROUP:
        buf_append_lit(out, "\"\"");
        return;
    case DRIVERS:
        buf_append_lit(out, "[\"fake-hardware\"]");
        return;
    case ALIVE:
        buf_append_lit(out, "true");
        return;
    default: /* its first start is not recorded */
        buf_append_lit(out, "null");
        return;
    }
}

static void write_conductor(struct api_request *request, const struct shown *shown)
{
    struct buf *out = api_out(request);
    bool is_first = true;
    buf_append_char(out, '{');
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (!shown->has[i])
            continue;
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        write_value(request, (enum conductor_field)i);
    }
    buf_append_char(out, '}');
}

static bool check_access(struct api_request *request)
{
    struct access access = node_find_caller(request);
    return access_check(&access, POLICY_CONDUCTOR_GET, &request->err);
}

static bool conductors_refuse_unknown(struct slice host, struct err *err)
{
    return err_set_join(err, 404, NULL, SLICE_LIT("Conductor "), host,
                        SLICE_LIT(" could not be found."));
}

static bool refuse_text(struct err *err, const char *before, struct slice value, const char *behind)
{
    struct buf text = {0};
    buf_append_slice(&text, slice_of(before));
    python_str_text(&text, value);
    buf_append_slice(&text, slice_of(behind));
    err_set_text(err, 400, NULL, arena_copy(err->arena, buf_slice(&text)));
    buf_free(&text);
    return false;
}

/* The arguments of a list of conductors. */
struct conductor_page {
    struct list_fields requested;
    struct shown shown;
    size_t limit;
    struct slice marker;
    struct slice sort_key;
    struct slice sort_dir;
};

static bool check_sort_key(struct slice key, struct err *err)
{
    static const char *const KEYS[] = {"id", "hostname", "conductor_group", "created_at",
                                       "updated_at"};
    if (slice_equal(key, SLICE_LIT("alive")) || slice_equal(key, SLICE_LIT("drivers")))
        return refuse_text(err, "The sort_key value ", key, " is an invalid field for sorting");
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (slice_equal(key, slice_of(KEYS[i])))
            return true;
    return refuse_text(err, "The sort_key value \"", key, "\" is an invalid field for sorting");
}

static bool read_page(struct api_request *request, struct conductor_page *page)
{
    static const char *const NAMES[] = {"marker", "limit",  "sort_key", "sort_dir",
                                        "fields", "detail", NULL};
    struct query_string query;
    struct err *err = &request->err;
    *page = (struct conductor_page){.limit = metal_conf(request)->max_limit,
                                    .sort_key = SLICE_LIT("id"),
                                    .sort_dir = SLICE_LIT("asc")};
    if (!intake_query(request, NAMES, &query))
        return false;
    struct argument marker = argument_find(request->arena, &query, "marker");
    struct argument limit = argument_find(request->arena, &query, "limit");
    struct argument sort_key = argument_find(request->arena, &query, "sort_key");
    struct argument sort_dir = argument_find(request->arena, &query, "sort_dir");
    bool is_descending;
    if (!argument_text(&marker, &page->marker, err) ||
        !argument_text(&sort_key, &page->sort_key, err) ||
        !argument_text(&sort_dir, &page->sort_dir, err) ||
        !list_fields_read(&page->requested, &query, request->arena, err))
        return false;
    if (page->marker.data != NULL && !ident_is_name(page->marker))
        return refuse_text(err, "Expected name for marker: ", page->marker, "");
    return check_access(request) &&
           list_fields_check_detail(&page->requested, request->minor, err) &&
           argument_limit(&limit, &page->limit, err) &&
           argument_check_sort_dir(page->sort_dir, &is_descending, err) &&
           check_sort_key(page->sort_key, err) &&
           choose(&page->requested, page->requested.is_detailed, &page->shown, err);
}

static void write_next(struct api_request *request, const struct conductor_page *page)
{
    struct buf *out = api_out(request);
    struct buf query = {0};
    if (page->limit != 1)
        return;
    collection_add_filter(&query, "sort_dir", page->sort_dir);
    for (size_t i = 0; i < page->requested.words.count; i++) {
        if (i == 0)
            buf_append_lit(&query, "&fields=");
        else
            buf_append_char(&query, ',');
        buf_append_slice(&query, page->requested.words.words[i]);
    }
    if (page->requested.has_detail)
        collection_add_filter(&query, "detail",
                              page->requested.is_detailed ? SLICE_LIT("True") : SLICE_LIT("False"));
    collection_add_filter(&query, "limit", SLICE_LIT("1"));
    collection_add_filter(&query, "marker", metal_conf(request)->host);
    buf_append_lit(out, ", \"next\": \"");
    json_write_piece(out, baremetal_base(request));
    buf_append_lit(out, "/v1/conductors?sort_key=");
    buf_append_slice(out, page->sort_key);
    buf_append_slice(out, buf_slice(&query));
    buf_append_char(out, '"');
    buf_free(&query);
}

enum api_step handle_baremetal_conductors_list(struct api_request *request)
{
    struct conductor_page page;
    struct buf *out = api_out(request);
    struct slice host = metal_conf(request)->host;
    if (!read_page(request, &page))
        return API_DONE;
    if (page.marker.data != NULL && !slice_equal(page.marker, host)) {
        (void)conductors_refuse_unknown(page.marker, &request->err);
        return API_DONE;
    }
    buf_append_lit(out, "{\"conductors\": [");
    if (page.marker.data == NULL)
        write_conductor(request, &page.shown);
    buf_append_char(out, ']');
    if (page.marker.data == NULL)
        write_next(request, &page);
    buf_append_char(out, '}');
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_baremetal_conductor_show(struct api_request *request)
{
    static const char *const NAMES[] = {"fields", NULL};
    struct query_string query;
    struct list_fields requested;
    struct shown shown;
    struct err *err = &request->err;
    struct slice host = request->args[0];
    if (!intake_query(request, NAMES, &query) ||
        !list_fields_read(&requested, &query, request->arena, err))
        return API_DONE;
    if (!ident_is_name(host)) {
        (void)refuse_text(err, "Expected name for hostname: ", host, "");
        return API_DONE;
    }
    if (!check_access(request))
        return API_DONE;
    bool is_ours = slice_equal(host, metal_conf(request)->host) ||
                   (metal_own(request)->with_suffix.data == host.data &&
                    slice_equal(metal_own(request)->with_suffix, metal_conf(request)->host));
    if (!is_ours) {
        (void)conductors_refuse_unknown(host, err);
        return API_DONE;
    }
    if (!choose(&requested, !requested.has_fields, &shown, err))
        return API_DONE;
    write_conductor(request, &shown);
    api_answer_json(request, 0);
    return API_DONE;
}
