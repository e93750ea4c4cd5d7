/* The changes of a batch in the log: they come back as they were, or the blob is refused. */
#include "store/log_changes.h"

#include <stdlib.h>

#include "store/log.h"
#include "unit.h"

#define UUID SLICE_LIT("0123abcd-4567-89ab-cdef-0123456789ab")

enum { CHANGES = 8 };

static const struct change changes[CHANGES] = {
    {.kind = CHANGE_PROVIDER_GENERATION, .updated_at_us = 7, .generation = {300, 4, 5}},
    {.kind = CHANGE_PROVIDER_GENERATION,
     .updated_at_us = 7,
     .generation = {INT64_MAX, INT32_MAX, INT32_MIN}},
    {.kind = CHANGE_CONSUMER_INSERT,
     .created_at_us = 1795667861001792,
     .consumer = {.id = 5, .project_id = 1, .user_id = 2, .generation = 1, .uuid = UUID}},
    {.kind = CHANGE_ALLOCATION_INSERT,
     .created_at_us = 1795667861001792,
     .allocation = {9, 5, 300, 3, INT32_MAX, UUID}},
    {.kind = CHANGE_CONSUMER_UPDATE,
     .updated_at_us = -1,
     .consumer = {6, 1, 2, 3, 9, 8, SLICE_LIT("0123ABCD-4567-89ab-cdef-0123456789ab")}},
    {.kind = CHANGE_ALLOCATIONS_OF_DELETE,
     .allocation = {.consumer_id = 7, .consumer_uuid = SLICE_LIT("x")}},
    {.kind = CHANGE_CONSUMER_DELETE,
     .consumer = {.id = 7, .expected_generation = 3, .uuid = SLICE_LIT("x")}},
    {.kind = CHANGE_CONSUMER_DELETE,
     .consumer = {.id = 7, .expected_generation = 3, .uuid = SLICE_LIT("")}},
};

static void write_all(struct buf *blob)
{
    assert_true(log_changes_append(blob, changes, CHANGES - 1));
    assert_true(log_changes_is(buf_slice(blob)));
}

struct reading {
    size_t count;
    size_t most;
};

static bool compare_next(void *cls, const struct change *change)
{
    struct reading *reading = cls;
    const struct change *expected = &changes[reading->count++];
    assert_int_equal(change->kind, expected->kind);
    assert_true(change->created_at_us == expected->created_at_us);
    assert_true(change->updated_at_us == expected->updated_at_us);
    assert_true(log_changes_consumer(change) == log_changes_consumer(expected));
    if (change->kind == CHANGE_PROVIDER_GENERATION) {
        assert_memory_equal(&change->generation, &expected->generation, sizeof(change->generation));
        return reading->count < reading->most;
    }
    struct slice uuid = log_changes_uuid(expected);
    assert_true(slice_equal(log_changes_uuid(change), uuid));
    struct change same = *change; /* apart from where the text is */
    if (change->kind == CHANGE_ALLOCATION_INSERT || change->kind == CHANGE_ALLOCATIONS_OF_DELETE) {
        same.allocation.consumer_uuid = uuid;
        assert_memory_equal(&same.allocation, &expected->allocation, sizeof(same.allocation));
    } else {
        same.consumer.uuid = uuid;
        assert_memory_equal(&same.consumer, &expected->consumer, sizeof(same.consumer));
    }
    return reading->count < reading->most;
}

static void as_they_were(void **state)
{
    (void)state;
    struct buf blob = {0};
    struct reading reading = {.most = SIZE_MAX};
    write_all(&blob);
    assert_true(log_changes_read(buf_slice(&blob), compare_next, &reading));
    assert_int_equal(reading.count, CHANGES - 1);
    reading = (struct reading){.most = 3};
    assert_false(log_changes_read(buf_slice(&blob), compare_next, &reading));
    assert_int_equal(reading.count, 3);
    buf_free(&blob);
}

/* A follower to which the changes do not apply reads what they name. */
static void name_the_entities(void **state)
{
    (void)state;
    static const struct log_entry expected[] = {
        {.kind = LOG_PROVIDER_GENERATION, .id = 300},
        {.kind = LOG_PROVIDER_GENERATION, .id = INT64_MAX},
        {.kind = LOG_CONSUMER, .id = 5, .uuid_len = 36},
        {.kind = LOG_CONSUMER, .id = 6, .uuid_len = 36},
        {.kind = LOG_CONSUMER, .id = 7, .uuid_len = 1},
    };
    struct buf blob = {0};
    struct log_entries entries = {0};
    write_all(&blob);
    assert_true(log_parse(buf_slice(&blob), &entries));
    assert_int_equal(entries.count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < entries.count; i++) {
        assert_int_equal(entries.data[i].kind, expected[i].kind);
        assert_true(entries.data[i].id == expected[i].id);
        assert_int_equal(entries.data[i].uuid_len, expected[i].uuid_len);
    }
    assert_memory_equal(entries.data[2].uuid, UUID.data, UUID.len);
    log_entries_free(&entries);
    buf_free(&blob);
}

static void others_are_not_written(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    struct buf blob = {0};
    struct change several[2] = {changes[0], {.kind = CHANGE_TRAIT_INSERT}};
    assert_false(log_changes_append(&blob, several, 2));
    assert_int_equal(blob.len, 0);
    several[1] = changes[3];
    several[1].allocation.used = (int64_t)INT32_MAX + 1;
    assert_false(log_changes_append(&blob, several, 2));
    several[1] = changes[3];
    several[1].allocation.consumer_id = -5;
    assert_false(log_changes_append(&blob, several, 2));
    struct change *many = calloc(MANY, sizeof(*many));
    for (size_t i = 0; i < MANY; i++)
        many[i] = changes[3];
    assert_false(log_changes_append(&blob, many, MANY));
    assert_int_equal(blob.len, 0);
    assert_true(log_changes_append(&blob, many, MANY / 2));
    free(many);
    buf_free(&blob);
}

static bool count_change(void *cls, const struct change *change)
{
    assert_true(change->kind == CHANGE_PROVIDER_GENERATION || log_changes_consumer(change) > 0);
    ++*(size_t *)cls;
    return true;
}

static size_t read_exactly(const char *bytes, size_t len, bool *ok)
{
    size_t count = 0;
    char *exact = malloc(len == 0 ? 1 : len); /* so that a sanitizer sees a read beyond the end */
    if (len > 0)
        memcpy(exact, bytes, len);
    *ok = log_changes_read((struct slice){exact, len}, count_change, &count);
    free(exact);
    return count;
}

static void malformed(void **state)
{
    (void)state;
    static const char *const refused[] = {"\1", "\2\x3f", "\2\6", "\2\3", "\2\x83\5\3abc"};
    bool ok;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        read_exactly(refused[i], strlen(refused[i]), &ok);
        assert_false(ok);
    }
    assert_int_equal(read_exactly("\2\x83\5\3abc\1", 8, &ok), 1);
    assert_true(ok);
    assert_int_equal(read_exactly("\2\xc3\1", 3, &ok), 0); /* the same consumer as nobody */
    assert_false(ok);
    assert_int_equal(read_exactly("\2\x83\5\3abc\xff\xff\xff\xff\x8f\1", 13, &ok), 0);
    assert_false(ok);
    struct buf blob = {0};
    write_all(&blob);
    for (size_t len = 1; len < blob.len; len++) {
        size_t count = read_exactly(blob.data, len, &ok);
        assert_true(!ok || count < CHANGES - 1);
    }
    srandom(5);
    for (int round = 0; round < 50000; round++) {
        char noise[256];
        size_t len = blob.len < sizeof(noise) ? blob.len : sizeof(noise);
        memcpy(noise, blob.data, len);
        for (int hits = 0; hits < 3; hits++)
            noise[1 + (size_t)random() % (len - 1)] = (char)random();
        assert_true(read_exactly(noise, len, &ok) <= len);
    }
    buf_free(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_they_were),
        cmocka_unit_test(name_the_entities),
        cmocka_unit_test(others_are_not_written),
        cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
