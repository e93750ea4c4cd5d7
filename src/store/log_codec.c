/* See log_codec.h. */
#include "store/log_codec.h"

#include <limits.h>

enum { UUID_RAW_LEN = 16 };

static const char hex[] = "0123456789abcdef";

/* One more than the digit's value; 0: not a digit. */
static const unsigned char digits[UCHAR_MAX + 1] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

static int hex_value(char c)
{
    return digits[(unsigned char)c] - 1;
}

static bool pack_uuid(struct slice text, unsigned char raw[static UUID_RAW_LEN])
{
    if (text.len != LOG_UUID_LEN)
        return false;
    size_t nibbles = 0;
    memset(raw, 0, UUID_RAW_LEN);
    for (size_t i = 0; i < LOG_UUID_LEN; i++) {
        int value = hex_value(text.data[i]);
        if (is_dash(i) ? text.data[i] != '-' : value < 0)
            return false;
        if (is_dash(i))
            continue;
        raw[nibbles / 2] = (unsigned char)(raw[nibbles / 2] << 4 | value);
        nibbles++;
    }
    return true;
}

static void unpack_uuid(const unsigned char *raw, char text[static LOG_UUID_LEN])
{
    size_t nibbles = 0;
    for (size_t i = 0; i < LOG_UUID_LEN; i++) {
        if (is_dash(i)) {
            text[i] = '-';
            continue;
        }
        unsigned char byte = raw[nibbles / 2];
        text[i] = hex[nibbles % 2 == 0 ? byte >> 4 : byte & 15];
        nibbles++;
    }
}

void log_put_number(struct buf *blob, int64_t number)
{
    uint64_t rest = (uint64_t)number;
    while (rest >= 0x80) {
        buf_append_char(blob, (char)((rest & 0x7f) | 0x80));
        rest >>= 7;
    }
    buf_append_char(blob, (char)rest);
}

void log_put_uuid(struct buf *blob, struct slice uuid)
{
    unsigned char raw[UUID_RAW_LEN];
    if (pack_uuid(uuid, raw)) {
        buf_append_char(blob, 0);
        buf_append(blob, raw, sizeof(raw));
    } else {
        check(uuid.len <= LOG_UUID_LEN);
        buf_append_char(blob, (char)uuid.len);
        buf_append_slice(blob, uuid);
    }
}

bool log_get_byte(struct log_reader *reader, unsigned *byte)
{
    if (reader->left == 0)
        return false;
    *byte = *reader->at++;
    reader->left--;
    return true;
}

bool log_get_number(struct log_reader *reader, int64_t *number)
{
    uint64_t value = 0;
    unsigned byte = 0x80;
    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
        if (shift > 63 || !log_get_byte(reader, &byte))
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    *number = (int64_t)value;
    return true;
}

bool log_get_uuid(struct log_reader *reader, char uuid[static LOG_UUID_LEN], uint8_t *len)
{
    unsigned byte;
    if (!log_get_byte(reader, &byte) || byte > LOG_UUID_LEN)
        return false;
    size_t stored = byte == 0 ? UUID_RAW_LEN : byte;
    if (reader->left < stored)
        return false;
    if (byte == 0)
        unpack_uuid(reader->at, uuid);
    else
        memcpy(uuid, reader->at, stored);
    *len = byte == 0 ? LOG_UUID_LEN : (uint8_t)byte;
    reader->at += stored;
    reader->left -= stored;
    return true;
}
