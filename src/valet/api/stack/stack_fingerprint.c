/* Two bodies are equal if their JSON is, whatever the order of keys and the blanks. The text is
 * hashed piece by piece and never exists as a whole. Pure; any thread. */
#include <nettle/sha2.h>

#include "valet/api/stack/stack_body.h"

static int feed(const char *text, size_t len, void *cls)
{
    sha256_update(cls, len, (const uint8_t *)text);
    return 0;
}

/* Each piece ends with a byte that cannot occur in JSON. */
static void feed_value(struct sha256_ctx *hash, const json_t *value)
{
    static const uint8_t END = 0;
    check(json_dump_callback(value, feed, hash, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY) ==
          0);
    sha256_update(hash, 1, &END);
}

void stack_fingerprint(struct slice plan_name, const json_t *resources, const json_t *locations,
                       char out[STACK_FINGERPRINT_LEN])
{
    static const char DIGITS[] = "0123456789abcdef";
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    json_t *name = json_stringn(plan_name.len == 0 ? "" : plan_name.data, plan_name.len);
    json_t *none = json_array();
    check(name != NULL && none != NULL);
    sha256_init(&hash);
    feed_value(&hash, name);
    feed_value(&hash, resources);
    feed_value(&hash, locations == NULL ? none : locations);
    json_decref(name);
    json_decref(none);
    sha256_digest(&hash, sizeof(digest), digest);
    for (unsigned i = 0; i < sizeof(digest); i++) {
        out[2 * i] = DIGITS[digest[i] >> 4];
        out[2 * i + 1] = DIGITS[digest[i] & 15];
    }
}
