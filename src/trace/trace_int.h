/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* trace_int - what the parts of trace share; the layout of the file is in docs/internals/trace.md. */

#include <sys/types.h>

#include "base/err.h"
#include "trace/schema.h"
#include "trace/trace.h"

#define TRACE_FILE_HEAD 64u /* magic, format, zero, salt; SHA-256 of these: the chain value before event 0 */
#define TRACE_HEAD 24u      /* of an event: length, type, version, zero, seq, time */
#define TRACE_TAIL 36u      /* chain value, length */
#define TRACE_LEAST (TRACE_HEAD + TRACE_TAIL)

#define TRACE_BUFFER (256u << 10) /* bytes appended and not flushed at which an append flushes */

struct trace_masks {
    struct trace_secret {
        struct str value;
        uint32_t *fail; /* of Knuth, Morris and Pratt */
    } * v;
    uint32_t n;
};

struct trace {
    int fd;
    int flags;             /* enum trace_open_flags */
    bool known;            /* @genesis was read (or made) */
    struct cas_id genesis; /* unguessable, so that no guest can print bytes that chain */
    uint64_t end;          /* where the next flush writes: behind the last event that was flushed */
    uint64_t count, flushed;
    struct cas_id head, flushed_head; /* chain values after them */
    struct buf out;                   /* appended and not flushed */
    struct trace_masks masks;
};

static inline uint32_t trace_u32(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t trace_u64(const char *p)
{
    return trace_u32(p) | (uint64_t)trace_u32(p + 4) << 32;
}

/* codec.c: any table of fields, so that a test can show what a newer version does. */
void trace_put_fields(struct buf *out, const struct trace_event *e, const struct trace_field *f, uint32_t n,
                      const struct trace_masks *masks);
int trace_get_fields(struct str body, unsigned version, const struct trace_field *f, uint32_t n,
                     struct trace_event *ret);

/* event.c: one event of the file in memory. */
struct trace_link {
    const struct cas_id *genesis, *before;
    uint64_t seq;
};
/* Appends the event, its chain value in *ret_chain. 0, -EFBIG, -ENOMEM, -EINVAL; @out is as before then. */
int trace_event_put(struct buf *out, const struct trace_event *e, const struct trace_link *at,
                    const struct trace_masks *masks, struct cas_id *ret_chain);
/* The length that the event beginning at @p says it has, or 0 when no event has it. */
uint32_t trace_event_length(const char *p);
/* Verifies the event that @s holds, all of it. 0, or -EBADMSG and in *ret_why what is wrong. */
int trace_event_check(struct str s, const struct trace_link *at, const char **ret_why);
/* trace_event_check(), and decodes it. */
int trace_event_get(struct str s, const struct trace_link *at, struct trace_event *ret, const char **ret_why);
/* The chain value of the event that @s holds. */
void trace_event_chain(struct str s, const struct trace_link *at, struct cas_id *ret);

/* mask.c */
void trace_mask_apply(const struct trace_masks *m, struct str original, char *copy);
void trace_mask_done(struct trace_masks *m);

/* head.c: the 64 bytes in front. */
void trace_head_make(char ret[TRACE_FILE_HEAD], struct cas_id *ret_genesis);
/* 1, 0 (it is not all there, but what is there is right: a file that never was flushed whole), -EBADMSG. */
int trace_head_check(struct str s, struct cas_id *ret_genesis);

/* read.c */
/* pread over EINTR and short reads: bytes read, fewer only at the end of the file; or -errno. */
ssize_t trace_pread(int fd, char *p, size_t n, uint64_t off);
/* Reads the head of the file: 1, 0 when the file is empty, or an error. */
int trace_know(struct trace *t, struct err *err);
/* Bytes from @off on that lie in the file, at least @n unless it ends before; what must be read is read from @from on.
 */
int trace_view(struct trace *t, struct trace_pos *pos, uint64_t off, size_t n, uint64_t from, struct str *ret);
struct trace_frame {
    struct str s;         /* the event, borrowed from the window */
    struct cas_id before; /* the chain value that the event before it has stored */
    bool first;
};
/* The event that ends at @end by the length there, not verified: 1, 0 when none can, or an error. What must be read is
 * read from @span bytes before @end on. */
int trace_frame_before(struct trace *t, struct trace_pos *pos, uint64_t end, uint64_t span, struct trace_frame *ret);

/* tail.c: the place behind the last whole event of a file of @size bytes; needs trace_know(). */
int trace_tail_find(struct trace *t, uint64_t size, struct trace_pos *pos, struct err *err);
/* tail.c: whether a torn tail lies behind @pos, where reading on failed: its length, 0 (it is damage), or an error.
 * *ret_hole: it begins with a hole. */
int64_t trace_torn(struct trace *t, const struct trace_pos *pos, bool *ret_hole);
/* tail.c: reads from the begin: 1 and the place before the first hole, 0 when there is none, or an error. */
int trace_hole_find(struct trace *t, uint64_t size, struct trace_pos *pos, struct err *err);
