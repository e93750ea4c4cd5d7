/* See event_set.h. The kernel is given the number of the descriptor instead of the library's
 * pointer, so that an event tells which one it is of; the highest bit tells it from a pointer. */
#include "base/event_set.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"

enum { MEMBERS_LEAST = 64 };

#define NUMBER (UINT64_C(1) << 63)

struct member {
    void *told; /* the library's pointer; NULL: not in the set, or not in our care */
    uint32_t events;
    bool is_out;     /* as far as the library knows */
    bool has_missed; /* an event, since then */
};

static _Thread_local struct {
    int epoll_fd;
    struct member *members; /* by descriptor */
    size_t count;
    size_t used;
} here;

/* So that what a thread has is freed even if another one closes its descriptors after its end. */
static pthread_key_t members_key;
static pthread_once_t members_once = PTHREAD_ONCE_INIT;

static void event_set_make_key(void)
{
    check(pthread_key_create(&members_key, free) == 0);
}

static void own(struct member *members)
{
    pthread_once(&members_once, event_set_make_key);
    here.members = members;
    check(pthread_setspecific(members_key, members) == 0);
}

/* Not by epoll_ctl(), which may be the caller. */
static int change_kernel(int operation, int fd, struct epoll_event *event)
{
    return (int)syscall(SYS_epoll_ctl, here.epoll_fd, operation, fd, event);
}

static struct member *find_member(int fd)
{
    struct member *member = fd >= 0 && (size_t)fd < here.count ? &here.members[fd] : NULL;
    return member != NULL && member->told != NULL ? member : NULL;
}

static struct member *find_or_make(int fd)
{
    size_t count = here.count == 0 ? MEMBERS_LEAST : here.count;
    while (count <= (size_t)fd)
        count *= 2;
    if (count > here.count) {
        struct member *members = realloc(here.members, count * sizeof(*members));
        check(members != NULL);
        own(members);
        memset(here.members + here.count, 0, (count - here.count) * sizeof(*here.members));
        here.count = count;
    }
    return &here.members[fd];
}

static bool is_number(const struct epoll_event *event)
{
    return (event->data.u64 & NUMBER) != 0;
}

/* Whether the kernel need not be told. */
static bool is_as_before(const struct member *member, const struct epoll_event *event)
{
    return !member->has_missed && member->told == event->data.ptr &&
           member->events == event->events;
}

/* A descriptor that was closed and not forgotten is in no set any more. */
static int tell_kernel(int fd, uint32_t events, bool is_kept)
{
    struct epoll_event numbered = {.events = events, .data.u64 = NUMBER | (uint64_t)fd};
    return is_kept && change_kernel(EPOLL_CTL_MOD, fd, &numbered) == 0
               ? 0
               : change_kernel(EPOLL_CTL_ADD, fd, &numbered);
}

static int add(int fd, const struct member *member, const struct epoll_event *event)
{
    bool is_kept = member != NULL && member->is_out;
    if (!(is_kept && is_as_before(member, event)) && tell_kernel(fd, event->events, is_kept) != 0)
        return -1;
    here.used += member == NULL;
    *find_or_make(fd) = (struct member){.told = event->data.ptr, .events = event->events};
    return 0;
}

int event_set_change(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    struct member *member = find_member(fd);
    here.epoll_fd = epoll_fd;
    if (operation == EPOLL_CTL_ADD && fd >= 0 && (event->events & EPOLLET) != 0 &&
        event->data.ptr != NULL && !is_number(event))
        return add(fd, member, event);
    if (operation == EPOLL_CTL_DEL && member != NULL && !member->is_out) {
        member->is_out = true;
        member->has_missed = false;
        return 0;
    }
    return change_kernel(operation, fd, event);
}

int event_set_told(struct epoll_event *events, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct member *member = NULL;
        if (is_number(&events[i])) {
            member = find_member((int)(events[i].data.u64 & ~NUMBER));
            if (member == NULL)
                continue;
            member->has_missed |= member->is_out;
            if (member->is_out)
                continue;
        }
        events[kept] = events[i];
        if (member != NULL)
            events[kept].data.ptr = member->told;
        kept++;
    }
    return kept;
}

void event_set_forget(int fd)
{
    struct member *member = find_member(fd);
    if (member == NULL)
        return;
    if (member->is_out)
        change_kernel(EPOLL_CTL_DEL, fd, NULL);
    member->told = NULL;
    if (--here.used == 0)
        event_set_end();
}

void event_set_end(void)
{
    if (here.members == NULL)
        return;
    free(here.members);
    own(NULL);
    here.count = here.used = 0;
}
