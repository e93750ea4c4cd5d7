/* The catalogue of flavors: a JSON file, or the five built-in ones (Valet spec, 6.3). A catalogue
 * never changes; a reload replaces it, and the old one is freed by its last holder. Any thread,
 * except opening, reloading and closing: the main thread. */
#ifndef BERTH_VALET_API_STACK_FLAVORS_H
#define BERTH_VALET_API_STACK_FLAVORS_H

#include "base/err.h"
#include "valet/api/stack/flavor.h"

struct flavors;
struct flavors_keeper;

enum { FLAVORS_FILE_MAX_BYTES = 8 << 20 };

/* `path` empty: the built-in ones. NULL with err (500): the file cannot be read or is invalid; the
 * message is a line for the log. */
struct flavors_keeper *flavors_open(struct slice path, struct err *err);
void flavors_close(struct flavors_keeper *keeper);

/* Reads the file again. False with err: the catalogue is unchanged. */
bool flavors_reload(struct flavors_keeper *keeper, struct slice path,
                    struct err *err) BERTH_MUST_CHECK;

/* The newest catalogue, which the caller must give back; flavors found in it are valid until then.
 */
struct flavors *flavors_take(struct flavors_keeper *keeper);
void flavors_give_back(struct flavors *flavors);

/* By name, else by id; NULL: there is none. */
const struct flavor *flavors_find(const struct flavors *flavors, struct slice text);

/* The number of flavors. */
size_t flavors_count(const struct flavors *flavors);

/* A separate catalogue from the text of a file, for tests; NULL with err as above. */
struct flavors *flavors_parse(struct slice text, struct slice path, struct err *err);

#endif
