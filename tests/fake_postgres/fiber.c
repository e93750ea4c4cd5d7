/* See fiber.h. The sanitizers have to be told of each change of stacks. Stacks are kept for the
 * next fiber. One thread. */
#undef _FORTIFY_SOURCE /* its longjmp() takes another stack for an error */
#include "fiber.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/check.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define HAS_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

#if defined(HAS_ASAN) || defined(HAS_TSAN)
#define HAS_SANITIZER 1
#endif

enum { STACK_BYTES = 1 << 20 };

/* Where a stack is left: swapcontext() would also save the mask of signals, with two calls of the
 * system for each change. */
#ifdef HAS_SANITIZER
typedef ucontext_t place;
#else
typedef jmp_buf place;
#endif

struct fiber {
    ucontext_t begin;
    place own;
    place resumer;
    bool has_begun;
    void (*run)(void *cls);
    void *cls;
    char *stack;
    bool has_ended;
    void *own_shadow; /* the sanitizers' */
    void *resumer_shadow;
    const void *resumer_stack;
    size_t resumer_bytes;
};

struct free_stack {
    struct free_stack *next;
};

static struct fiber *running;
static struct free_stack *free_stacks;

static void before_switch(void **keep, const void *stack, size_t bytes, void *to)
{
#ifdef HAS_ASAN
    __sanitizer_start_switch_fiber(keep, stack, bytes);
#endif
#ifdef HAS_TSAN
    __tsan_switch_to_fiber(to, 0);
#endif
    (void)keep;
    (void)stack;
    (void)bytes;
    (void)to;
}

static void after_switch(void *kept, const void **stack, size_t *bytes)
{
#ifdef HAS_ASAN
    __sanitizer_finish_switch_fiber(kept, stack, bytes);
#endif
    (void)kept;
    (void)stack;
    (void)bytes;
}

#ifdef HAS_SANITIZER

/* Leaves one context for another, until that returns to it. ASan warns of swapcontext(), and clears
 * what it knows of the stack. */
static void change_context(ucontext_t *from, const ucontext_t *to)
{
#ifdef HAS_ASAN
    volatile bool is_back = false;
    check(getcontext(from) == 0);
    if (is_back)
        return;
    is_back = true;
    setcontext(to);
    check(false);
#else
    check(swapcontext(from, to) == 0);
#endif
}

static void enter_fiber(struct fiber *fiber)
{
    change_context(&fiber->resumer, fiber->has_begun ? &fiber->own : &fiber->begin);
}

static void leave_fiber(struct fiber *fiber)
{
    change_context(&fiber->own, &fiber->resumer);
}

#else

static void enter_fiber(struct fiber *fiber)
{
    if (_setjmp(fiber->resumer) != 0)
        return;
    if (fiber->has_begun)
        _longjmp(fiber->own, 1);
    setcontext(&fiber->begin);
    check(false);
}

static void leave_fiber(struct fiber *fiber)
{
    if (_setjmp(fiber->own) == 0)
        _longjmp(fiber->resumer, 1);
}

#endif

static char *take_stack(void)
{
    if (free_stacks != NULL) {
        struct free_stack *found = free_stacks;
        free_stacks = found->next;
        return (char *)found;
    }
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(stack != MAP_FAILED);
    return stack;
}

static void give_stack(char *stack)
{
    struct free_stack *freed = (struct free_stack *)(void *)stack;
    freed->next = free_stacks;
    free_stacks = freed;
}

static void enter(void)
{
    struct fiber *fiber = running;
    after_switch(NULL, &fiber->resumer_stack, &fiber->resumer_bytes);
    fiber->has_begun = true;
    fiber->run(fiber->cls);
    fiber->has_ended = true;
    before_switch(NULL, fiber->resumer_stack, fiber->resumer_bytes, fiber->resumer_shadow);
    leave_fiber(fiber);
    check(false);
}

struct fiber *fiber_create(void (*run)(void *cls), void *cls)
{
    struct fiber *fiber = calloc(1, sizeof(*fiber));
    check(fiber != NULL);
    fiber->run = run;
    fiber->cls = cls;
    fiber->stack = take_stack();
    check(getcontext(&fiber->begin) == 0);
    fiber->begin.uc_stack.ss_sp = fiber->stack;
    fiber->begin.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber->begin, enter, 0);
#ifdef HAS_TSAN
    fiber->own_shadow = __tsan_create_fiber(0);
#endif
    return fiber;
}

void fiber_resume(struct fiber *fiber)
{
    void *kept = NULL;
    check(running == NULL && !fiber->has_ended);
    running = fiber;
#ifdef HAS_TSAN
    fiber->resumer_shadow = __tsan_get_current_fiber();
#endif
    before_switch(&kept, fiber->stack, STACK_BYTES, fiber->own_shadow);
    enter_fiber(fiber);
    after_switch(kept, NULL, NULL);
    running = NULL;
}

void fiber_yield(void)
{
    struct fiber *fiber = running;
    void *kept = NULL;
    before_switch(&kept, fiber->resumer_stack, fiber->resumer_bytes, fiber->resumer_shadow);
    leave_fiber(fiber);
    after_switch(kept, &fiber->resumer_stack, &fiber->resumer_bytes);
}

struct fiber *fiber_running(void)
{
    return running;
}

bool fiber_has_ended(const struct fiber *fiber)
{
    return fiber->has_ended;
}

void fiber_destroy(struct fiber *fiber)
{
#ifdef HAS_TSAN
    __tsan_destroy_fiber(fiber->own_shadow);
#endif
    give_stack(fiber->stack);
    free(fiber);
}
