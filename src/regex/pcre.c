/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/pcre.h"

#include <errno.h>
#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/buf.h"
#include "base/mem.h"
#include "types/limits.h"

#define MATCH_LIMIT 10000000u /* PCRE2's own default, with which GNU grep runs */
#define HEAP_LIMIT_KIB 65536u
#define NESTING_LIMIT 150 /* the compiler recurses: about 110 KiB of a stack of 256 */

struct regex_pcre {
    pcre2_general_context *mem;
    pcre2_code *code;
    pcre2_match_context *mc;
    pcre2_match_data *md;
    uint32_t n_groups;
};

static void *pcre_alloc(PCRE2_SIZE n, void *arg)
{
    (void)arg;
    return mem_try(n);
}

static void pcre_release(void *p, void *arg)
{
    (void)arg;
    mem_free(p);
}

static int fail(char *msg, int code, const char *text)
{
    if (msg)
        snprintf(msg, REGEX_PCRE_MSG, "%s", text);
    return code;
}

static uint32_t options(unsigned flags)
{
    uint32_t o = PCRE2_DOLLAR_ENDONLY;
    if (flags & REGEX_UTF8)
        o |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    if (flags & REGEX_ICASE)
        o |= PCRE2_CASELESS;
    if (flags & REGEX_NEWLINE)
        o |= PCRE2_MULTILINE;
    return o;
}

/* The wrapping is GNU grep's, so that what a pattern can do with it is too. */
static int wrap(struct buf *out, struct str pattern, unsigned flags)
{
    if (flags & REGEX_LINE)
        buf_addc(out, "^(?:");
    else if (flags & REGEX_WORD)
        buf_addc(out, "(?<!\\w)(?:");
    buf_adds(out, pattern);
    if (flags & REGEX_LINE)
        buf_addc(out, ")$");
    else if (flags & REGEX_WORD)
        buf_addc(out, ")(?!\\w)");
    return out->err;
}

static int compile(struct regex_pcre *re, struct str pattern, unsigned flags, char *msg)
{
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_REGEX_PATTERN + 32);
    if (wrap(&text, pattern, flags) < 0)
        return fail(msg, text.err, text.err == -EFBIG ? "regular expression is too large" : "memory exhausted");
    re->mem = pcre2_general_context_create(pcre_alloc, pcre_release, NULL);
    pcre2_compile_context *cc = re->mem ? pcre2_compile_context_create(re->mem) : NULL;
    if (!cc)
        return fail(msg, -ENOMEM, "memory exhausted");
    pcre2_set_parens_nest_limit(cc, NESTING_LIMIT);
    int code;
    PCRE2_SIZE at;
    re->code = pcre2_compile((PCRE2_SPTR)text.p, text.n, options(flags), &code, &at, cc);
    pcre2_compile_context_free(cc);
    if (!re->code) {
        if (msg)
            pcre2_get_error_message(code, (PCRE2_UCHAR *)msg, REGEX_PCRE_MSG);
        return code == PCRE2_ERROR_HEAP_FAILED ? -ENOMEM : -EINVAL;
    }
    re->mc = pcre2_match_context_create(re->mem);
    re->md = pcre2_match_data_create_from_pattern(re->code, re->mem);
    if (!re->mc || !re->md)
        return fail(msg, -ENOMEM, "memory exhausted");
    pcre2_set_match_limit(re->mc, MATCH_LIMIT);
    pcre2_set_depth_limit(re->mc, MATCH_LIMIT);
    pcre2_set_heap_limit(re->mc, HEAP_LIMIT_KIB);
    pcre2_pattern_info(re->code, PCRE2_INFO_CAPTURECOUNT, &re->n_groups);
    return 0;
}

int regex_pcre_compile(struct str pattern, unsigned flags, struct regex_pcre **ret, char *msg)
{
    struct regex_pcre *re = mem_try_zalloc(sizeof(*re));
    if (!re)
        return fail(msg, -ENOMEM, "memory exhausted");
    int r = compile(re, pattern, flags, msg);
    if (r < 0) {
        regex_pcre_free(re);
        return r;
    }
    *ret = re;
    return 0;
}

void regex_pcre_free(struct regex_pcre *re)
{
    if (!re)
        return;
    pcre2_match_data_free(re->md);
    pcre2_match_context_free(re->mc);
    pcre2_code_free(re->code);
    pcre2_general_context_free(re->mem);
    mem_free(re);
}

size_t regex_pcre_groups(const struct regex_pcre *re)
{
    return re->n_groups;
}

static ptrdiff_t offset(PCRE2_SIZE v)
{
    return v == PCRE2_UNSET ? -1 : (ptrdiff_t)v;
}

int regex_pcre_exec(struct regex_pcre *re, struct str text, size_t start, unsigned eflags, struct regex_span *spans,
                    size_t n_spans)
{
    if (start > text.n)
        return 0;
    uint32_t o = (eflags & REGEX_NOTBOL ? PCRE2_NOTBOL : 0) | (eflags & REGEX_NOTEOL ? PCRE2_NOTEOL : 0) |
                 (eflags & REGEX_ANCHORED ? PCRE2_ANCHORED : 0);
    const char *p = text.p ? text.p : "";
    int r = pcre2_match(re->code, (PCRE2_SPTR)p, text.n, start, o, re->md, re->mc);
    if (r == PCRE2_ERROR_NOMATCH)
        return 0;
    if (r == PCRE2_ERROR_MATCHLIMIT)
        return -E2BIG;
    if (r == PCRE2_ERROR_DEPTHLIMIT || r == PCRE2_ERROR_HEAPLIMIT)
        return -ENOBUFS;
    if (r == PCRE2_ERROR_NOMEMORY)
        return -ENOMEM;
    if (r < 0)
        return -EIO;
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(re->md);
    for (size_t i = 0; i < n_spans; i++) {
        bool set = i < (size_t)r;
        spans[i] = set ? (struct regex_span){offset(v[2 * i]), offset(v[2 * i + 1])} : (struct regex_span){-1, -1};
    }
    return 1;
}
