/* The catalogue of flavors that plans of stacks refer to. */
#include "valet/api/stack/flavors.h"

#include "daemon/daemon.h"
#include "log/log.h"

static struct slice path_of(const struct daemon *daemon)
{
    const char *path = daemon->conf->valet.flavors;
    return path == NULL ? (struct slice){0} : slice_of(path);
}

bool catalogue_open(struct daemon *daemon)
{
    daemon->valet.flavors = flavors_open(path_of(daemon), &daemon->err);
    return daemon->valet.flavors != NULL;
}

void catalogue_reload(struct daemon *daemon)
{
    if (daemon->valet.flavors == NULL)
        return;
    struct err err = {.arena = arena_create()};
    if (!flavors_reload(daemon->valet.flavors, path_of(daemon), &err))
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT, "the flavors stay as they were: %.*s",
                  SLICE_ARG(err.message));
    arena_destroy(err.arena);
}

void catalogue_close(struct daemon *daemon)
{
    flavors_close(daemon->valet.flavors);
}
