/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The machines behind printf, echo -e and test, which see whatever a script passes on. The input is words, one a line;
 * the first line's first byte says which machine: p, P printf of bash and of coreutils; t, T test; b, B the same called
 * as [; e escapes of all kinds.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/buf.h"
#include "proc/proc.h"
#include "shell/builtin/condition_int.h"
#include "shell/builtin/duration_int.h"
#include "shell/builtin/escape_int.h"
#include "shell/builtin/printf_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_WORDS 32
#define MOST_OUTPUT (1u << 16)

struct input {
    struct str text; /* words, each with a NUL behind it */
    struct str word[MOST_WORDS + 1];
    uint32_t n;
    size_t written;
};

static int fuzz_write(void *arg, const char *p, size_t n)
{
    struct input *in = arg;
    in->written += n;
    for (size_t i = 0; i < n; i++)
        in->written += p[i] == 0; /* looks at every byte */
    return in->written > MOST_OUTPUT ? -1 : 0;
}

__attribute__((format(printf, 2, 3))) static void fuzz_error(void *arg, const char *fmt, ...)
{
    (void)arg;
    ASSERT(fmt[0] != 0);
}

static const char *fuzz_name(void *arg, struct str s)
{
    (void)arg;
    ASSERT(s.p[s.n] == 0);
    return s.p;
}

static void fuzz_quote(void *arg, struct buf *out, struct str s)
{
    (void)arg;
    buf_adds(out, s);
}

static void fuzz_time(void *arg, struct buf *out, struct str fmt, int64_t secs)
{
    (void)arg;
    buf_adds(out, fmt);
    buf_addi(out, secs);
}

static bool fuzz_count(void *arg, struct str name, int64_t n)
{
    (void)arg;
    return n >= 0 && name.n > 0;
}

static int fuzz_shell_test(void *arg, char op, struct str s)
{
    (void)arg;
    return s.n == 0 ? -1 : op == 'v';
}

static void fuzz_printf(struct proc *p, struct input *in, bool gnu)
{
    const struct printf_ops ops = {
        fuzz_write, fuzz_error, fuzz_name, fuzz_quote, gnu ? NULL : fuzz_time, gnu ? NULL : fuzz_count};
    struct printf_job job = {.ops = &ops, .arg = in, .p = p, .gnu = gnu, .utf8 = true, .warn_const = true};
    if (in->n > 1)
        printf_run(&job, in->word[1], in->word + 2, in->n - 2);
}

static void fuzz_test(struct proc *p, struct input *in, bool gnu, bool bracket)
{
    const struct condition_ops ops = {.error = fuzz_error, .shell_test = fuzz_shell_test, .name = fuzz_name};
    struct condition c = {.ops = &ops, .arg = in, .p = p, .gnu = gnu, .bracket = bracket};
    in->word[in->n] = STR("]");
    int r = condition_run(&c, in->word + 1, (int)in->n - 1);
    ASSERT(r >= 0 && r <= 2);
}

static void fuzz_escape(struct input *in)
{
    struct escape e;
    int64_t ns;
    for (int kind = ESCAPE_ECHO; kind <= ESCAPE_GNU_B; kind++)
        for (uint32_t w = 1; w < in->n; w++)
            for (size_t i = 0; i < in->word[w].n; i++)
                if (in->word[w].p[i] == '\\') {
                    size_t n = escape_decode((enum escape_kind)kind, w & 1, in->word[w].p + i, in->word[w].n - i, &e);
                    ASSERT(n > 0 && n <= in->word[w].n - i && e.n <= sizeof e.text);
                }
    for (uint32_t w = 1; w < in->n; w++)
        ASSERT(!duration_parse(in->word[w], &ns) || ns >= 0);
}

static struct outcome run(struct proc *p, void *arg)
{
    struct input *in = arg;
    char kind = in->word[0].n > 0 ? in->word[0].p[0] : 0;
    if (kind == 'p' || kind == 'P')
        fuzz_printf(p, in, kind == 'P');
    else if (kind && strchr("tTbB", kind))
        fuzz_test(p, in, kind == 'T' || kind == 'B', kind == 'b' || kind == 'B');
    else if (kind == 'e')
        fuzz_escape(in);
    return (struct outcome){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vfs_quota quota = {.bytes = 1 << 20, .inodes = 1000};
    struct limits limits = limits_default();
    struct proc_host host = {0};
    struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct input in = {0};
    char *text = mem_alloc(size + 1);
    size_t from = 0;
    for (size_t i = 0; i <= size; i++) {
        text[i] = i < size && data[i] != '\n' ? (char)data[i] : 0;
        if (text[i] == 0 && in.n < MOST_WORDS) {
            in.word[in.n++] = str_of(text + from, i - from);
            from = i + 1;
        }
    }
    struct vfs *v = vfs_new(&quota);
    struct proc_set *ps = proc_set_new(v, &limits, &host);
    struct proc *p;
    int64_t wake;
    proc_begin(ps);
    ASSERT(proc_start(ps, &cred, STR("/"), 022, NULL, NULL, NULL, run, &in, &p) == 0);
    while (!proc_run(ps, p, &wake))
        ASSERT(wake != INT64_MAX);
    proc_set_free(ps);
    vfs_free(v);
    mem_free(text);
    return 0;
}
