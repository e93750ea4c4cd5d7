/* The options that programs which run seeds have in common. */
#ifndef BERTH_SIM_SEED_OPTIONS_H
#define BERTH_SIM_SEED_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct seed_options {
    const char *usage;              /* the first line of it, without these options */
    const char *const *fault_names; /* fault_count of them, fewer than 32 */
    unsigned fault_count;
    uint64_t first;   /* seed */
    uint64_t seeds;   /* how many */
    int steps;        /* of a seed; -1: not given */
    unsigned without; /* bits of the faults that never strike */
    bool shrinks;
};

/* Takes the option at *at and its value, if it is one of these. */
bool seed_options_take(struct seed_options *options, int argc, char **argv, int *at);

/* Prints them to stderr as the options of a command: " --seed 1 --steps 20 --faults cut". */
void seed_options_print(const struct seed_options *options);

/* Ends the program. */
_Noreturn void seed_options_usage(const struct seed_options *options);

#endif
