/* How numbers and uuids are written in the log's blobs (log.h): numbers as base-128 varints, a uuid
 * as a length byte and the text; length 0: 16 raw bytes of a uuid in its usual form. Reading checks
 * everything. Pure; any one thread. */
#ifndef BERTH_STORE_LOG_CODEC_H
#define BERTH_STORE_LOG_CODEC_H

#include "base/buf.h"

enum { LOG_UUID_LEN = 36 };

void log_put_number(struct buf *blob, int64_t number);
/* At most LOG_UUID_LEN bytes. */
void log_put_uuid(struct buf *blob, struct slice uuid);

/* What is left of a blob. */
struct log_reader {
    const unsigned char *at;
    size_t left;
};

static inline struct log_reader log_reader_of(struct slice blob)
{
    return (struct log_reader){(const unsigned char *)blob.data, blob.len};
}

/* False: the blob ends before, or is invalid. */
bool log_get_byte(struct log_reader *reader, unsigned *byte);
bool log_get_number(struct log_reader *reader, int64_t *number);
bool log_get_uuid(struct log_reader *reader, char uuid[static LOG_UUID_LEN], uint8_t *len);

#endif
