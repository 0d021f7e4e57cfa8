/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * trace/schema - what the fields of each event are, as tables. Encoding, decoding, masking, listing of blobs and the
 * JSON form (wire/json_trace.h) all walk these, so that an event is described once.
 *
 * A newer field is added at the end of its table with `since` one higher than the newest there; nothing else changes.
 * An event of an older version then decodes with that field zero, and an older program refuses the newer version. A
 * field is never removed, moved or given another meaning, and a name is never taken out of a list of names.
 */

#include "trace/trace.h"

enum trace_kind {
    TRACE_UINT, /* varint, at most @most */
    TRACE_INT,  /* varint of the zigzag form */
    TRACE_STR,  /* length as varint, then the bytes */
    TRACE_ID,   /* 0; or 1 and 32 bytes that are not all zero */
    TRACE_RAW,  /* @size bytes */
};

/* How a person is shown it. */
enum trace_show {
    TRACE_AS_IS,
    TRACE_AS_BOOL,
    TRACE_AS_TIME,  /* ns since 1970 */
    TRACE_AS_LIST,  /* strings, each ended by NUL */
    TRACE_AS_NAME,  /* names[value] */
    TRACE_AS_FLAGS, /* names[bit] */
    TRACE_AS_REASON,
};

struct trace_field {
    const char *name; /* "size"; "state.root" for what lies in a struct */
    uint16_t offset;  /* in struct trace_event */
    uint16_t size;    /* of the member */
    uint8_t kind;     /* enum trace_kind */
    uint8_t show;     /* enum trace_show */
    uint8_t since;    /* first version that has it */
    uint64_t most;
    const char *const *names;
    const char *blob; /* ID: what the blob is; NULL when it names none */
};

/* The fields of a type in their order, or NULL for no type. *ret_n: how many; *ret_version (may be NULL): the newest.
 */
const struct trace_field *trace_fields(unsigned type, uint32_t *ret_n, unsigned *ret_version);

/* The value of a number (an INT as its two's complement). */
uint64_t trace_field_number(const struct trace_event *e, const struct trace_field *f);
/* The value of a STR. */
struct str trace_field_str(const struct trace_event *e, const struct trace_field *f);
/* The bytes of an ID or RAW. */
const uint8_t *trace_field_bytes(const struct trace_event *e, const struct trace_field *f);
