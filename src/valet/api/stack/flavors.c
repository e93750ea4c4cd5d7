/* The catalogue is one block of memory with two sorted lists, with a reference count for its keeper
 * and its readers. The keeper's lock is held only to count. */
#include "valet/api/stack/flavors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"

struct entry {
    struct slice key;
    struct flavor flavor;
};

struct flavors {
    struct arena *arena;
    struct entry *by_name;
    struct entry *by_id; /* of those that have an id */
    size_t name_count, id_count;
    atomic_uint holders;
};

struct flavors_keeper {
    pthread_mutex_t lock;
    struct flavors *newest;
};

static const char BUILT_IN[] =
    "{\"m1.tiny\": {\"id\": \"1\", \"vcpus\": 1, \"ram\": 512, \"disk\": 1},"
    "\"m1.small\": {\"id\": \"2\", \"vcpus\": 1, \"ram\": 2048, \"disk\": 20},"
    "\"m1.medium\": {\"id\": \"3\", \"vcpus\": 2, \"ram\": 4096, \"disk\": 40},"
    "\"m1.large\": {\"id\": \"4\", \"vcpus\": 4, \"ram\": 8192, \"disk\": 80},"
    "\"m1.xlarge\": {\"id\": \"5\", \"vcpus\": 8, \"ram\": 16384, \"disk\": 160}}";

static int compare_keys(const void *left, const void *right)
{
    return slice_compare(&((const struct entry *)left)->key, &((const struct entry *)right)->key);
}

static struct flavors *flavors_create(size_t count)
{
    struct arena *arena = arena_create();
    struct flavors *flavors = arena_zalloc(arena, sizeof(*flavors));
    flavors->arena = arena;
    flavors->by_name = arena_array(arena, count, sizeof(struct entry));
    flavors->by_id = arena_array(arena, count, sizeof(struct entry));
    atomic_init(&flavors->holders, 1);
    return flavors;
}

void flavors_give_back(struct flavors *flavors)
{
    if (flavors != NULL && atomic_fetch_sub(&flavors->holders, 1) == 1)
        arena_destroy(flavors->arena);
}

static bool flavors_refuse(struct err *err, struct slice path, struct slice name, struct slice why)
{
    return err_set_join(err, 500, NULL, SLICE_LIT("The flavors of "), path,
                        SLICE_LIT(" cannot be used: '"), name, SLICE_LIT("': "), why);
}

static bool flavors_add(struct flavors *flavors, struct slice name, const json_t *object,
                        struct slice path, struct err *err)
{
    struct slice why;
    struct flavor flavor;
    if (!json_is_object(object))
        return flavors_refuse(err, path, name, SLICE_LIT("is not an object"));
    if (!flavor_read(object, flavors->arena, &flavor, &why))
        return flavors_refuse(err, path, name, arena_copy(err->arena, why));
    flavors->by_name[flavors->name_count++] =
        (struct entry){arena_copy(flavors->arena, name), flavor};
    const json_t *id = json_object_get(object, "id");
    if (id == NULL)
        return true;
    if (!json_is_string(id))
        return flavors_refuse(err, path, name, SLICE_LIT("id is not a string"));
    struct slice text = {json_string_value(id), json_string_length(id)};
    flavors->by_id[flavors->id_count++] = (struct entry){arena_copy(flavors->arena, text), flavor};
    return true;
}

static bool sort(struct flavors *flavors, struct slice path, struct err *err)
{
    qsort(flavors->by_name, flavors->name_count, sizeof(struct entry), compare_keys);
    qsort(flavors->by_id, flavors->id_count, sizeof(struct entry), compare_keys);
    for (size_t i = 1; i < flavors->id_count; i++)
        if (slice_equal(flavors->by_id[i - 1].key, flavors->by_id[i].key))
            return flavors_refuse(err, path, arena_copy(err->arena, flavors->by_id[i].key),
                                  SLICE_LIT("two flavors have this id"));
    return true;
}

static struct flavors *read_document(json_t *document, struct slice path, struct err *err)
{
    struct flavors *flavors = flavors_create(json_object_size(document));
    for (void *at = json_object_iter(document); at != NULL;
         at = json_object_iter_next(document, at))
        if (!flavors_add(flavors,
                         (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)},
                         json_object_iter_value(at), path, err)) {
            flavors_give_back(flavors);
            return NULL;
        }
    if (sort(flavors, path, err))
        return flavors;
    flavors_give_back(flavors);
    return NULL;
}

struct flavors *flavors_parse(struct slice text, struct slice path, struct err *err)
{
    json_error_t error;
    json_t *document =
        json_loadb(text.len == 0 ? "" : text.data, text.len, JSON_REJECT_DUPLICATES, &error);
    struct flavors *flavors = NULL;
    if (document == NULL)
        err_set(err, 500, NULL, "The flavors of %.*s cannot be used: line %d column %d: %s",
                SLICE_ARG(path), error.line, error.column, error.text);
    else if (!json_is_object(document))
        err_set(err, 500, NULL, "The flavors of %.*s cannot be used: not an object of flavors",
                SLICE_ARG(path));
    else
        flavors = read_document(document, path, err);
    json_decref(document);
    return flavors;
}

static struct flavors *read_file(struct slice path, struct err *err)
{
    if (path.len == 0)
        return flavors_parse((struct slice){BUILT_IN, sizeof(BUILT_IN) - 1},
                             SLICE_LIT("the program"), err);
    struct buf text = {0};
    char *name = slice_dup(path);
    struct flavors *flavors = NULL;
    if (file_read(name, "the file of flavors", FLAVORS_FILE_MAX_BYTES, &text, err))
        flavors = flavors_parse(buf_slice(&text), path, err);
    free(name);
    buf_free(&text);
    return flavors;
}

struct flavors_keeper *flavors_open(struct slice path, struct err *err)
{
    struct flavors *flavors = read_file(path, err);
    if (flavors == NULL)
        return NULL;
    struct flavors_keeper *keeper = calloc(1, sizeof(*keeper));
    check(keeper != NULL);
    pthread_mutex_init(&keeper->lock, NULL);
    keeper->newest = flavors;
    return keeper;
}

void flavors_close(struct flavors_keeper *keeper)
{
    if (keeper == NULL)
        return;
    flavors_give_back(keeper->newest);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

bool flavors_reload(struct flavors_keeper *keeper, struct slice path, struct err *err)
{
    struct flavors *flavors = read_file(path, err);
    if (flavors == NULL)
        return false;
    pthread_mutex_lock(&keeper->lock);
    struct flavors *old = keeper->newest;
    keeper->newest = flavors;
    pthread_mutex_unlock(&keeper->lock);
    flavors_give_back(old);
    return true;
}

struct flavors *flavors_take(struct flavors_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    struct flavors *flavors = keeper->newest;
    atomic_fetch_add(&flavors->holders, 1);
    pthread_mutex_unlock(&keeper->lock);
    return flavors;
}

static const struct flavor *flavors_search(const struct entry *entries, size_t count,
                                           struct slice key)
{
    struct entry wanted = {.key = key};
    const struct entry *entry =
        count == 0 ? NULL : bsearch(&wanted, entries, count, sizeof(*entries), compare_keys);
    return entry == NULL ? NULL : &entry->flavor;
}

const struct flavor *flavors_find(const struct flavors *flavors, struct slice text)
{
    const struct flavor *flavor = flavors_search(flavors->by_name, flavors->name_count, text);
    return flavor != NULL ? flavor : flavors_search(flavors->by_id, flavors->id_count, text);
}

size_t flavors_count(const struct flavors *flavors)
{
    return flavors->name_count;
}
