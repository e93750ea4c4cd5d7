/* See seed_options.h. */
#include "seed_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"

static unsigned all_faults(const struct seed_options *options)
{
    return (1u << options->fault_count) - 1;
}

void seed_options_usage(const struct seed_options *options)
{
    fprintf(stderr,
            "usage: %s [--seed N] [--seeds N] [--steps N]\n"
            "           [--faults NAME,...|none] [--shrink]\n",
            options->usage);
    exit(2);
}

void seed_options_print(const struct seed_options *options)
{
    fprintf(stderr, " --seed %" PRIu64 " --steps %d", options->first, options->steps);
    const char *before = " --faults ";
    for (unsigned f = 0; options->without != 0 && f < options->fault_count; f++)
        if ((options->without & 1u << f) == 0) {
            fprintf(stderr, "%s%s", before, options->fault_names[f]);
            before = ",";
        }
    fprintf(stderr, "%s\n", options->without == all_faults(options) ? " --faults none" : "");
}

static uint64_t number(const struct seed_options *options, const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0')
        seed_options_usage(options);
    return value;
}

static unsigned fault_of(const struct seed_options *options, struct slice name)
{
    for (unsigned f = 0; f < options->fault_count; f++)
        if (slice_equal(slice_of(options->fault_names[f]), name))
            return f;
    seed_options_usage(options);
}

/* The faults that the list does not name. */
static unsigned faults_without(const struct seed_options *options, const char *names)
{
    unsigned without = all_faults(options);
    struct slice rest = slice_of(names);
    if (slice_equal(rest, SLICE_LIT("none")))
        return without;
    while (rest.len > 0)
        without &= ~(1u << fault_of(options, slice_cut(&rest, ',')));
    return without;
}

bool seed_options_take(struct seed_options *options, int argc, char **argv, int *at)
{
    const char *option = argv[*at];
    const char *value = *at + 1 < argc ? argv[*at + 1] : "";
    if (strcmp(option, "--shrink") == 0) {
        options->shrinks = true;
        return true;
    }
    if (strcmp(option, "--seed") == 0)
        options->first = number(options, value);
    else if (strcmp(option, "--seeds") == 0)
        options->seeds = number(options, value);
    else if (strcmp(option, "--steps") == 0)
        options->steps = (int)number(options, value);
    else if (strcmp(option, "--faults") == 0)
        options->without = faults_without(options, value);
    else
        return false;
    ++*at;
    return true;
}
