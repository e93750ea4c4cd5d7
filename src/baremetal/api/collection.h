/* Pages of lists (baremetal-allocations spec, 1.7). */
#ifndef BERTH_BAREMETAL_API_COLLECTION_H
#define BERTH_BAREMETAL_API_COLLECTION_H

#include "api/charge.h"
#include "api/request.h"
#include "baremetal/api/input/arguments.h"
#include "model/record.h"

enum { COLLECTION_ANSWER_BYTES_MAX = 256 << 20 };

/* The paging and sorting arguments of a list. */
struct collection {
    const struct record_shape *shape;
    uint32_t sort_field;   /* RECORD_BY_ID: the order of creation */
    struct slice sort_key; /* its name, for `next` */
    bool is_descending;
    size_t limit;
    struct slice marker; /* a uuid, or data == NULL */
    struct slice fields; /* as in the request, or data == NULL */
    struct slice sort_dir;
    int64_t requested_limit; /* 0: none */
    bool has_limit;
};

/* Reads the arguments in steps, so that lists can check other arguments in between, in Ironic's
 * order. First the types; then limit, which is reduced to `max_limit`, the direction, and keys that
 * cannot be sorted by; then, after the marker has been found, other keys. 400. For nodes also
 * whether the version has the key: 406. */
bool collection_read_types(struct collection *collection, const struct record_shape *shape,
                           const struct query_string *query, struct arena *arena,
                           struct err *err) BERTH_MUST_CHECK;
bool collection_check_version(const struct collection *collection, unsigned minor,
                              struct err *err) BERTH_MUST_CHECK;
bool collection_check_page(struct collection *collection, size_t max_limit,
                           struct err *err) BERTH_MUST_CHECK;
bool collection_check_sort_key(struct collection *collection, struct err *err) BERTH_MUST_CHECK;

/* A page under construction: of all rows offered it keeps the first `limit` after the marker, in
 * the list's order. */
struct page {
    const struct collection *collection;
    const struct record *marker; /* NULL: from the beginning */
    const struct record **rows;  /* in the arena; a heap until page_end */
    size_t count;
    size_t capacity;
    struct arena *arena;
    bool is_cut; /* before its limit */
};

void page_begin(struct page *page, const struct collection *collection, const struct record *marker,
                struct arena *arena);

/* False: a caller that offers rows in the order of their ids can stop. */
bool page_offer(struct page *page, const struct record *row);

/* The id after which rows are worth offering, for callers that offer them in the order of ids. */
int64_t page_first_id(const struct page *page);

/* Sorts the rows. False: the budget is exhausted. */
bool page_end(struct page *page, struct budget *budget) BERTH_MUST_CHECK;

/* To be called after each row that was appended to the answer: if the answer has reached its
 * maximum size, ends the page with the row just written, the `written`th. Clients choose the size
 * of what they store; `next` leads to the remaining rows. */
void page_limit_answer(struct page *page, size_t written, size_t answer_bytes);

/* Appends , "next": "URL" if the page is full or was cut. `resource` as in the path
 * ("allocations"); `filters` begins with '&' or is empty, and is encoded already. */
void page_write_next(const struct page *page, struct api_request *request, struct slice resource,
                     struct slice filters, struct slice last_uuid, struct buf *out);

/* Appends "&NAME=VALUE", percent-encoded. */
void collection_add_filter(struct buf *filters, const char *name, struct slice value);

#endif
