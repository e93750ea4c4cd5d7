/* Finds and reads policy files. The order is oslo.policy's: policy_file, then the files of each of
 * policy_dirs by name; of two rules with one name, the later is used. One thread. */
#include "policy/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "policy/yaml_text.h"

struct policy_places policy_places_of(const struct conf *conf, const struct conf_inputs *inputs)
{
    const struct conf_value *file = conf_value(conf, "oslo_policy", "policy_file");
    const struct conf_value *directories = conf_value(conf, "oslo_policy", "policy_dirs");
    struct policy_places places = {
        .file = file->is_set ? file->text : "",
        .inputs = inputs,
    };
    /* The former default name: upstream looks for it only if policy_file is not set. */
    if (file->origin == CONF_ORIGIN_DEFAULT)
        places.fallback_file = "policy.json";
    if (directories->is_set)
        places.directories_of_files = (struct conf_texts){directories->items, directories->items_n};
    return places;
}

struct policy_options policy_options_of(const struct conf *conf)
{
    const struct conf_value *rule = conf_value(conf, "oslo_policy", "policy_default_rule");
    struct policy_options options = {
        .enforce_new_defaults = conf->enforce_new_defaults,
        .enforce_scope = conf->enforce_scope,
    };
    if (rule->is_set)
        options.default_rule = slice_of(rule->text);
    return options;
}

/* NULL: not found. */
static const char *files_find(const struct policy_places *places, struct arena *arena,
                              const char *name)
{
    return name == NULL || name[0] == '\0' ? NULL : find_conf_beside(places->inputs, arena, name);
}

static bool files_refuse(struct err *err, const char *path, const char *what)
{
    return err_set(err, 500, NULL, "%s: %s", path, what);
}

static bool files_add(struct policy_inventory *inventory, struct arena *arena, const char *path,
                      const struct stat *stat, struct err *err)
{
    /* A pipe would block the whole process until something is written to it. */
    if (S_ISDIR(stat->st_mode) || S_ISFIFO(stat->st_mode) || S_ISSOCK(stat->st_mode))
        return files_refuse(err, path, "is not a file");
    if (inventory->count == POLICY_FILES_MAX)
        return files_refuse(err, path, "more than 256 policy files");
    inventory->files = arena_grow(arena, inventory->files, inventory->count, &inventory->capacity,
                                  sizeof(*inventory->files));
    inventory->files[inventory->count++] = (struct policy_file){
        path, stat->st_dev, stat->st_ino, stat->st_size, stat->st_mtim, stat->st_ctim};
    return true;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* By bytes, not by locale. */
static int files_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Every entry that is not a directory is a policy file, whatever its extension. */
static bool list_directory(const char *directory, struct arena *arena,
                           struct policy_inventory *inventory, struct err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(directory, &entries, is_shown, files_by_name);
    bool ok = n >= 0;
    if (n < 0)
        files_refuse(err, directory, errno == ENOTDIR ? "is not a directory" : strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(arena, "%s/%s", directory, entries[i]->d_name).data;
        struct stat found;
        if (ok && stat(path, &found) != 0)
            ok = files_refuse(err, path, strerror(errno));
        else if (ok && !S_ISDIR(found.st_mode))
            ok = files_add(inventory, arena, path, &found, err);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool policy_files_list(const struct policy_places *places, struct arena *arena,
                       struct policy_inventory *inventory, struct err *err)
{
    size_t directory_count = places->directories_of_files.n;
    *inventory = (struct policy_inventory){
        .directories = arena_zalloc(arena, directory_count * sizeof(char *)),
        .directory_count = directory_count,
    };
    struct stat found;
    const char *file = files_find(places, arena, places->file);
    if (file == NULL)
        file = files_find(places, arena, places->fallback_file);
    inventory->main = file;
    bool is_chosen = places->fallback_file == NULL && places->file != NULL;
    if (file == NULL && is_chosen && places->file[0] != '\0')
        inventory->missing = places->file;
    if (file != NULL) {
        if (stat(file, &found) != 0)
            return files_refuse(err, file, strerror(errno));
        if (!files_add(inventory, arena, file, &found, err))
            return false;
    }
    for (size_t i = 0; i < directory_count; i++) {
        const char *directory = files_find(places, arena, places->directories_of_files.items[i]);
        inventory->directories[i] = directory;
        if (directory != NULL && !list_directory(directory, arena, inventory, err))
            return false;
    }
    return true;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool policy_inventory_equal(const struct policy_inventory *a, const struct policy_inventory *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct policy_file *x = &a->files[i];
        const struct policy_file *y = &b->files[i];
        if (strcmp(x->path, y->path) != 0 || x->device != y->device || x->inode != y->inode ||
            x->size != y->size || !same_time(x->modified, y->modified) ||
            !same_time(x->changed, y->changed))
            return false;
    }
    return true;
}

const char *policy_inventory_find_gone(const struct policy_inventory *before,
                                       const struct policy_inventory *now)
{
    if (before->main != NULL && now->main == NULL)
        return before->main;
    for (size_t i = 0; i < before->directory_count; i++)
        if (before->directories[i] != NULL && now->directories[i] == NULL)
            return before->directories[i];
    return NULL;
}

struct taker {
    const char *path;
    struct arena *arena;
    struct policy_overrides *overrides;
    struct policy_notes *notes;
    struct err *err;
    size_t first;  /* of the file's own rules */
    unsigned keys; /* values visited; a mapping that is merged several times counts each time */
};

static bool refuse_at(const struct taker *t, const struct policy_value *value, const char *what)
{
    return err_set(t->err, 500, NULL, "%s:%u: %s", t->path, value->line, what);
}

static bool take_rule(struct taker *t, const struct policy_value *key,
                      const struct policy_value *value)
{
    struct policy_overrides *overrides = t->overrides;
    if (overrides->count == POLICY_ENTRIES_MAX)
        return refuse_at(t, key, "more than 2000 rules in policy files");
    overrides->items = arena_grow(t->arena, overrides->items, overrides->count,
                                  &overrides->capacity, sizeof(*overrides->items));
    overrides->items[overrides->count++] = (struct policy_override){
        key->text, value, arena_printf(t->arena, "%s:%u", t->path, key->line).data};
    return true;
}

static bool take_map(struct taker *t, const struct policy_value *map, bool merged);

/* "<<": the rules of another mapping, or of several; the mapping's own rules override them, and
 * earlier mappings override later ones. */
static bool take_merge(struct taker *t, const struct policy_value *value)
{
    if (value->kind == POLICY_VALUE_MAP)
        return take_map(t, value, true);
    if (value->kind != POLICY_VALUE_LIST)
        return refuse_at(t, value, "<< needs a mapping or a list of them");
    /* A list may occur any number of times through its alias. */
    t->keys += value->count;
    for (unsigned i = value->count; i > 0; i--) {
        if (value->items[i - 1]->kind != POLICY_VALUE_MAP)
            return refuse_at(t, value, "<< needs a mapping or a list of them");
        if (!take_map(t, value->items[i - 1], true))
            return false;
    }
    return true;
}

static bool count_key(struct taker *t, const struct policy_value *key)
{
    return ++t->keys <= POLICY_YAML_NODES_MAX ||
           refuse_at(t, key, "more than 50000 rules to merge");
}

static void note_duplicate(struct taker *t, const struct policy_value *key)
{
    for (size_t i = t->first; i < t->overrides->count; i++)
        if (slice_equal(t->overrides->items[i].name, key->text)) {
            policy_note(t->notes, LOG_LEVEL_WARNING,
                        "%s:%u: rule %.*s is defined a second time; this definition counts",
                        t->path, key->line, SLICE_ARG(key->text));
            return;
        }
}

/* Whether a key is the name of a rule; false with err set: it cannot be a key at all. */
static bool is_name(struct taker *t, const struct policy_value *key)
{
    if (key->kind == POLICY_VALUE_LIST || key->kind == POLICY_VALUE_MAP)
        return refuse_at(t, key, "the name of a rule must be text");
    if (key->kind != POLICY_VALUE_TEXT)
        policy_note(t->notes, LOG_LEVEL_WARNING,
                    "%s:%u: \"%.*s\" is ignored: as the name of a rule it must be in quotes",
                    t->path, key->line, SLICE_ARG(key->text));
    return key->kind == POLICY_VALUE_TEXT;
}

static bool take_map(struct taker *t, const struct policy_value *map, bool merged)
{
    for (unsigned i = 0; i + 1 < map->count; i += 2)
        if (map->items[i]->kind == POLICY_VALUE_MERGE &&
            (!count_key(t, map->items[i]) || !take_merge(t, map->items[i + 1])))
            return false;
    if (!merged)
        t->first = t->overrides->count;
    for (unsigned i = 0; i + 1 < map->count; i += 2) {
        const struct policy_value *key = map->items[i];
        if (!count_key(t, key))
            return false;
        if (key->kind == POLICY_VALUE_MERGE)
            continue;
        if (!is_name(t, key)) {
            if (err_is_set(t->err))
                return false;
            continue;
        }
        if (!merged)
            note_duplicate(t, key);
        if (!take_rule(t, key, map->items[i + 1]))
            return false;
    }
    return true;
}

bool policy_file_take(const char *path, struct slice text, struct arena *arena,
                      struct policy_overrides *overrides, struct policy_notes *notes,
                      struct err *err)
{
    struct taker taker = {path, arena, overrides, notes, err, 0, 0};
    const struct policy_value *root = policy_yaml_read(arena, path, text, err);
    if (root == NULL)
        return false;
    if (root->kind == POLICY_VALUE_NULL)
        return true;
    if (root->kind != POLICY_VALUE_MAP)
        return refuse_at(&taker, root, "must be a mapping from names to rules");
    return take_map(&taker, root, false);
}

bool policy_files_read(const struct policy_inventory *inventory, struct arena *arena,
                       struct policy_overrides *overrides, struct policy_notes *notes,
                       struct err *err)
{
    *overrides = (struct policy_overrides){0};
    for (size_t i = 0; i < inventory->count; i++) {
        const char *path = inventory->files[i].path;
        struct buf text = {0};
        bool ok = file_read(path, "the policy file", POLICY_FILE_BYTES_MAX, &text, err) &&
                  policy_file_take(path, buf_slice(&text), arena, overrides, notes, err);
        buf_free(&text);
        if (!ok)
            return false;
    }
    return true;
}
