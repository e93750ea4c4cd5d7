/* Combines the steps: find, parse, resolve, fill. Also decides whether berth runs embedded. While
 * the process starts (and on a reload): one thread. */
#include "conf/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "conf/fill.h"
#include "conf/find.h"
#include "conf/resolve.h"

enum { LOAD_MAX_FILE_BYTES = 4 * 1024 * 1024 };

static bool parse_file(struct read_file *file, struct arena *arena, struct err *err)
{
    struct buf text = {0};
    struct ini_error wrong = {0};
    bool ok = file_read(file->path, "the configuration file", LOAD_MAX_FILE_BYTES, &text, err);
    if (ok && !ini_parse(buf_slice(&text), arena, &file->ini, &wrong))
        ok = err_set(err, 500, NULL, "%s:%u: %s", file->path, wrong.line, wrong.what);
    buf_free(&text);
    return ok;
}

/* Another section may hold the options of the service's own login; those in [keystone_authtoken]
 * are then ignored. */
static bool is_known(const struct conf *conf, const struct ini_entry *entry)
{
    const struct option *option = option_find_any(entry->section, entry->key);
    if (option != NULL && !option->of_auth_plugin)
        return true;
    option = option_find_any(SLICE_LIT(OPTION_AUTH_SECTION), entry->key);
    return option != NULL && option->of_auth_plugin &&
           ini_section_is(entry->section, conf->auth_section);
}

static void note_unknown(struct conf *conf, const struct read_file *files, size_t n)
{
    struct conf_unknown *unknown = NULL;
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < files[i].ini.n; j++) {
            const struct ini_entry *entry = &files[i].ini.entries[j];
            if (is_known(conf, entry))
                continue;
            unknown = arena_grow(conf->arena, unknown, conf->unknown_n, &room, sizeof(*unknown));
            unknown[conf->unknown_n++] =
                (struct conf_unknown){files[i].path, entry->line, entry->section, entry->key};
        }
    conf->unknown = unknown;
}

static void note_no_effect(struct conf *conf)
{
    struct texts_builder no_effect = {0};
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].effect == OPTION_NO_EFFECT &&
            conf->values[i].origin > CONF_ORIGIN_EMBEDDED)
            texts_add(
                &no_effect, conf->arena,
                arena_printf(conf->arena, "[%s] %s", option_table[i].section, option_table[i].name)
                    .data);
    conf->no_effect = texts_done(&no_effect);
}

/* $XDG_STATE_HOME is used only if it is absolute (XDG base directory specification). */
static const char *state_directory(struct arena *arena)
{
    const char *xdg = getenv("XDG_STATE_HOME");
    if (geteuid() == 0)
        return "/var/lib/berth";
    if (xdg != NULL && xdg[0] == '/')
        return arena_printf(arena, "%s/berth", xdg).data;
    return arena_printf(arena, "%s/.local/state/berth", find_home()).data;
}

/* systemd names the service's directories, separated by colons; the first one is for this. */
static const char *service_directory(struct arena *arena)
{
    const char *given = getenv("STATE_DIRECTORY");
    if (given == NULL || given[0] != '/')
        return state_directory(arena);
    struct slice rest = slice_of(given);
    return arena_copy(arena, slice_cut(&rest, ':')).data;
}

/* A dollar sign in a path is not a reference. */
static const char *without_references(const char *text, struct arena *arena)
{
    char *out = arena_alloc(arena, strlen(text) * 2 + 1);
    size_t len = 0;
    for (; *text != '\0'; text++) {
        if (*text == '$')
            out[len++] = '$';
        out[len++] = *text;
    }
    out[len] = '\0';
    return out;
}

static bool resolve_values(struct conf *conf, const struct conf_inputs *inputs,
                           const struct read_file *files, size_t n, struct faults *faults)
{
    const char *directory = state_directory(conf->arena);
    const char *url = arena_printf(conf->arena, "sqlite:///%s/berth.db",
                                   without_references(directory, conf->arena))
                          .data;
    const struct conf_override embedded[] = {
        {"api", "auth_strategy", "noauth2", "embedded"},
        {"placement_database", "connection", url, "embedded"},
        {"placement_database", "sync_on_startup", "true", "embedded"},
    };
    conf->embedded = n == 0 && inputs->sources_n == 0;
    const struct resolve_from from = {
        .inputs = inputs,
        .files = files,
        .files_n = n,
        .embedded = embedded,
        .embedded_n = conf->embedded ? sizeof(embedded) / sizeof(embedded[0]) : 0,
    };
    struct texts_builder deprecated = {0};
    struct conf_value *values = arena_array(conf->arena, option_count, sizeof(*values));
    if (!resolve_options(&from, conf->arena, values, &deprecated, &conf->auth_section, faults))
        return false;
    conf->values = values;
    conf->deprecated = texts_done(&deprecated);
    if (conf_value(conf, "placement_database", "connection")->origin == CONF_ORIGIN_EMBEDDED)
        conf->state_directory = directory;
    return true;
}

static bool read_files(struct conf *conf, const struct conf_files *found, struct read_file *files,
                       struct faults *faults)
{
    for (size_t i = 0; i < found->n; i++) {
        files[i] = (struct read_file){.path = found->paths[i]};
        if (parse_file(&files[i], conf->arena, faults->err))
            continue;
        if (!faults_go_on(faults))
            return false;
        faults->of_files = faults->all->n;
    }
    conf->files = (struct conf_texts){found->paths, found->n};
    return true;
}

static bool load(struct conf *conf, const struct conf_inputs *inputs, struct faults *faults)
{
    struct conf_files found;
    if (!find_conf_files(inputs, conf->arena, &found, faults->err)) {
        if (!faults_go_on(faults))
            return false;
        faults->of_files = faults->all->n;
    }
    struct read_file *files = arena_array(conf->arena, found.n, sizeof(*files));
    if (!read_files(conf, &found, files, faults) ||
        !resolve_values(conf, inputs, files, found.n, faults))
        return false;
    note_unknown(conf, files, found.n);
    note_no_effect(conf);
    if (!fill_settings(conf, faults))
        return false;
    if (conf->loss_directory == NULL)
        conf->loss_directory = service_directory(conf->arena);
    return true;
}

static struct conf *conf_create(void)
{
    struct arena *arena = arena_create();
    struct conf *conf = arena_zalloc(arena, sizeof(*conf));
    conf->arena = arena;
    return conf;
}

struct conf *conf_load(const struct conf_inputs *inputs, struct err *err)
{
    struct conf *conf = conf_create();
    struct faults faults = {.err = err};
    if (load(conf, inputs, &faults))
        return conf;
    conf_destroy(conf);
    return NULL;
}

struct conf *conf_examine(const struct conf_inputs *inputs)
{
    struct conf *conf = conf_create();
    struct err err = {.arena = conf->arena};
    struct texts_builder all = {0};
    struct faults faults = {.err = &err, .all = &all, .arena = conf->arena};
    check(load(conf, inputs, &faults));
    /* A half-read file may lack required values; that is not a separate fault. */
    conf->half_read = faults.of_files > 0;
    if (conf->half_read)
        all.n = faults.of_files;
    conf->faults = texts_done(&all);
    return conf;
}

void conf_destroy(struct conf *conf)
{
    if (conf != NULL)
        arena_destroy(conf->arena);
}

bool conf_make_directory(const char *directory, struct err *err)
{
    char *path = strdup(directory);
    check(path != NULL);
    bool ok = true;
    for (char *at = path + 1; ok; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char end = *at;
        *at = '\0';
        ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (!ok)
            (void)err_set(err, 500, NULL, "cannot create the directory %s: %s", path,
                          strerror(errno));
        *at = end;
        if (end == '\0')
            break;
    }
    free(path);
    return ok;
}

bool conf_make_state_directory(const struct conf *conf, struct err *err)
{
    return conf->state_directory == NULL || conf_make_directory(conf->state_directory, err);
}
