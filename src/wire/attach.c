/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/attach.h"

#include <errno.h>

#include "wire/json_write.h"

static uint64_t get_offset(const char *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | (uint8_t)p[i];
    return v;
}

/* What may stand in any of them; each kind says which. */
struct members {
    struct str type, data, encoding, signal, stream, code, message, exec;
    uint64_t offset, cols, rows, stdin_offset;
    bool tty, stdin_open;
};

#define NOT_GIVEN UINT64_MAX

static int wrong(struct api_problem *why, const char *field, const char *text)
{
    snprintf(why->field, sizeof(why->field), "%s", field);
    snprintf(why->text, sizeof(why->text), "%s", text);
    return -EINVAL;
}

static int decode(struct str message, const struct api_field *fields, size_t n, struct arena *a, struct members *m,
                  struct api_problem *why)
{
    *m = (struct members){.offset = NOT_GIVEN};
    int r = api_decode(message, fields, n, a, m, why);
    if (r)
        return why->field[0] ? r : -EBADMSG;
    if (!m->type.p)
        return wrong(why, "type", "is missing");
    if (m->encoding.p && (!str_eqc(m->encoding, "base64") || !m->data.p || api_base64(m->data, a, &m->data)))
        return wrong(why, "data", "is not base64, as its encoding says");
    return 0;
}

static int binary_request(struct str s, struct attach_request *ret)
{
    *ret = (struct attach_request){.kind = ATTACH_STDIN};
    if (s.n >= 1 && s.p[0] == ATTACH_BIN_STDIN) {
        ret->data = str_from(s, 1);
        return 0;
    }
    if (s.n < ATTACH_HEAD || s.p[0] != ATTACH_BIN_STDIN_AT)
        return -EBADMSG;
    ret->placed = true;
    ret->offset = get_offset(s.p + 1);
    ret->data = str_from(s, ATTACH_HEAD);
    return 0;
}

int attach_get_request(bool text, struct str message, struct arena *a, struct attach_request *ret,
                       struct api_problem *why)
{
    static const struct api_field fields[] = {{"type", API_TEXT, offsetof(struct members, type)},
                                              {"data", API_TEXT, offsetof(struct members, data)},
                                              {"encoding", API_TEXT, offsetof(struct members, encoding)},
                                              {"offset", API_NUMBER, offsetof(struct members, offset)},
                                              {"cols", API_NUMBER, offsetof(struct members, cols)},
                                              {"rows", API_NUMBER, offsetof(struct members, rows)},
                                              {"signal", API_TEXT, offsetof(struct members, signal)}};
    struct members m;
    *why = (struct api_problem){"", ""};
    if (!text)
        return binary_request(message, ret);
    int r = decode(message, fields, sizeof(fields) / sizeof(fields[0]), a, &m, why);
    if (r)
        return r;
    bool moves = m.data.p || m.offset != NOT_GIVEN, sizes = m.cols || m.rows;
    *ret = (struct attach_request){.data = m.data,
                                   .placed = m.offset != NOT_GIVEN,
                                   .offset = m.offset,
                                   .cols = m.cols,
                                   .rows = m.rows,
                                   .signal = m.signal};
    if (str_eqc(m.type, "stdin") && !sizes && !m.signal.p) {
        ret->kind = ATTACH_STDIN;
        return m.data.p ? 0 : wrong(why, "data", "is missing");
    }
    if (str_eqc(m.type, "stdin_close") && !moves && !sizes && !m.signal.p) {
        ret->kind = ATTACH_STDIN_CLOSE;
        return 0;
    }
    if (str_eqc(m.type, "resize") && !moves && !m.signal.p) {
        ret->kind = ATTACH_RESIZE;
        if (m.cols >= 1 && m.cols <= UINT16_MAX && m.rows >= 1 && m.rows <= UINT16_MAX)
            return 0;
        return wrong(why, "cols", "and 'rows' are 1 to 65535");
    }
    if (str_eqc(m.type, "signal") && !moves && !sizes) {
        ret->kind = ATTACH_SIGNAL;
        return m.signal.p ? 0 : wrong(why, "signal", "is missing");
    }
    return wrong(why, "type",
                 "is 'stdin' (data, encoding, offset), 'stdin_close', 'resize' (cols, rows) or 'signal' (signal)");
}

static int stream_of(struct str name)
{
    return str_eqc(name, "stdout") ? 1 : str_eqc(name, "stderr") ? 2 : 0;
}

int attach_get_event(bool text, struct str message, struct arena *a, struct attach_event *ret, struct api_problem *why)
{
    static const struct api_field fields[] = {{"type", API_TEXT, offsetof(struct members, type)},
                                              {"stream", API_TEXT, offsetof(struct members, stream)},
                                              {"data", API_TEXT, offsetof(struct members, data)},
                                              {"data_encoding", API_TEXT, offsetof(struct members, encoding)},
                                              {"offset", API_NUMBER, offsetof(struct members, offset)},
                                              {"stdin_offset", API_NUMBER, offsetof(struct members, stdin_offset)},
                                              {"tty", API_FLAG, offsetof(struct members, tty)},
                                              {"stdin_open", API_FLAG, offsetof(struct members, stdin_open)},
                                              {"code", API_TEXT, offsetof(struct members, code)},
                                              {"message", API_TEXT, offsetof(struct members, message)},
                                              {"exec", API_VALUE, offsetof(struct members, exec)}};
    struct members m;
    *why = (struct api_problem){"", ""};
    *ret = (struct attach_event){.kind = ATTACH_OUTPUT};
    if (!text) {
        if (message.n < ATTACH_HEAD || (message.p[0] != ATTACH_BIN_STDOUT && message.p[0] != ATTACH_BIN_STDERR))
            return -EBADMSG;
        ret->stream = message.p[0];
        ret->offset = get_offset(message.p + 1);
        ret->data = str_from(message, ATTACH_HEAD);
        return 0;
    }
    int r = decode(message, fields, sizeof(fields) / sizeof(fields[0]), a, &m, why);
    if (r)
        return r;
    *ret = (struct attach_event){.stream = stream_of(m.stream),
                                 .offset = m.offset,
                                 .data = m.data,
                                 .code = m.code,
                                 .message = m.message,
                                 .exec = m.exec,
                                 .tty = m.tty,
                                 .stdin_open = m.stdin_open,
                                 .stdin_offset = m.stdin_offset};
    static const char *const names[] = {"ready", "output", "stdin", "error", "exit"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!str_eqc(m.type, names[i]))
            continue;
        ret->kind = (enum attach_event_kind)i;
        if (ret->kind == ATTACH_OUTPUT && (!ret->stream || m.offset == NOT_GIVEN || !m.data.p))
            return wrong(why, "stream", "is stdout or stderr, with an offset and data");
        if (ret->kind == ATTACH_STDIN_TAKEN && m.offset == NOT_GIVEN)
            return wrong(why, "offset", "is missing");
        if ((ret->kind == ATTACH_READY || ret->kind == ATTACH_EXIT) && !m.exec.p)
            return wrong(why, "exec", "is missing");
        return 0;
    }
    return wrong(why, "type", "is no event of this version");
}

void attach_put_binary(struct buf *out, enum attach_binary kind, uint64_t offset, struct str data)
{
    buf_putc(out, (char)kind);
    for (int i = 7; i >= 0 && kind != ATTACH_BIN_STDIN; i--)
        buf_putc(out, (char)(offset >> (8 * i)));
    buf_adds(out, data);
}

void attach_put_event(struct buf *out, const struct attach_event *e)
{
    struct json_writer w = {.out = out};
    json_begin(&w, NULL, '{');
    switch (e->kind) {
    case ATTACH_OUTPUT:
        json_text(&w, "type", STR("output"));
        json_text(&w, "stream", e->stream == 2 ? STR("stderr") : STR("stdout"));
        json_number(&w, "offset", e->offset);
        json_text(&w, "data", e->data);
        break;
    case ATTACH_STDIN_TAKEN:
        json_text(&w, "type", STR("stdin"));
        json_number(&w, "offset", e->offset);
        break;
    case ATTACH_ERROR:
        json_text(&w, "type", STR("error"));
        json_text(&w, "code", e->code);
        json_text(&w, "message", e->message);
        break;
    case ATTACH_READY:
    case ATTACH_EXIT:
        break;
    }
    json_end(&w, '}');
}
