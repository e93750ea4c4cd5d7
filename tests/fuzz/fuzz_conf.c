/* A whole configuration: any bytes are read as placement.conf, once to load it and once to examine
 * it. Both must agree on whether it is usable and on the first error; every value can be shown,
 * compared with itself, and printed; every unknown option may get a suggestion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "conf/load.h"
#include "conf/notes.h"
#include "conf/suggest.h"
#include "conf/unknown.h"
#include "fuzz.h"

/* A file without a name, and a directory without *.conf files: nothing is read from the machine. */
static const struct conf_inputs *inputs_of(const uint8_t *data, size_t size)
{
    static struct conf_inputs inputs;
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("placement.conf", MFD_CLOEXEC);
        check(fd >= 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        inputs = (struct conf_inputs){.sources = {{path, false}, {"/proc/self/ns", true}},
                                      .sources_n = 2};
        clearenv();
    }
    check(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    return &inputs;
}

static void count_line(void *cls, struct slice line)
{
    check(line.len > 0);
    ++*(size_t *)cls;
}

static void walk(const struct conf *conf)
{
    struct buf out = {0};
    for (size_t i = 0; i < option_count; i++) {
        notes_print_value(&conf->values[i], &out);
        check(value_equal(&conf->values[i], &conf->values[i]));
    }
    for (size_t i = 0; i < conf->unknown_n; i++) {
        check(conf->unknown[i].line > 0);
        (void)suggest_option(conf->unknown[i].section, conf->unknown[i].name);
        (void)suggest_section(conf->unknown[i].section);
    }
    size_t reported = 0;
    check(unknown_report(conf, count_line, &reported) <= reported);
    for (size_t i = 0; i < conf->faults.n; i++)
        check(conf->faults.items[i][0] != '\0');
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct conf_inputs *inputs = inputs_of(data, size);
    struct err err = {.arena = arena_create()};
    struct conf *loaded = conf_load(inputs, &err);
    struct conf *examined = conf_examine(inputs);
    walk(examined);
    if (loaded != NULL) {
        check(examined->faults.n == 0 && !err_is_set(&err));
        walk(loaded);
        for (size_t i = 0; i < option_count; i++)
            check(value_equal(&loaded->values[i], &examined->values[i]));
    } else {
        check(examined->faults.n > 0);
        check(slice_equal(err.message, slice_of(examined->faults.items[0])));
    }
    conf_destroy(loaded);
    conf_destroy(examined);
    arena_destroy(err.arena);
    return 0;
}
