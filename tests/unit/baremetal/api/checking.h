/* Parses JSON and compares errors, for the tests of the bare metal checks. */
#ifndef BERTH_TESTS_UNIT_API_BAREMETAL_CHECKING_H
#define BERTH_TESTS_UNIT_API_BAREMETAL_CHECKING_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"
#include "unit.h"

static inline json_t *json_of(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (value == NULL)
        fail_msg("no JSON: %s", text);
    return value;
}

static inline void assert_json(const json_t *value, const char *want)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    assert_string_equal(text, want);
    free(text);
}

/* Whether that was accepted (text NULL) or refused with this text. Clears the error. */
static inline void assert_message(bool taken, struct err *err, int status, const char *text)
{
    assert_int_equal(taken, text == NULL);
    assert_int_equal(err->status, text == NULL ? 0 : status);
    if (text != NULL)
        assert_string_equal(arena_copy(err->arena, err->message).data, text);
    *err = (struct err){.arena = err->arena};
}

#endif
