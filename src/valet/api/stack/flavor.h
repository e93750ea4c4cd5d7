/* What a flavor requires for a server: amounts and traits (Valet spec, 6.3). Pure; any thread. */
#ifndef BERTH_VALET_API_STACK_FLAVOR_H
#define BERTH_VALET_API_STACK_FLAVOR_H

#include <jansson.h>

#include "base/arena.h"
#include "model/stack.h"

struct flavor {
    const struct stack_amount *amounts; /* none is 0, all classes differ */
    uint32_t amount_count;
    struct stack_names required, forbidden; /* traits */
    struct stack_names removed;             /* classes that extra_specs set to 0 */
};

/* Reads vcpus, ram, disk, ephemeral, swap and extra_specs; other keys are ignored. Texts are copied
 * into the arena. False: *why (in the arena) says what is wrong; a flavor without any amounts is an
 * error, too. Does not check whether classes and traits exist. */
bool flavor_read(const json_t *object, struct arena *arena, struct flavor *flavor,
                 struct slice *why) BERTH_MUST_CHECK;

/* A copy whose texts and arrays are in that arena. */
struct flavor flavor_copy(const struct flavor *flavor, struct arena *arena);

#endif
