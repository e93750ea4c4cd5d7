/* The function that libFuzzer and replay_main.c call. */
#ifndef BERTH_TESTS_FUZZ_H
#define BERTH_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs one input; a finding ends the process. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
