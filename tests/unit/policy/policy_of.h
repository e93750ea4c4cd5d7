/* A policy from the text of a file, as if it had been read. */
#ifndef BERTH_TESTS_POLICY_OF_H
#define BERTH_TESTS_POLICY_OF_H

#include "policy/files.h"
#include "unit.h"

/* NULL: `err` has the reason; its arena is the caller's. */
static inline struct policy *policy_try(const struct policy_options *options, const char *text,
                                        struct err *err)
{
    struct arena *arena = arena_create();
    struct policy_overrides overrides = {0};
    struct policy_notes notes = {.arena = arena};
    struct policy *policy = NULL;
    if (policy_file_take("file", slice_of(text), arena, &overrides, &notes, err))
        policy = policy_build(options, &overrides, err);
    if (policy != NULL)
        for (unsigned i = 0; i < notes.count; i++)
            policy_note(&policy->notes, notes.items[i].level, "%.*s",
                        SLICE_ARG(notes.items[i].text));
    arena_destroy(arena);
    return policy;
}

static inline struct policy *policy_of(const struct policy_options *options, const char *text)
{
    struct err err = {.arena = arena_create()};
    struct policy *policy = policy_try(options, text, &err);
    if (policy == NULL)
        fail_msg("%.*s", SLICE_ARG(err.message));
    arena_destroy(err.arena);
    return policy;
}

/* Why the text is not a policy; the message is in the arena. */
static inline const char *refusal_of(struct arena *arena, const char *text)
{
    const struct policy_options options = {0};
    struct err err = {.arena = arena};
    assert_null(policy_try(&options, text, &err));
    return arena_copy(arena, err.message).data;
}

#endif
