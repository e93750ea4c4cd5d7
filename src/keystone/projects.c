/* Several queries run at the same time, each a lane, which takes the next project when it has an
 * answer. The first project that does not exist, or for which there is no answer, ends all lanes at
 * their next step; the last lane reports the outcome.
 *
 * Lanes begin on the caller's thread and continue on Keystone's, so what they share is atomic. */
#include "keystone/projects.h"

#include "base/clock.h"
#include "keystone/access_rules.h"
#include "keystone/internal.h"

enum { LANES_MAX = 8, UUID_DASHED = 36 };

struct lane {
    struct keystone_projects *shared;
    struct keystone_waiter waiter;
    size_t at; /* the project that it queries */
};

struct keystone_projects {
    struct keystone *keystone;
    const struct slice *ids; /* encoded */
    size_t count;
    struct slice request_id;
    uint64_t until_us;
    keystone_projects_done *done;
    void *cls;
    _Atomic size_t next;
    _Atomic unsigned lanes_left;
    _Atomic size_t unknown; /* index of a missing project; count: none yet */
    _Atomic bool is_unanswered;
    struct lane lanes[LANES_MAX];
};

static void end_lane(struct keystone_projects *shared)
{
    if (atomic_fetch_sub(&shared->lanes_left, 1) > 1)
        return;
    size_t unknown = atomic_load(&shared->unknown);
    enum keystone_verdict verdict = unknown < shared->count               ? KEYSTONE_REFUSED
                                    : atomic_load(&shared->is_unanswered) ? KEYSTONE_UNAVAILABLE
                                                                          : KEYSTONE_ACCEPTED;
    shared->done(shared->cls, verdict, unknown);
}

static void take_verdict(struct lane *lane)
{
    struct keystone_projects *shared = lane->shared;
    if (lane->waiter.verdict == KEYSTONE_REFUSED)
        atomic_store(&shared->unknown, lane->at);
    else if (lane->waiter.verdict != KEYSTONE_ACCEPTED)
        atomic_store(&shared->is_unanswered, true);
}

static bool is_decided(struct keystone_projects *shared)
{
    if (clock_monotonic_us() > shared->until_us)
        atomic_store(&shared->is_unanswered, true);
    return atomic_load(&shared->unknown) < shared->count || atomic_load(&shared->is_unanswered);
}

static void on_answer(struct keystone_waiter *waiter);

static void projects_go_on(struct lane *lane)
{
    struct keystone_projects *shared = lane->shared;
    while (!is_decided(shared) && (lane->at = atomic_fetch_add(&shared->next, 1)) < shared->count) {
        const struct keystone_query_input about = {
            .key = token_cache_key(shared->keystone->cache, shared->ids[lane->at]),
            .subject = shared->ids[lane->at],
            .is_project = true,
            .request_id = shared->request_id,
        };
        lane->waiter = (struct keystone_waiter){.done = on_answer};
        if (keystone_queries_submit(shared->keystone, &about, &lane->waiter) == KEYSTONE_PENDING)
            return;
        take_verdict(lane);
    }
    end_lane(shared);
}

static void on_answer(struct keystone_waiter *waiter)
{
    struct lane *lane = (struct lane *)((char *)waiter - offsetof(struct lane, waiter));
    take_verdict(lane);
    projects_go_on(lane);
}

/* Whether the id cannot be a project's: as the last segment of a URL it would change which URL is
 * requested. */
static bool is_no_segment(struct slice id)
{
    return id.len == 0 || slice_equal(id, SLICE_LIT(".")) || slice_equal(id, SLICE_LIT(".."));
}

/* Keystone writes a project's UUID without hyphens. */
static struct slice without_hyphens(struct arena *arena, struct slice id)
{
    char *out = arena_alloc(arena, id.len);
    size_t len = 0;
    for (size_t i = 0; i < id.len; i++)
        if (id.data[i] != '-')
            out[len++] = id.data[i];
    bool is_uuid = id.len == UUID_DASHED && len == UUID_DASHED - 4;
    return is_uuid ? (struct slice){out, len} : id;
}

/* Encodes the id as one segment of a path. */
static struct slice encode(struct arena *arena, struct slice id)
{
    const struct slice text = access_rules_encode_path(arena, (struct slice){0}, id);
    struct buf out = {0};
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '/')
            buf_append_lit(&out, "%2F");
        else
            buf_append_char(&out, text.data[i]);
    struct slice encoded = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return encoded;
}

void keystone_projects_check(struct keystone *keystone, const struct slice *projects, size_t count,
                             struct slice request_id, struct arena *arena,
                             keystone_projects_done *done, void *cls)
{
    struct keystone_projects *shared = arena_zalloc(arena, sizeof(*shared));
    struct slice *ids = arena_array(arena, count, sizeof(*ids));
    check(count > 0);
    for (size_t i = 0; i < count; i++) {
        if (is_no_segment(projects[i])) {
            done(cls, KEYSTONE_REFUSED, i);
            return;
        }
        ids[i] = encode(arena, without_hyphens(arena, projects[i]));
    }
    shared->keystone = keystone;
    shared->ids = ids;
    shared->count = count;
    shared->request_id = request_id;
    shared->until_us = clock_monotonic_us() + keystone->limits.query_ms * 1000ULL;
    shared->done = done;
    shared->cls = cls;
    unsigned lanes = count < LANES_MAX ? (unsigned)count : LANES_MAX;
    atomic_init(&shared->unknown, count);
    atomic_init(&shared->lanes_left, lanes);
    for (unsigned i = 0; i < lanes; i++)
        shared->lanes[i].shared = shared;
    for (unsigned i = 0; i < lanes; i++)
        projects_go_on(&shared->lanes[i]);
}
