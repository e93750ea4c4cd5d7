/* Reads the file of requests, and puts new uuids into them (see load_requests.h).
 *
 * A claim is prepared completely beforehand; sending one costs a copy and a few random numbers.
 * Single-threaded. */
#include "load_requests.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define UUID_LENGTH 36
#define MARKS_MAX   16

struct request {
    char *bytes;
    size_t length;
    size_t marks[MARKS_MAX];
    size_t mark_count;
};

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

void *must_alloc(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (p == NULL)
        die("out of memory");
    return p;
}

void requests_read(struct requests *requests, const char *path)
{
    if (getrandom(requests->random, sizeof requests->random, 0) != (ssize_t)sizeof requests->random)
        die("getrandom: %s", strerror(errno));
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die("%s: %s", path, strerror(errno));
    size_t room = 0, length;
    int got;
    while ((got = fscanf(file, "REQ %zu", &length)) == 1) {
        if (fgetc(file) != '\n')
            die("%s: no newline after REQ", path);
        if (requests->count == room) {
            room = room == 0 ? 256 : 2 * room;
            requests->data = realloc(requests->data, room * sizeof *requests->data);
            if (requests->data == NULL)
                die("out of memory");
        }
        struct request *r = &requests->data[requests->count++];
        memset(r, 0, sizeof *r);
        r->bytes = must_alloc(length + 1, 1);
        r->length = length;
        if (fread(r->bytes, 1, length, file) != length)
            die("%s: a request is cut short", path);
        const char *at = r->bytes;
        while ((at = strstr(at, UUID_MARK)) != NULL) {
            if (r->mark_count == MARKS_MAX)
                die("%s: more than %d uuids in a request", path, MARKS_MAX);
            r->marks[r->mark_count++] = (size_t)(at - r->bytes);
            at += UUID_LENGTH;
        }
        if (length > requests->longest)
            requests->longest = length;
    }
    if (got != EOF || requests->count == 0)
        die("%s: not a file of requests", path);
    fclose(file);
}

static uint64_t random_next(struct requests *requests)
{
    uint64_t a = requests->random[0], b = requests->random[1]; /* xorshift128+ */
    requests->random[0] = b;
    a ^= a << 23;
    requests->random[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
    return requests->random[1] + b;
}

static void uuid_write(struct requests *requests, char *out)
{
    static const char hex[] = "0123456789abcdef";
    uint64_t bits = random_next(requests);
    for (int i = 0, taken = 0; i < UUID_LENGTH; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23)
            continue;
        if (taken++ == 16)
            bits = random_next(requests);
        out[i] = hex[bits & 15];
        bits >>= 4;
    }
    out[14] = '4';
    out[19] = '8';
}

const char *requests_next(struct requests *requests, char *room, size_t *length)
{
    const struct request *r = &requests->data[requests->next];
    requests->next = (requests->next + 1) % requests->count;
    *length = r->length;
    if (r->mark_count == 0)
        return r->bytes;
    memcpy(room, r->bytes, r->length);
    for (size_t i = 0; i < r->mark_count; i++)
        uuid_write(requests, room + r->marks[i]);
    return room;
}
