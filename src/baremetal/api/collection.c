/* Sorts only as many rows as the page holds: they form a heap with the row that comes last on top.
 * Any thread. */
#include "baremetal/api/collection.h"

#include "api/charge.h"
#include "api/text/python_repr.h"
#include "baremetal/api/links.h"
#include "base/arena.h"
#include "base/json_write.h"

bool collection_read_types(struct collection *collection, const struct record_shape *shape,
                           const struct query_string *query, struct arena *arena, struct err *err)
{
    *collection = (struct collection){.shape = shape,
                                      .sort_field = RECORD_BY_ID,
                                      .sort_key = SLICE_LIT("id"),
                                      .sort_dir = SLICE_LIT("asc")};
    struct argument marker = argument_find(arena, query, "marker");
    struct argument limit = argument_find(arena, query, "limit");
    struct argument sort_key = argument_find(arena, query, "sort_key");
    struct argument sort_dir = argument_find(arena, query, "sort_dir");
    struct argument fields = argument_find(arena, query, "fields");
    collection->has_limit = limit.is_there;
    return argument_uuid(&marker, &collection->marker, err) &&
           argument_integer(&limit, &collection->requested_limit, err) &&
           argument_text(&sort_key, &collection->sort_key, err) &&
           argument_text(&sort_dir, &collection->sort_dir, err) &&
           argument_text(&fields, &collection->fields, err);
}

bool collection_check_version(const struct collection *collection, unsigned minor, struct err *err)
{
    int field = record_find(collection->shape, collection->sort_key);
    return field < 0 || minor >= collection->shape->fields[field].since ||
           err_set(err, 406, NULL, "Request not acceptable.");
}

/* Ironic reports some objects and lists as unsortable itself; for other names the error, with
 * quotes, comes from its database. */
static bool refuse_sort_key(const struct collection *collection, struct slice quote,
                            struct err *err)
{
    struct buf key = {0};
    python_str_text(&key, collection->sort_key);
    struct slice shown = arena_copy(err->arena, buf_slice(&key));
    buf_free(&key);
    return err_set_join(err, 400, NULL, SLICE_LIT("The sort_key value "), quote, shown, quote,
                        SLICE_LIT(" is an invalid field for sorting"));
}

bool collection_check_page(struct collection *collection, size_t max_limit, struct err *err)
{
    collection->limit = max_limit;
    if (collection->has_limit && collection->requested_limit <= 0)
        return err_set(err, 400, NULL, "Limit must be positive");
    if (collection->has_limit && (uint64_t)collection->requested_limit < max_limit)
        collection->limit = (size_t)collection->requested_limit;
    if (!argument_check_sort_dir(collection->sort_dir, &collection->is_descending, err))
        return false;
    int field = record_find(collection->shape, collection->sort_key);
    bool is_collective = field >= 0 && (collection->shape->fields[field].kind == RECORD_JSON ||
                                        collection->shape->fields[field].kind == RECORD_WORDS);
    return !is_collective || refuse_sort_key(collection, SLICE_LIT(""), err);
}

bool collection_check_sort_key(struct collection *collection, struct err *err)
{
    const struct record_shape *shape = collection->shape;
    int field = record_find(shape, collection->sort_key);
    if (slice_equal(collection->sort_key, SLICE_LIT("id")))
        return true;
    if (field < 0 || (unsigned)field >= shape->stored ||
        (shape->fields[field].flags & RECORD_SORTABLE) == 0)
        return refuse_sort_key(collection, SLICE_LIT("\""), err);
    collection->sort_field = (uint32_t)field;
    return true;
}

/* Whether a comes after b in the list. */
static bool is_behind(const struct collection *collection, const struct record *a,
                      const struct record *b)
{
    int order = record_compare(collection->shape, a, b, collection->sort_field);
    return collection->is_descending ? order < 0 : order > 0;
}

void page_begin(struct page *page, const struct collection *collection, const struct record *marker,
                struct arena *arena)
{
    *page = (struct page){.collection = collection, .marker = marker, .arena = arena};
}

static void swap(struct page *page, size_t a, size_t b)
{
    const struct record *row = page->rows[a];
    page->rows[a] = page->rows[b];
    page->rows[b] = row;
}

static void sift_up(struct page *page, size_t at)
{
    while (at > 0 && is_behind(page->collection, page->rows[at], page->rows[(at - 1) / 2])) {
        swap(page, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sift_down(struct page *page, size_t at, size_t count)
{
    for (;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_behind(page->collection, page->rows[child], page->rows[last]))
                last = child;
        if (last == at)
            return;
        swap(page, at, last);
        at = last;
    }
}

static bool is_by_id(const struct page *page)
{
    return page->collection->sort_field == RECORD_BY_ID && !page->collection->is_descending;
}

int64_t page_first_id(const struct page *page)
{
    return is_by_id(page) && page->marker != NULL ? page->marker->id : 0;
}

bool page_offer(struct page *page, const struct record *row)
{
    const struct collection *collection = page->collection;
    if (page->marker != NULL && !is_behind(collection, row, page->marker))
        return true;
    if (page->count < collection->limit) {
        page->rows =
            arena_grow(page->arena, page->rows, page->count, &page->capacity, sizeof(*page->rows));
        page->rows[page->count++] = row;
        sift_up(page, page->count - 1);
    } else if (is_behind(collection, page->rows[0], row)) {
        page->rows[0] = row;
        sift_down(page, 0, page->count);
    }
    return !(is_by_id(page) && page->count == collection->limit);
}

enum { STEPS_TO_SORT_A_ROW = 60 }; /* about twenty comparisons */

bool page_end(struct page *page, struct budget *budget)
{
    for (size_t left = page->count; left > 1; left--) {
        if (!budget_take(budget, STEPS_TO_SORT_A_ROW))
            return false;
        swap(page, 0, left - 1);
        sift_down(page, 0, left - 1);
    }
    return true;
}

void page_limit_answer(struct page *page, size_t written, size_t answer_bytes)
{
    if (answer_bytes < COLLECTION_ANSWER_BYTES_MAX || written >= page->count)
        return;
    page->count = written;
    page->is_cut = true;
}

static void append_encoded(struct buf *out, struct slice text)
{
    static const char HEX[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~' ||
                        c == ',';
        if (is_plain) {
            buf_append_char(out, (char)c);
        } else {
            buf_append_char(out, '%');
            buf_append_char(out, HEX[c >> 4]);
            buf_append_char(out, HEX[c & 15]);
        }
    }
}

void collection_add_filter(struct buf *filters, const char *name, struct slice value)
{
    buf_printf(filters, "&%s=", name);
    append_encoded(filters, value);
}

void page_write_next(const struct page *page, struct api_request *request, struct slice resource,
                     struct slice filters, struct slice last_uuid, struct buf *out)
{
    const struct collection *collection = page->collection;
    if (page->count < collection->limit && !page->is_cut)
        return;
    buf_append_lit(out, ", \"next\": \"");
    json_write_piece(out, baremetal_base(request));
    buf_append_lit(out, "/v1/");
    buf_append_slice(out, resource);
    buf_append_lit(out, "?sort_key=");
    buf_append_slice(out, collection->sort_key);
    buf_printf(out, "&sort_dir=%s", collection->is_descending ? "desc" : "asc");
    if (collection->fields.data != NULL) {
        buf_append_lit(out, "&fields=");
        append_encoded(out, collection->fields);
    }
    buf_append_slice(out, filters);
    buf_printf(out, "&limit=%zu&marker=%.*s\"", collection->limit, SLICE_ARG(last_uuid));
}
