/* Preloaded into berthd: measures how long its threads are busy between two waits. A worker waits
 * in epoll_pwait(), the writer on a condition variable; while a thread is busy, requests for it
 * wait. The longest times are kept in the file named by BERTH_TURNS, which bench/occupy.py maps,
 * reads and resets to zero. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WORKER, WRITER, KINDS, OTHER = KINDS, NAME_BYTES = 16 };

struct longest {
    _Atomic uint64_t turns;
    _Atomic uint64_t cpu_ns;
    _Atomic uint64_t wall_ns;
};

static struct longest *shared; /* one of each kind */
static int (*next_epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
static int (*next_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static _Thread_local uint64_t cpu_from_ns, wall_from_ns;
static _Thread_local int kind_of_thread;
static _Thread_local _Bool is_known;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("BERTH_TURNS");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    *(void **)&next_epoll_pwait = dlsym(RTLD_NEXT, "epoll_pwait");
    *(void **)&next_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (fd < 0)
        return;
    void *map = mmap(NULL, KINDS * sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    shared = map == MAP_FAILED ? NULL : map;
    close(fd);
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
    uint64_t before = atomic_load(most);
    while (value > before && !atomic_compare_exchange_weak(most, &before, value))
        continue;
}

static int kind(void)
{
    char name[NAME_BYTES] = "";
    if (is_known)
        return kind_of_thread;
    pthread_getname_np(pthread_self(), name, sizeof(name));
    is_known = 1;
    kind_of_thread = strcmp(name, "MHD-worker") == 0 ? WORKER
                     : strcmp(name, "writer") == 0   ? WRITER
                                                     : OTHER;
    return kind_of_thread;
}

static void turn_ends(int of)
{
    if (shared == NULL || kind() != of || cpu_from_ns == 0)
        return;
    raise_to(&shared[of].cpu_ns, now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_from_ns);
    raise_to(&shared[of].wall_ns, now_ns(CLOCK_MONOTONIC) - wall_from_ns);
    atomic_fetch_add(&shared[of].turns, 1);
}

static void turn_begins(void)
{
    cpu_from_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    wall_from_ns = now_ns(CLOCK_MONOTONIC);
}

int epoll_pwait(int epoll_fd, struct epoll_event *events, int most, int timeout_ms,
                const sigset_t *signals)
{
    turn_ends(WORKER);
    int count = next_epoll_pwait(epoll_fd, events, most, timeout_ms, signals);
    turn_begins();
    return count;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                           const struct timespec *until)
{
    turn_ends(WRITER);
    int result = next_timedwait(condition, lock, until);
    turn_begins();
    return result;
}
