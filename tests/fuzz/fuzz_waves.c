/* Batches of changes, made from the bytes (memory_store/random_batch.h): executed in waves, they
 * leave the same tables as one by one. */
#include "check_waves.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_waves_of_bytes(data, size);
    return 0;
}
