/* Documents in a heap of their own. */
#include "api/text/json_heap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "unit.h"

enum { MIB = 1 << 20 };

static struct arena *arena;
static struct memory_budget *budget;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    budget = memory_budget_create(16 * MIB);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_budget_destroy(budget); /* checks that nothing is charged */
    arena_destroy(arena);
    return 0;
}

static struct json_heap *heap_of(bool is_large)
{
    return json_heap_create(arena, (struct memory_share){.budget = budget}, is_large);
}

static struct buf list_of(const char *element, size_t count)
{
    struct buf text = {0};
    buf_append_char(&text, '[');
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i > 0 ? "," : "", element);
    buf_append_char(&text, ']');
    return text;
}

static void a_small_text_is_charged_nothing(void **state)
{
    (void)state;
    json_error_t error;
    struct json_heap *heap = heap_of(false);
    json_t *document = json_heap_parse(heap, SLICE_LIT("{\"a\": [1, 2.5, \"x\"]}"), 0, &error);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(document, "a"), 0)), 1);
    assert_int_equal(memory_budget_used(budget), 0);
    /* what is added to it is freed like anything else */
    json_object_set_new(document, "b", json_string("of malloc"));
    json_object_set_new(document, "a", json_array());
    char *text = json_dumps(document, JSON_SORT_KEYS);
    assert_string_equal(text, "{\"a\": [], \"b\": \"of malloc\"}");
    free(text);
    json_decref(document);
    json_heap_clear(heap);
}

static void a_large_text_is_charged(void **state)
{
    (void)state;
    json_error_t error;
    struct buf text = list_of("{\"k\": \"value\"}", 4000);
    struct json_heap *heap = heap_of(true);
    json_t *document = json_heap_parse(heap, buf_slice(&text), 0, &error);
    assert_int_equal(json_array_size(document), 4000);
    assert_int_equal(memory_budget_used(budget), json_heap_bytes(heap));
    assert_in_range(json_heap_bytes(heap), MIB, 4 * MIB);
    struct json_blocks blocks = json_heap_detach(heap);
    assert_int_equal(json_heap_bytes(heap), 0);
    arena_reset(arena); /* nothing of the document is in it */
    json_decref(document);
    json_blocks_free(&blocks);
    buf_free(&text);
}

static void too_many_values(void **state)
{
    (void)state;
    static const char *const ELEMENTS[] = {"{}", "[]", "1", "\"\"", "{\"a\":1}", "1.5"};
    json_error_t error;
    for (unsigned i = 0; i < sizeof(ELEMENTS) / sizeof(ELEMENTS[0]); i++) {
        struct err err = {.arena = arena};
        struct buf text = list_of(ELEMENTS[i], 500000);
        struct json_heap *heap = heap_of(i % 2 == 0);
        assert_null(json_heap_parse(heap, buf_slice(&text), 0, &error));
        assert_in_range(memory_budget_used(budget), MIB, 8 * MIB);
        assert_true(json_heap_has_failed(heap, &err));
        assert_int_equal(err.status, 413);
        assert_false(json_heap_was_refused(heap));
        json_heap_clear(heap);
        buf_free(&text);
    }
}

static void others_have_it(void **state)
{
    (void)state;
    json_error_t error;
    struct err err = {.arena = arena};
    struct memory_share guest = {.budget = budget, .owner = 7, .address = 7};
    assert_int_equal(memory_take(&guest, 8 * MIB), MEMORY_GRANTED);
    struct buf text = list_of("{}", 30000); /* some 7 MiB */
    struct json_heap *heap = heap_of(true);
    assert_null(json_heap_parse(heap, buf_slice(&text), 0, &error));
    assert_true(json_heap_has_failed(heap, &err));
    assert_int_equal(err.status, 503);
    assert_true(json_heap_was_refused(heap));
    json_heap_clear(heap);
    assert_true(json_heap_was_refused(heap));
    memory_give_back(&guest);
    json_t *document = json_heap_parse(heap, buf_slice(&text), 0, &error);
    assert_int_equal(json_array_size(document), 30000);
    assert_false(json_heap_was_refused(heap));
    json_decref(document);
    json_heap_clear(heap);
    buf_free(&text);
}

struct pace {
    size_t bytes; /* given out so far */
    size_t most;  /* the limit */
    unsigned times;
};

static bool goes_on(void *cls, size_t bytes)
{
    struct pace *pace = cls;
    assert_in_range(bytes, 1, 4096);
    pace->bytes += bytes;
    pace->times++;
    return pace->bytes <= pace->most;
}

static void a_paced_text(void **state)
{
    (void)state;
    json_error_t error;
    struct err err = {.arena = arena};
    struct buf text = list_of("{\"k\": \"value\"}", 4000);
    struct pace pace = {.most = text.len};
    struct json_heap *heap = heap_of(true);
    json_heap_set_pace(heap, (struct json_pace){goes_on, &pace});
    json_t *document = json_heap_parse(heap, buf_slice(&text), 0, &error);
    assert_int_equal(json_array_size(document), 4000);
    assert_int_equal(pace.bytes, text.len);
    assert_in_range(pace.times, text.len / 4096, text.len / 256);
    assert_false(json_heap_has_failed(heap, &err));
    json_decref(document);
    json_heap_clear(heap);

    pace = (struct pace){.most = text.len / 2};
    assert_null(json_heap_parse(heap, buf_slice(&text), 0, &error));
    assert_in_range(pace.bytes, text.len / 2, text.len / 2 + 4096);
    assert_true(json_heap_has_failed(heap, &err));
    assert_int_equal(err.status, 503);
    assert_false(json_heap_was_refused(heap));
    json_heap_clear(heap);

    pace = (struct pace){.most = text.len};
    text.data[text.len - 1] = '}';
    assert_null(json_heap_parse(heap, buf_slice(&text), 0, &error));
    assert_false(json_heap_has_failed(heap, &err));
    assert_int_equal(error.line, 1);
    assert_int_equal(error.position, text.len);
    json_heap_clear(heap);
    buf_free(&text);
}

static void malformed_texts_leave_nothing(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"{\"a\": {\"b\": [1, 2", "[1, 2, x]", "", "{\"a\" 1}"};
    json_error_t error;
    struct json_heap *heap = heap_of(true);
    for (unsigned i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct err err = {.arena = arena};
        assert_null(json_heap_parse(heap, slice_of(TEXTS[i]), 0, &error));
        assert_false(json_heap_has_failed(heap, &err));
        json_heap_clear(heap);
    }
}

/* Memory that is exhausted within one value, at any place. */
static void one_value_outgrows_the_memory(void **state)
{
    (void)state;
    struct buf text = {0};
    for (unsigned kind = 0; kind < 2; kind++) {
        unsigned failures = 0;
        for (size_t limit = MIB / 2; limit <= 96 * (size_t)MIB; limit += 21 * (size_t)MIB / 16) {
            struct memory_budget *little = memory_budget_create(limit);
            struct json_heap *heap =
                json_heap_create(arena, (struct memory_share){.budget = little}, true);
            struct err err = {.arena = arena};
            json_error_t error;
            text.len = 0;
            buf_append_slice(&text, kind == 0 ? SLICE_LIT("[\"") : SLICE_LIT("[0."));
            memset(buf_reserve(&text, 3 * MIB), '7', 3 * MIB);
            text.len += 3 * MIB;
            buf_append_slice(&text, kind == 0 ? SLICE_LIT("\"]") : SLICE_LIT("]"));
            json_t *document = json_heap_parse(heap, buf_slice(&text), 0, &error);
            assert_true((document == NULL) == json_heap_has_failed(heap, &err));
            failures += document == NULL;
            json_decref(document);
            json_heap_clear(heap);
            memory_budget_destroy(little);
        }
        assert_in_range(failures, 10, 60);
    }
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_small_text_is_charged_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_large_text_is_charged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_have_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_paced_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_texts_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_value_outgrows_the_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
