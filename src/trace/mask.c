/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every place where any secret stands in the original is masked in the copy, places that overlap too. So the order of
 * the secrets is of no matter: what the longest covers is covered, and what a shorter one covers beside it as well.
 */

#include <errno.h>

#include "base/mem.h"
#include "trace/trace_int.h"

#define SECRET_LEAST 4

/* fail[i]: length of the longest proper suffix of the first i + 1 bytes that is also their begin. */
static void prepare(struct str s, uint32_t *fail)
{
    uint32_t k = 0;
    fail[0] = 0;
    for (size_t i = 1; i < s.n; i++) {
        while (k && s.p[i] != s.p[k])
            k = fail[k - 1];
        k += s.p[i] == s.p[k];
        fail[i] = k;
    }
}

/* Linear whatever the guest prints, which may know the secret. */
static void apply(const struct trace_secret *secret, struct str text, char *copy)
{
    struct str s = secret->value;
    size_t done = 0; /* masked up to here */
    uint32_t k = 0;
    for (size_t i = 0; i < text.n; i++) {
        while (k && text.p[i] != s.p[k])
            k = secret->fail[k - 1];
        k += text.p[i] == s.p[k];
        if (k < s.n)
            continue;
        size_t from = i + 1 - s.n > done ? i + 1 - s.n : done;
        memset(copy + from, '*', i + 1 - from);
        done = i + 1;
        k = secret->fail[k - 1];
    }
}

void trace_mask_apply(const struct trace_masks *m, struct str original, char *copy)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct str s = m->v[i].value;
        /* Nearly always it is not there, and memmem() is many times faster at saying so. */
        if (original.n >= s.n && memmem(original.p, original.n, s.p, s.n))
            apply(&m->v[i], original, copy);
    }
}

void trace_mask_done(struct trace_masks *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        mem_free(m->v[i].fail);
    mem_free(m->v);
    *m = (struct trace_masks){0};
}

int trace_mask(struct trace *t, const struct str *secrets, uint32_t n)
{
    struct trace_masks *m = &t->masks;
    for (uint32_t i = 0; i < n; i++) {
        if (secrets[i].n < SECRET_LEAST)
            return -EINVAL;
    }
    struct trace_secret *v = mem_try_realloc(m->v, ((size_t)m->n + n + 1) * sizeof(*v));
    if (!v)
        return -ENOMEM;
    m->v = v;
    uint32_t before = m->n;
    for (uint32_t i = 0; i < n; i++) {
        if (secrets[i].n > LIMIT_TRACE_EVENT)
            continue; /* no event holds it */
        uint32_t *fail = mem_try(secrets[i].n * sizeof(*fail));
        if (!fail) {
            while (m->n > before)
                mem_free(m->v[--m->n].fail);
            return -ENOMEM;
        }
        prepare(secrets[i], fail);
        m->v[m->n++] = (struct trace_secret){secrets[i], fail};
    }
    return 0;
}
