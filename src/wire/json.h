/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * json - the JSON forms of what wire carries, by Jansson (which this module alone includes).
 *
 * Guest bytes that are not UTF-8 are given in base64 with "…_encoding":"base64" beside them, never replaced.
 */

#include "base/str.h"

struct buf;
struct wire_result;

struct json_change {
    const char *kind; /* "added", "removed", "modified", "meta" */
    struct str path;
    struct str diff; /* may be empty */
};

/* What `run --json` adds to a result. */
struct json_run {
    const struct json_change *changes; /* with --diff */
    size_t n_changes;
    bool has_changes;
    bool has_output;               /* the streams were captured */
    struct str out, errs;          /* what was kept of them */
    uint64_t out_total, err_total; /* what was printed */
};

/* Appends one object on one line (no newline): status, exit_code, signal, reason, error, tier, root, usage, and the
 * streams if captured. 0 or -ENOMEM. */
int json_result(struct buf *out, const struct wire_result *r, const struct json_run *run);

/* One check of `doctor --json`. */
struct json_check {
    const char *name;
    const char *state; /* "ok", "missing", "degraded" */
    const char *detail;
    const char *remedy; /* may be empty */
};

/* Appends an object {"checks":[…],"ok":true|false}. 0 or -ENOMEM. */
int json_checks(struct buf *out, const struct json_check *v, size_t n, bool ok);
