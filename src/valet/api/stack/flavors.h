/* The catalogue of flavors: a file of JSON, or five that are built in (Valet spec, 6.3). A
 * catalogue never changes; a reload puts another in its place, and the old one ends with its last
 * holder. Any thread, but for opening, reloading and closing: the main thread. */
#ifndef BERTH_VALET_API_STACK_FLAVORS_H
#define BERTH_VALET_API_STACK_FLAVORS_H

#include "base/err.h"
#include "valet/api/stack/flavor.h"

struct flavors;
struct flavors_keeper;

enum { FLAVORS_FILE_MAX_BYTES = 8 << 20 };

/* `path` without text: the built-in ones. NULL with err (500): the file cannot be read or says
 * something wrong; the message is a line for the log. */
struct flavors_keeper *flavors_open(struct slice path, struct err *err);
void flavors_close(struct flavors_keeper *keeper);

/* Reads it anew. False with err: what was there stays. */
bool flavors_reload(struct flavors_keeper *keeper, struct slice path,
                    struct err *err) BERTH_MUST_CHECK;

/* The newest catalogue, to be given back; what is found in it is good until then. */
struct flavors *flavors_take(struct flavors_keeper *keeper);
void flavors_give_back(struct flavors *flavors);

/* By name, else by id; NULL: there is none. */
const struct flavor *flavors_find(const struct flavors *flavors, struct slice text);

/* How many there are. */
size_t flavors_count(const struct flavors *flavors);

/* A catalogue of its own from the text of a file, for tests; NULL with err as above. */
struct flavors *flavors_parse(struct slice text, struct slice path, struct err *err);

#endif
