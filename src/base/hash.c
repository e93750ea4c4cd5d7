/* SipHash with one compression round and three finalisation rounds (Aumasson and Bernstein, 2012;
 * 1-3 is the variant that hash tables use). Any thread. */
#include "base/hash.h"

#include <pthread.h>
#include <sys/random.h>

#include "base/check.h"

static uint64_t hash_key[2];
static pthread_once_t hash_once = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
    check(getrandom(hash_key, sizeof(hash_key), 0) == (ssize_t)sizeof(hash_key));
}

struct sip {
    uint64_t a, b, c, d;
};

static inline uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(struct sip *s)
{
    s->a += s->b;
    s->b = rotate(s->b, 13) ^ s->a;
    s->a = rotate(s->a, 32);
    s->c += s->d;
    s->d = rotate(s->d, 16) ^ s->c;
    s->a += s->d;
    s->d = rotate(s->d, 21) ^ s->a;
    s->c += s->b;
    s->b = rotate(s->b, 17) ^ s->c;
    s->c = rotate(s->c, 32);
}

static inline uint64_t hash_load(const char *from, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, from, bytes);
    return word;
}

/* The bytes after the last whole word, read with overlapping loads instead of a loop. */
static inline uint64_t rest_of(struct slice text)
{
    size_t rest = text.len & 7;
    const char *end = text.data + text.len;
    if (rest == 0)
        return 0;
    if (text.len >= 8)
        return hash_load(end - 8, 8) >> 8 * (8 - rest);
    if (rest >= 4)
        return hash_load(text.data, 4) | hash_load(end - 4, 4) << 8 * (rest - 4);
    return hash_load(text.data, 1) | hash_load(text.data + rest / 2, 1) << 8 * (rest / 2) |
           hash_load(end - 1, 1) << 8 * (rest - 1);
}

uint64_t hash_text(struct slice text)
{
    pthread_once(&hash_once, draw_key);
    struct sip s = {
        .a = hash_key[0] ^ 0x736f6d6570736575U,
        .b = hash_key[1] ^ 0x646f72616e646f6dU,
        .c = hash_key[0] ^ 0x6c7967656e657261U,
        .d = hash_key[1] ^ 0x7465646279746573U,
    };
    size_t whole = text.len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word;
        memcpy(&word, text.data + i, 8);
        s.d ^= word;
        sip_round(&s);
        s.a ^= word;
    }
    uint64_t last = (uint64_t)text.len << 56 | rest_of(text);
    s.d ^= last;
    sip_round(&s);
    s.a ^= last;
    s.c ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}
