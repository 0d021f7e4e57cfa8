/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The runtime half of LLVM's lowering of setjmp to WebAssembly exceptions (clang-14, -wasm-enable-sjlj).
 *
 * A function that calls setjmp keeps a table of its calls: the id of the buffer that each filled, and the label to go
 * on at. longjmp throws; every such function catches, looks whether the thrown buffer's id is in its own table, and
 * either goes on at the label or throws on. An id is given out once, so a buffer of a function that has returned is
 * found in no table.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

struct slot {
    uint32_t id;    /* 0 ends the table */
    uint32_t label;
};

static uint32_t last_id, table_n;

static struct {
    void *env;
    int val;
} thrown;

/* The compiler's second result of saveSetjmp(): the size of the table. */
uint32_t getTempRet0(void)
{
    return table_n;
}

void setTempRet0(uint32_t n)
{
    table_n = n;
}

/* The compiler allocates @n + 1 slots at first. */
struct slot *saveSetjmp(uint32_t *env, uint32_t label, struct slot *table, uint32_t n)
{
    uint32_t i = 0;

    /* The same call with the same buffer again, as in a loop: its slot is used anew, or the table would only grow. */
    while (i < n && table[i].id != 0) {
        if (table[i].id == *env && table[i].label == label) {
            *env = table[i].id = ++last_id;
            table_n = n;
            return table;
        }
        i++;
    }
    *env = ++last_id;
    if (i + 1 >= n) {
        n = n * 2 + 2;
        table = realloc(table, (n + 1) * sizeof(*table));
        if (table == NULL)
            abort();
    }
    table[i] = (struct slot){last_id, label};
    table[i + 1].id = 0;
    table_n = n;
    return table;
}

uint32_t testSetjmp(uint32_t id, const struct slot *table, uint32_t n)
{
    for (uint32_t i = 0; i < n && table[i].id != 0; i++)
        if (table[i].id == id)
            return table[i].label;
    return 0;
}

void __wasm_longjmp(void *env, int val)
{
    thrown.env = env;
    thrown.val = val != 0 ? val : 1;
    __builtin_wasm_throw(1, &thrown);
}
