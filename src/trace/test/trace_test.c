/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/test/trace_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/test/test.h"

static void random_bytes(uint64_t *seed, char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)test_rand(seed);
}

/* Of any magnitude, the bounds often. */
static uint64_t random_number(uint64_t *seed, uint64_t most)
{
    uint64_t v = test_rand(seed) >> test_rand(seed) % 64;
    if (test_rand(seed) % 8 == 0)
        return most;
    return most == UINT64_MAX ? v : v % (most + 1);
}

struct trace_event random_event(uint64_t *seed, struct arena *a, unsigned type, uint32_t most)
{
    struct trace_event e = {.type = (enum trace_type)type, .time = (int64_t)(test_rand(seed) >> 2) + 1};
    uint32_t n = 0;
    const struct trace_field *f = trace_fields(type, &n, NULL);
    for (; n; n--, f++) {
        char *p = (char *)&e + f->offset;
        uint64_t v;
        struct str s;
        switch ((enum trace_kind)f->kind) {
        case TRACE_UINT:
            v = random_number(seed, f->most);
            memcpy(p, &v, f->size);
            break;
        case TRACE_INT:
            v = random_number(seed, UINT64_MAX);
            v = test_rand(seed) % 2 ? v : 0 - v;
            memcpy(p, &v, f->size);
            break;
        case TRACE_STR:
            s.n = test_rand(seed) % 3 ? random_number(seed, most) : 0;
            s.p = arena_alloc(a, s.n + 1);
            random_bytes(seed, (char *)(uintptr_t)s.p, s.n);
            memcpy(p, &s, sizeof(s));
            break;
        case TRACE_ID:
        case TRACE_RAW:
            if (test_rand(seed) % 2)
                random_bytes(seed, p, f->size);
            break;
        }
    }
    return e;
}

bool same_event(const struct trace_event *a, const struct trace_event *b)
{
    uint32_t n = 0;
    const struct trace_field *f = trace_fields((unsigned)a->type, &n, NULL);
    bool same = a->type == b->type && a->time == b->time && n > 0;
    for (; n; n--, f++) {
        if (f->kind == TRACE_STR)
            same &= str_eq(trace_field_str(a, f), trace_field_str(b, f));
        else
            same &= memcmp(trace_field_bytes(a, f), trace_field_bytes(b, f), f->size) == 0;
    }
    return same;
}

int file_of(struct str bytes)
{
    int fd = memfd_create("log", MFD_CLOEXEC);
    CHECK(fd >= 0 && fd_write_all(fd, bytes) == 0);
    return fd;
}

void bytes_of(int fd, struct buf *out)
{
    char chunk[4096];
    buf_init(out, SIZE_MAX / 2);
    for (ssize_t n; (n = pread(fd, chunk, sizeof(chunk), (off_t)out->n)) > 0;)
        buf_add(out, chunk, (size_t)n);
}

struct trace *open_again(int fd, uint64_t *ret_cut)
{
    struct trace *t = NULL;
    struct err err = {0};
    CHECK_INT(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND, &t, ret_cut, &err), 0);
    CHECK_C(err.text, "");
    return t;
}

struct trace *log_of(uint64_t seed, unsigned n, uint32_t most, int *ret_fd)
{
    *ret_fd = file_of(STR(""));
    struct trace *t = open_again(*ret_fd, NULL);
    for (unsigned i = 0; i < n; i++) {
        ARENA_AUTO struct arena a = {0};
        struct trace_event e = random_event(&seed, &a, i ? (unsigned)(test_rand(&seed) % 13 + 1) : TRACE_CREATED, most);
        CHECK_INT(trace_append(t, &e), 0);
        CHECK_INT(e.seq, i);
    }
    CHECK_INT(trace_flush(t), 0);
    return t;
}
