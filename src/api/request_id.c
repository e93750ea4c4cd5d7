/* Random bytes are fetched one page at a time, for each thread. */
#include "api/request_id.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

#include "base/check.h"
#include "base/hex.h"

static _Thread_local struct {
    uint8_t bytes[4096];
    size_t left;
} pool;

static const uint8_t *take_16(void)
{
    if (pool.left < 16) {
        size_t have = 0;
        while (have < sizeof(pool.bytes)) {
            ssize_t got = getrandom(pool.bytes + have, sizeof(pool.bytes) - have, 0);
            if (got > 0)
                have += (size_t)got;
        }
        pool.left = sizeof(pool.bytes);
    }
    pool.left -= 16;
    return pool.bytes + pool.left;
}

void uuid_generate_text(char out[UUID_LEN])
{
    static const char HEX[] = "0123456789abcdef";
    const uint8_t *random = take_16();
    size_t len = 0;
    for (unsigned i = 0; i < 16; i++) {
        uint8_t byte = random[i];
        if (i == 6)
            byte = (byte & 0x0f) | 0x40;
        if (i == 8)
            byte = (byte & 0x3f) | 0x80;
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[len++] = '-';
        out[len++] = HEX[byte >> 4];
        out[len++] = HEX[byte & 15];
    }
}

void request_id_generate(char out[REQUEST_ID_LEN + 1])
{
    memcpy(out, "req-", 4);
    uuid_generate_text(out + 4);
    out[REQUEST_ID_LEN] = '\0';
}

bool request_id_is_valid(struct slice text)
{
    if (text.len != REQUEST_ID_LEN || memcmp(text.data, "req-", 4) != 0)
        return false;
    for (size_t i = 4; i < text.len; i++) {
        char c = text.data[i];
        bool dash = i == 12 || i == 17 || i == 22 || i == 27;
        if (dash ? c != '-' : hex_value(c) < 0)
            return false;
    }
    return true;
}
