/* See revisions.h. Constant data; any thread. */
#include "store/revisions.h"

const char *const schema_revision_ids[SCHEMA_REVISION_COUNT] = {
    [SCHEMA_INITIAL] = "b4ed3a175331",          [SCHEMA_ROOTS_REQUIRED] = "611cd6dffd7b",
    [SCHEMA_CONSUMERS_NEEDED] = "b5c396305c25", [SCHEMA_CONSUMER_TYPES] = "422ece571366",
    [SCHEMA_INDEXES_DROPPED] = "a082b8bb98d0",
};

int schema_revision_find(struct slice text)
{
    if (slice_equal(text, SLICE_LIT("head")) || slice_equal(text, SLICE_LIT("heads")))
        return SCHEMA_NEWEST;
    if (text.len < 4)
        return -1;
    for (int i = 0; i < SCHEMA_REVISION_COUNT; i++)
        if (slice_starts_with(slice_of(schema_revision_ids[i]), text))
            return i;
    return -1;
}

bool schema_is_unfinished_copy(const char *revision)
{
    return slice_starts_with(slice_of(revision), SLICE_LIT(SCHEMA_UNFINISHED_COPY));
}
