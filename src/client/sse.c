/* SPDX-License-Identifier: Apache-2.0 */
#include "client/sse.h"

#include <errno.h>

#define SMALL (64u << 10) /* bytes of a name or an id */

void sse_init(struct sse *s, size_t max)
{
    *s = (struct sse){.has_data = false};
    buf_init(&s->line, max);
    buf_init(&s->data, max);
    buf_init(&s->name, SMALL);
    buf_init(&s->id, SMALL);
}

void sse_done(struct sse *s)
{
    buf_done(&s->line);
    buf_done(&s->data);
    buf_done(&s->name);
    buf_done(&s->id);
}

void sse_reset(struct sse *s)
{
    buf_clear(&s->line);
    buf_clear(&s->data);
    buf_clear(&s->name);
    buf_clear(&s->id);
    s->has_data = s->after_cr = false;
}

static int dispatch(struct sse *s, int (*each)(void *arg, const struct sse_event *e), void *arg)
{
    int r = 0;
    if (s->has_data) {
        const struct sse_event e = {s->name.n ? buf_str(&s->name) : STR("message"), buf_str(&s->id), buf_str(&s->data)};
        r = each(arg, &e);
    }
    buf_clear(&s->data);
    buf_clear(&s->name);
    s->has_data = false;
    return r;
}

static int take_line(struct sse *s, int (*each)(void *arg, const struct sse_event *e), void *arg)
{
    struct str line = buf_str(&s->line);
    if (line.n == 0)
        return dispatch(s, each, arg);
    ptrdiff_t colon = str_find(line, ':', 0);
    struct str name = colon < 0 ? line : str_of(line.p, (size_t)colon);
    struct str value = colon < 0 ? str_of("", 0) : str_from(line, (size_t)colon + 1);
    if (value.n && value.p[0] == ' ')
        value = str_from(value, 1);
    if (str_eqc(name, "event")) {
        buf_clear(&s->name);
        return buf_adds(&s->name, value);
    }
    if (str_eqc(name, "id")) {
        buf_clear(&s->id);
        return buf_adds(&s->id, value);
    }
    if (!str_eqc(name, "data"))
        return 0;
    if (s->has_data)
        buf_putc(&s->data, '\n');
    s->has_data = true;
    return buf_adds(&s->data, value);
}

int sse_feed(struct sse *s, struct str bytes, int (*each)(void *arg, const struct sse_event *e), void *arg)
{
    int r = 0;
    for (size_t i = 0; i < bytes.n && r == 0;) {
        size_t n = 0;
        if (s->after_cr && bytes.p[i] == '\n') {
            s->after_cr = false;
            i++;
            continue;
        }
        s->after_cr = false;
        while (i + n < bytes.n && bytes.p[i + n] != '\n' && bytes.p[i + n] != '\r')
            n++;
        r = buf_add(&s->line, bytes.p + i, n);
        i += n;
        if (r == 0 && i < bytes.n) {
            s->after_cr = bytes.p[i++] == '\r';
            r = take_line(s, each, arg);
            buf_clear(&s->line);
        }
    }
    return r == -ENOMEM ? -EFBIG : r;
}
