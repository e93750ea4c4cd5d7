/* oslo.config's search for files. Reads the environment and directories, opens no file. While the
 * process starts: one thread. */
#include "conf/find.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/whitespace.h"

/* The files of an installed package that has not been configured. */
#define OWN_DIRECTORY "/etc/berth"

const char *find_home(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] != '\0')
        return home;
    const struct passwd *user = getpwuid(getuid());
    return user != NULL && user->pw_dir != NULL && user->pw_dir[0] != '\0' ? user->pw_dir : "/";
}

static void find_add(struct conf_files *files, struct arena *arena, const char *path)
{
    files->paths = arena_grow(arena, files->paths, files->n, &files->room, sizeof(*files->paths));
    files->paths[files->n++] = path;
}

/* Expands a leading ~ or ~user as Python does: an unknown user is left as it is. */
static const char *expand_home(const char *path, struct arena *arena)
{
    if (path[0] != '~')
        return path;
    size_t name_len = strcspn(path + 1, "/");
    const char *rest = path + 1 + name_len;
    const char *home = find_home();
    if (name_len > 0) {
        struct slice name = arena_copy(arena, (struct slice){path + 1, name_len});
        const struct passwd *user = getpwnam(name.data);
        if (user == NULL)
            return path;
        home = user->pw_dir;
    }
    return arena_printf(arena, "%s%s", home, rest).data;
}

static int is_conf(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

/* By bytes, not by locale, so that every machine reads the files in the same order. */
static int find_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_directory(struct conf_files *files, struct arena *arena, const char *path,
                          struct err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_conf, find_by_name);
    if (n < 0)
        return err_set(err, 500, NULL, "cannot read the configuration directory %s: %s", path,
                       strerror(errno));
    for (int i = 0; i < n; i++) {
        find_add(files, arena, arena_printf(arena, "%s/%s", path, entries[i]->d_name).data);
        free(entries[i]);
    }
    free(entries);
    return true;
}

static bool exists_as(const char *path, mode_t type)
{
    struct stat found;
    return stat(path, &found) == 0 && (type == 0 || (found.st_mode & S_IFMT) == type);
}

/* The first of the four places in which `name` exists with that type (0: any); NULL: none. */
static const char *search(struct arena *arena, const char *name, mode_t type)
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
        if (exists_as(path, type))
            return path;
    }
    return NULL;
}

/* Whether the command line names a file, or a directory. */
static bool names(const struct conf_inputs *inputs, bool directory)
{
    for (size_t i = 0; i < inputs->sources_n; i++)
        if (inputs->sources[i].is_directory == directory)
            return true;
    return false;
}

static const char *default_file(struct arena *arena)
{
    const char *variable = getenv("OS_PLACEMENT_CONFIG_DIR");
    struct slice directory = whitespace_strip(slice_of(variable == NULL ? "" : variable));
    if (directory.len > 0)
        return arena_printf(arena, "%.*s/placement.conf", SLICE_ARG(directory)).data;
    const char *found = search(arena, "placement.conf", 0);
    /* A file that this user may not examine counts: reading it reports why it cannot be read,
     * whereas ignoring it would start another service than the one configured. */
    const char *closed = "/etc/placement/placement.conf";
    return found == NULL && access(closed, F_OK) != 0 && errno == EACCES ? closed : found;
}

static const char *default_directory(struct arena *arena)
{
    return search(arena, "placement.conf.d", S_IFDIR);
}

/* The package's own files set noauth2: they are used alone, or not at all. */
static bool own_files_count(const struct conf_inputs *inputs, struct arena *arena)
{
    return inputs->sources_n == 0 && default_file(arena) == NULL &&
           default_directory(arena) == NULL;
}

static bool add_own_files(struct conf_files *files, struct arena *arena, struct err *err)
{
    if (exists_as(OWN_DIRECTORY "/placement.conf", 0))
        find_add(files, arena, OWN_DIRECTORY "/placement.conf");
    return !exists_as(OWN_DIRECTORY "/placement.conf.d", S_IFDIR) ||
           add_directory(files, arena, OWN_DIRECTORY "/placement.conf.d", err);
}

bool find_conf_files(const struct conf_inputs *inputs, struct arena *arena, struct conf_files *out,
                     struct err *err)
{
    *out = (struct conf_files){0};
    if (own_files_count(inputs, arena))
        return add_own_files(out, arena, err);
    const char *file = names(inputs, false) ? NULL : default_file(arena);
    if (file != NULL)
        find_add(out, arena, file);
    const char *parts = names(inputs, true) ? NULL : default_directory(arena);
    if (parts != NULL && !add_directory(out, arena, parts, err))
        return false;
    for (size_t i = 0; i < inputs->sources_n; i++) {
        const char *path = expand_home(inputs->sources[i].path, arena);
        if (!inputs->sources[i].is_directory)
            find_add(out, arena, path);
        else if (!add_directory(out, arena, path, err))
            return false;
    }
    return true;
}

static const char *in_directory(struct arena *arena, struct slice directory, const char *name)
{
    const char *path = arena_printf(arena, "%.*s/%s", SLICE_ARG(directory), name).data;
    return exists_as(path, 0) ? path : NULL;
}

static struct slice directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? SLICE_LIT(".") : (struct slice){path, (size_t)(slash - path)};
}

const char *find_conf_beside(const struct conf_inputs *inputs, struct arena *arena,
                             const char *name)
{
    const char *found = NULL;
    if (name[0] == '/')
        return exists_as(name, 0) ? name : NULL;
    for (size_t i = 0; found == NULL && i < inputs->sources_n; i++)
        if (inputs->sources[i].is_directory)
            found =
                in_directory(arena, slice_of(expand_home(inputs->sources[i].path, arena)), name);
    for (size_t i = inputs->sources_n; found == NULL && i-- > 0;)
        if (!inputs->sources[i].is_directory)
            found = in_directory(arena, directory_of(expand_home(inputs->sources[i].path, arena)),
                                 name);
    if (found == NULL && !names(inputs, false) && default_file(arena) != NULL)
        found = in_directory(arena, directory_of(default_file(arena)), name);
    if (found == NULL && own_files_count(inputs, arena))
        found = in_directory(arena, SLICE_LIT(OWN_DIRECTORY), name);
    return found != NULL ? found : search(arena, name, 0);
}
