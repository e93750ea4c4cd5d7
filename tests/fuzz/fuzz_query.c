/* Query strings: the first byte selects the query and the microversion, the rest is the raw query
 * string. It is parsed, checked, run on a small cloud, and answered with JSON. */
#include "api/api.h"
#include "api/text/query_string.h"
#include "base/arena.h"
#include "fuzz.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/handlers.h"
#include "placement/api/routes.h"
#include "world.h"

static enum api_step (*const QUESTIONS[])(struct api_request *request) = {
    handle_placement_candidates_list, handle_placement_candidates_list,
    handle_placement_candidates_list, handle_placement_providers_list,
    handle_placement_usages_show,     handle_placement_traits_list,
    handle_placement_candidates_list,
};
static const unsigned FIRST_MINORS[] = {10, 10, 10, 0, 9, 6, 10};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct api api;
    if (size == 0)
        return 0;
    if (api.policies == NULL)
        api.policies = fuzz_policies();
    unsigned question = data[0] / (PLACEMENT_MINOR_MAX + 1);
    unsigned minor = data[0] % (PLACEMENT_MINOR_MAX + 1);
    if (minor < FIRST_MINORS[question])
        minor = PLACEMENT_MINOR_MAX;
    struct arena *arena = arena_create();
    struct fuzz_request r;
    struct api_request *request = fuzz_request_begin(&r, arena, &api, minor);
    r.settings.max_candidates = 200;
    r.settings.spread_candidates = true;
    request->version = world_get()->version;
    request->query = (struct slice){(const char *)data + 1, size - 1};
    size_t decoded = percent_decode(arena, request->query, false).len;
    check(percent_skip(request->query, decoded).len == 0);
    if (QUESTIONS[question](request) == API_DONE)
        fuzz_request_check_answer(&r);
    fuzz_request_end(&r);
    arena_destroy(arena);
    return 0;
}
