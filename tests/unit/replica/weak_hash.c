/* Texts with the same hash: the linker puts this function in front of hash_text (meson.build).
 * There are only three hashes, one of them the largest number. */
#include "base/hash.h"

uint64_t __real_hash_text(struct slice text);
uint64_t __wrap_hash_text(struct slice text);

uint64_t __wrap_hash_text(struct slice text)
{
    return UINT64_MAX - __real_hash_text(text) % 3;
}
