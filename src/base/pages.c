/* Private anonymous mappings. Any thread, one block at a time. */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t round_up(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

bool pages_reserve(struct pages *pages, size_t cap)
{
    if (cap <= pages->cap)
        return true;
    if (cap > SIZE_MAX / 2)
        return false;
    cap = round_up(cap);
    void *data = pages->data == NULL
                     ? mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : mremap(pages->data, pages->cap, cap, MREMAP_MAYMOVE);
    if (data == MAP_FAILED)
        return false;
    pages->data = data;
    pages->cap = cap;
    return true;
}

void pages_free(struct pages *pages)
{
    if (pages->data != NULL)
        check(munmap(pages->data, pages->cap) == 0);
    *pages = (struct pages){0};
}
