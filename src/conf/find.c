/* oslo.config's search. Reads the environment and directories, opens no file. While the process
 * starts: one thread. */
#include "conf/find.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/whitespace.h"

const char *find_home(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] != '\0')
        return home;
    const struct passwd *user = getpwuid(getuid());
    return user != NULL && user->pw_dir != NULL && user->pw_dir[0] != '\0' ? user->pw_dir : "/";
}

static void add(struct conf_files *files, struct arena *arena, const char *path)
{
    const char **paths = arena_array(arena, files->n + 1, sizeof(*paths));
    if (files->n > 0)
        memcpy(paths, files->paths, files->n * sizeof(*paths));
    paths[files->n++] = path;
    files->paths = paths;
}

/* A leading ~ as oslo.config expands it in what the command line names. */
static const char *expand_home(const char *path, struct arena *arena)
{
    if (path[0] != '~' || (path[1] != '/' && path[1] != '\0'))
        return path;
    return arena_printf(arena, "%s%s", find_home(), path + 1).data;
}

static int is_conf(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

/* By bytes, not by the locale: every machine reads in the same order. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_directory(struct conf_files *files, struct arena *arena, const char *path,
                          struct err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_conf, by_name);
    if (n < 0)
        return err_set(err, 500, NULL, "cannot read the configuration directory %s: %s", path,
                       strerror(errno));
    for (int i = 0; i < n; i++) {
        add(files, arena, arena_printf(arena, "%s/%s", path, entries[i]->d_name).data);
        free(entries[i]);
    }
    free(entries);
    return true;
}

/* The first of the four places where `name` exists; NULL: nowhere. */
static const char *search(struct arena *arena, const char *name)
{
    const char *home = find_home();
    const char *const places[] = {
        arena_printf(arena, "%s/.placement", home).data,
        home,
        "/etc/placement",
        "/etc",
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const char *path = arena_printf(arena, "%s/%s", places[i], name).data;
        if (access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

bool find_conf_files(const struct conf_inputs *inputs, struct arena *arena, struct conf_files *out,
                     struct err *err)
{
    *out = (struct conf_files){0};
    for (size_t i = 0; i < inputs->sources_n; i++) {
        const char *path = expand_home(inputs->sources[i].path, arena);
        if (!inputs->sources[i].is_directory)
            add(out, arena, path);
        else if (!add_directory(out, arena, path, err))
            return false;
    }
    if (inputs->sources_n > 0)
        return true;

    const char *variable = getenv("OS_PLACEMENT_CONFIG_DIR");
    struct slice dir = whitespace_strip(slice_of(variable == NULL ? "" : variable));
    const char *file = dir.len > 0 ? arena_printf(arena, "%.*s/placement.conf", SLICE_ARG(dir)).data
                                   : search(arena, "placement.conf");
    if (file != NULL)
        add(out, arena, file);
    const char *parts = search(arena, "placement.conf.d");
    return parts == NULL || add_directory(out, arena, parts, err);
}
