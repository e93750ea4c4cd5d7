/* Binary search. */
#ifndef BERTH_BASE_SEARCH_H
#define BERTH_BASE_SEARCH_H

/* Sets `at`, an integer variable, to the first position in [from, to) where `is_below`, an
 * expression that uses `at`, is false, or to `to` if it is true everywhere. It must be true up to
 * some position and false from there on: for sorted items, "item `at` is less than the key" finds
 * the first item that is not less than the key. `to` must be at most half of the largest value of
 * its type. A macro, so that the comparison is compiled into the loop. */
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
