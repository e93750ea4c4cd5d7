/* Bodies of writes: the first byte selects the microversion, the second the route, the rest is the
 * body. Accepted bodies are planned, applied to a next version, which is audited and discarded, and
 * answered. */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/arena.h"
#include "engine/checked.h"
#include "fuzz.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/handlers.h"
#include "placement/api/routes.h"
#include "products/products.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "world.h"

#define PROVIDER_1 SLICE_LIT("00000000-0000-4000-8000-000000000001")
#define PROVIDER_3 SLICE_LIT("00000000-0000-4000-8000-000000000003")
#define PROVIDER_5 SLICE_LIT("00000000-0000-4000-8000-000000000005")
#define CONSUMER_1 SLICE_LIT("cccccccc-0000-4000-8000-000000000001")
#define CONSUMER_2 SLICE_LIT("cccccccc-0000-4000-8000-000000000002")

static const struct {
    enum api_step (*handle)(struct api_request *request);
    void (*finish)(struct api_request *request);
    unsigned first;
    unsigned last;
    struct slice args[2];
} ROUTES[] = {
    {handle_placement_provider_create, finish_placement_provider_create, 0, 39, {{0}}},
    {handle_placement_provider_update, finish_placement_provider_update, 0, 39, {PROVIDER_5}},
    {handle_placement_inventory_create, finish_placement_inventory_create, 0, 39, {PROVIDER_1}},
    {handle_placement_inventories_set, finish_placement_inventories_set, 0, 39, {PROVIDER_3}},
    {handle_placement_inventory_update,
     finish_placement_inventory_update,
     0,
     39,
     {PROVIDER_1, SLICE_LIT("VCPU")}},
    {handle_placement_aggregates_set, finish_placement_aggregates_set, 1, 39, {PROVIDER_1}},
    {handle_placement_provider_traits_set,
     finish_placement_provider_traits_set,
     6,
     39,
     {PROVIDER_1}},
    {handle_placement_class_create, finish_placement_class_create, 2, 39, {{0}}},
    {handle_placement_class_rename,
     finish_placement_class_rename,
     2,
     6,
     {SLICE_LIT("CUSTOM_FPGA")}},
    {handle_placement_allocations_update, finish_placement_empty, 0, 39, {CONSUMER_1}},
    {handle_placement_allocations_update, finish_placement_empty, 0, 39, {CONSUMER_2}},
    {handle_placement_allocations_manage, finish_placement_empty, 13, 39, {{0}}},
    {handle_placement_reshaper_apply, finish_placement_empty, 30, 39, {{0}}},
};

enum { ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]) };

static void carry_out(struct api_request *request, struct arena *arena)
{
    const struct world *world = world_get();
    struct edit *edit = replica_edit(world->replica);
    struct change_list changes = {.arena = arena};
    struct products products;
    struct plan_said said = {0};
    struct checked checked;
    struct plan plan = {.version = edit->version,
                        .changes = &changes,
                        .arena = arena,
                        .store = world->store,
                        .rules = products_open(&products, NULL),
                        .said = &said,
                        .now_us = 1000000};
    bool is_planned = request->write->plan(request->write, &plan);
    check(is_planned == !err_is_set(&request->write->err));
    if (is_planned && checked_planned(&checked, &plan, &request->write->err)) {
        struct buf why = {0};
        apply_changes(edit, &changes);
        if (!audit_version(edit->version, &why)) {
            fprintf(stderr, "%.*s\n", SLICE_ARG(buf_slice(&why)));
            abort();
        }
        buf_free(&why);
    }
    products_close(&products);
    request->err = request->write->err;
    replica_abandon(world->replica, edit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct api API = {0};
    if (size < 2)
        return 0;
    unsigned minor = data[0] % (PLACEMENT_MINOR_MAX + 1);
    unsigned route = data[1] % ROUTE_COUNT;
    if (minor < ROUTES[route].first || minor > ROUTES[route].last)
        minor = ROUTES[route].last;
    struct arena *arena = arena_create();
    struct fuzz_request r;
    struct api_request *request = fuzz_request_begin(&r, arena, &API, minor);
    request->http->body = (struct slice){(const char *)data + 2, size - 2};
    request->version = world_get()->version;
    memcpy(request->args, ROUTES[route].args, sizeof(request->args));
    if (ROUTES[route].handle(request) == API_WRITE) {
        request->version = NULL; /* as in dispatch: no longer pinned */
        carry_out(request, arena);
        ROUTES[route].finish(request);
    }
    fuzz_request_check_answer(&r);
    fuzz_request_end(&r);
    arena_destroy(arena);
    return 0;
}
