/* See lives.h. */
#include "lives.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/check.h"

enum { LIVES_MAX = 1000, TEXT_BYTES = 24, SECOND_US = 1000000 };

static struct {
    char text[LIVES_MAX][TEXT_BYTES];
    bool is_over[LIVES_MAX];
    int count;
} lives;

struct slice lives_begin(int host)
{
    check(lives.count < LIVES_MAX);
    snprintf(lives.text[lives.count], TEXT_BYTES, "host-%d life-%d", host, lives.count);
    lives.is_over[lives.count] = false;
    return slice_of(lives.text[lives.count++]);
}

void lives_end(struct slice life)
{
    for (int i = 0; i < lives.count; i++)
        if (slice_equal(slice_of(lives.text[i]), life))
            lives.is_over[i] = true;
}

void lives_forget(void)
{
    lives.count = 0;
}

struct metal lives_metal(struct slice life)
{
    struct slice rest = life;
    return (struct metal){
        .mirror = true,
        .host = slice_cut(&rest, ' '),
        .instance = life,
        .takeover_us = 60LL * SECOND_US,
        .fake_delay_us = SECOND_US,
        .locked_retry_attempts = 3,
        .locked_retry_interval_us = SECOND_US,
        .incomplete_project_id = SLICE_LIT("project-00"),
        .incomplete_user_id = SLICE_LIT("user-00"),
    };
}

/* A process is seen only on its own host, as with the real function. */
bool __wrap_instance_is_gone(struct slice name, struct slice host, bool is_shared);
bool __wrap_instance_is_gone(struct slice name, struct slice host, bool is_shared)
{
    (void)is_shared; /* a host has one machine */
    struct slice rest = name;
    if (!slice_equal(slice_cut(&rest, ' '), host))
        return false;
    for (int i = 0; i < lives.count; i++)
        if (slice_equal(slice_of(lives.text[i]), name))
            return lives.is_over[i];
    return true;
}
