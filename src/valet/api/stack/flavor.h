/* What a flavor says of a server: amounts and traits (Valet spec, 6.3). Pure; any thread. */
#ifndef BERTH_VALET_API_STACK_FLAVOR_H
#define BERTH_VALET_API_STACK_FLAVOR_H

#include <jansson.h>

#include "base/arena.h"
#include "model/stack.h"

struct flavor {
    const struct stack_amount *amounts; /* none is 0, classes differ */
    uint32_t amount_count;
    struct stack_names required, forbidden; /* traits */
    struct stack_names removed;             /* classes of which extra_specs have 0 */
};

/* Reads vcpus, ram, disk, ephemeral, swap and extra_specs; other keys are passed over. Texts are
 * copied into the arena. False: *why says, in the arena, what is wrong; nothing being left of it is
 * wrong, too. Whether classes and traits exist is not looked at. */
bool flavor_read(const json_t *object, struct arena *arena, struct flavor *flavor,
                 struct slice *why) BERTH_MUST_CHECK;

/* The same with texts and arrays of its own in that arena. */
struct flavor flavor_copy(const struct flavor *flavor, struct arena *arena);

#endif
