/* The requests that the load generator sends: read from a file, returned in order.
 *
 * The file is a sequence of "REQ <length>\n" and that many bytes, each a complete HTTP request.
 * Every UUID_MARK in a request is replaced by a new random uuid each time that it is returned. */
#ifndef BERTH_BENCH_LOAD_REQUESTS_H
#define BERTH_BENCH_LOAD_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#define UUID_MARK "uuuuuuuu-uuuu-uuuu-uuuu-uuuuuuuuuuuu"

struct requests {
    struct request *data;
    size_t count, next;
    size_t longest; /* bytes */
    uint64_t random[2];
};

/* Prints "load: ..." and exits with 2. */
_Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...);

/* Zeroed memory; dies if there is none. */
void *must_alloc(size_t count, size_t size);

/* Reads the file, or dies. */
void requests_read(struct requests *requests, const char *path);

/* The next request; in `room` (of `longest` bytes) if it contains uuids, else where it was read to.
 */
const char *requests_next(struct requests *requests, char *room, size_t *length);

#endif
