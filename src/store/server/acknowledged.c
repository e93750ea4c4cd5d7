/* See acknowledged.h. Two slots are written in turn: of a slot that was only written in part, the
 * check does not fit, and the other one counts. */
#include "store/server/acknowledged.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "log/log.h"

enum { FILES_MOST = 16, CHECK_LEN = 16, NAME_LEN = 8, FILE_BYTES = 4096 };

struct slot {
    uint64_t sequence; /* 0: never written */
    struct log_state state;
    struct epochs_left epochs;
    unsigned char check[CHECK_LEN];
};

static void digest(const void *bytes, size_t len, unsigned char *out, size_t out_len)
{
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, len, bytes);
    sha256_digest(&hash, out_len, out);
}

static struct slot make_slot(uint64_t sequence, const struct log_state *state,
                             const struct epochs_left *epochs)
{
    struct slot slot;
    memset(&slot, 0, sizeof(slot));
    slot.sequence = sequence;
    slot.state = *state;
    slot.epochs = *epochs;
    digest(&slot, offsetof(struct slot, check), slot.check, CHECK_LEN);
    return slot;
}

static bool is_sound(const struct slot *slot)
{
    const struct slot same = make_slot(slot->sequence, &slot->state, &slot->epochs);
    return slot->sequence > 0 && slot->state.number > 0 &&
           memcmp(same.check, slot->check, CHECK_LEN) == 0;
}

static bool map_slots(struct acknowledged *file)
{
    _Static_assert(2 * sizeof(struct slot) <= FILE_BYTES, "both fit");
    if (posix_fallocate(file->fd, 0, FILE_BYTES) != 0)
        return false;
    void *mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    file->slots = mapped == MAP_FAILED ? NULL : mapped;
    return file->slots != NULL;
}

static void unmap_slots(struct acknowledged *file)
{
    if (file->slots != NULL)
        munmap(file->slots, FILE_BYTES);
    file->slots = NULL;
}

static void read_slots(struct acknowledged *file, struct log_state *state,
                       struct epochs_left *epochs)
{
    struct slot slots[2];
    if (pread(file->fd, slots, sizeof(slots), 0) != (ssize_t)sizeof(slots))
        return;
    for (unsigned i = 0; i < 2; i++)
        if (is_sound(&slots[i]) && slots[i].sequence > file->sequence) {
            file->sequence = slots[i].sequence;
            *state = slots[i].state;
            *epochs = slots[i].epochs;
        }
}

/* The kernel does the copying, so that a page that cannot be written is an error: the file may have
 * been truncated, or its file system copies what it changes and the disk is full. A plain store
 * would end the process then. */
static bool write_slot(const struct acknowledged *file, unsigned at, const struct slot *slot)
{
    struct slot copy = *slot;
    struct iovec from = {&copy, sizeof(copy)};
    struct iovec to = {&file->slots[at], sizeof(copy)};
    ssize_t written = process_vm_writev(getpid(), &from, 1, &to, 1, 0);
    if (written < 0 && errno != EFAULT) /* not for this process, or not in this kernel */
        written = pwrite(file->fd, &copy, sizeof(copy), (off_t)(at * sizeof(copy)));
    return written == (ssize_t)sizeof(copy);
}

/* The first file that no other process has. */
static int acknowledged_file(struct slice directory, struct slice target)
{
    unsigned char name[NAME_LEN];
    char path[PATH_MAX];
    uint64_t number;
    digest(target.data, target.len, name, sizeof(name));
    memcpy(&number, name, sizeof(number));
    for (unsigned i = 0; i < FILES_MOST; i++) {
        int len = snprintf(path, sizeof(path), "%.*s/acknowledged-%016llx-%u", SLICE_ARG(directory),
                           (unsigned long long)number, i);
        int fd = len < (int)sizeof(path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640) : -1;
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

struct log_state acknowledged_open(struct acknowledged *file, struct slice directory,
                                   struct slice target, struct epochs_left *epochs)
{
    struct log_state state;
    *epochs = (struct epochs_left){0};
    memset(&state, 0, sizeof(state));
    *file = (struct acknowledged){.fd = -1};
    if (directory.data != NULL)
        file->fd = acknowledged_file(directory, target);
    if (file->fd >= 0 && map_slots(file))
        read_slots(file, &state, epochs);
    return state;
}

void acknowledged_write(struct acknowledged *file, const struct log_state *state,
                        const struct epochs_left *epochs)
{
    if (file->slots == NULL || state->number == 0)
        return;
    const struct slot slot = make_slot(++file->sequence, state, epochs);
    if (write_slot(file, file->sequence % 2, &slot))
        return;
    unmap_slots(file);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the file with the newest batch cannot be written any more: after its next restart, "
              "berthd will not find out whether the database went back meanwhile");
}

void acknowledged_close(struct acknowledged *file)
{
    unmap_slots(file);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct acknowledged){.fd = -1};
}
