/* Where a page ends, and whether another one follows. */
#include "api/api.h"
#include "api/fake_request.h"
#include "baremetal/api/collection.h"
#include "baremetal/api/metal_request.h"
#include "base/arena.h"
#include "conf/baremetal.h"
#include "unit.h"

static const struct conf_baremetal PLAIN = {.host = SLICE_LIT("h")};
static const struct metal_settings SETTINGS = {.conf = &PLAIN};
static const struct api API = {0};

static void expect_next(const struct page *page, const char *next)
{
    struct fake_request fake;
    struct buf out = {0};
    struct metal_request own = {0};
    fake_request_open(&fake, &API);
    fake.endpoint.settings = &SETTINGS;
    fake.request.own = &own;
    fake.request.origin = (struct origin){.scheme = SLICE_LIT("http"), .host = SLICE_LIT("h")};
    page_write_next(page, &fake.request, SLICE_LIT("nodes"), SLICE_LIT("&owner=x"), SLICE_LIT("u9"),
                    &out);
    assert_string_equal(arena_copy(fake.arena, buf_slice(&out)).data, next);
    buf_free(&out);
    fake_request_close(&fake);
}

static const char NEXT[] =
    ", \"next\": \"http://h/v1/nodes?sort_key=id&sort_dir=asc&owner=x&limit=5&marker=u9\"";
static const struct collection FIVE = {.sort_key = SLICE_LIT("id"), .limit = 5};

static void full_pages(void **state)
{
    (void)state;
    struct page page = {.collection = &FIVE, .count = 4};
    expect_next(&page, "");
    page.count = 5;
    expect_next(&page, NEXT);
}

static void large_answers(void **state)
{
    (void)state;
    struct page page = {.collection = &FIVE, .count = 4};
    page_limit_answer(&page, 1, COLLECTION_ANSWER_BYTES_MAX - 1);
    assert_int_equal(page.count, 4);
    page_limit_answer(&page, 4, COLLECTION_ANSWER_BYTES_MAX + 1);
    assert_int_equal(page.count, 4);
    expect_next(&page, "");
    page_limit_answer(&page, 3, COLLECTION_ANSWER_BYTES_MAX);
    assert_int_equal(page.count, 3);
    expect_next(&page, NEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(full_pages),
                                       cmocka_unit_test(large_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
