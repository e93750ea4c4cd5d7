/* Binary search. */
#ifndef BERTH_BASE_SEARCH_H
#define BERTH_BASE_SEARCH_H

/* Sets `at`, an integer variable, to the first place in [from, to) where `is_below`, an expression
 * about `at`, is false; to `to` if it is true everywhere. It must be true up to some place and
 * false from there on: of sorted items, "item `at` is below what is looked for" finds the first
 * that is not below it. `to` is at most half of the largest number of its type. A macro, so that
 * the comparison stays in the loop. */
#define SEARCH_LOWER(at, from, to, is_below)                                                       \
    do {                                                                                           \
        __typeof__(at) search_low_ = (from);                                                       \
        __typeof__(at) search_high_ = (to);                                                        \
        while (search_low_ < search_high_) {                                                       \
            (at) = (search_low_ + search_high_) / 2;                                               \
            if (is_below)                                                                          \
                search_low_ = (at) + 1;                                                            \
            else                                                                                   \
                search_high_ = (at);                                                               \
        }                                                                                          \
        (at) = search_low_;                                                                        \
    } while (0)

#endif
