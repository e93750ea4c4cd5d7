/* The content of a plan in a file: it is either refused, or a stack that obeys the rules and is
 * written as it was read. */
#include "base/err.h"
#include "fuzz.h"
#include "valet/api/stack/stack_shape.h"
#include "valet/api/stack/stack_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct stack stack;
    struct stack again;
    struct buf text = {0};
    struct buf other = {0};
    bool is_good = stack_text_read((struct slice){(const char *)data, size}, arena, &stack);
    check(is_good || (stack.server_count == 0 && stack.group_count == 0));
    check(stack_shape_check(&stack, arena, &err));
    stack_text_write(&stack, &text);
    check(stack_text_read(buf_slice(&text), arena, &again));
    stack_text_write(&again, &other);
    check(slice_equal(buf_slice(&text), buf_slice(&other)));
    buf_free(&text);
    buf_free(&other);
    arena_destroy(arena);
    return 0;
}
