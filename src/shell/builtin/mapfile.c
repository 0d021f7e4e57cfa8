/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "shell/builtin/condition_int.h"

struct mapping {
    struct shell *sh;
    const char *who;
    struct sym *sym;
    int fd;
    char delim;
    bool strip;    /* -t */
    bool keep;     /* -O: the array is not emptied */
    int64_t count; /* lines to store; 0: all */
    int64_t skip;
    int64_t origin;
    int64_t quantum;
    struct str callback;
};

static int bad(const struct mapping *m, struct str s, const char *what)
{
    sh_error(m->sh, "%s: %s: %s", m->who, s.p, what);
    return 1;
}

static int set_number(const struct mapping *m, struct str s, int64_t min, const char *what, int64_t *ret)
{
    int64_t n;
    if (!condition_int(s, &n) || n < min || n > INT32_MAX)
        return bad(m, s, what);
    *ret = n;
    return 0;
}

/* One option: 0, or the status to end with. */
static int set_option(struct mapping *m, int c, struct str arg)
{
    int64_t n;
    switch (c) {
    case 'd':
        m->delim = arg.n ? arg.p[0] : 0;
        return 0;
    case 'n':
        return set_number(m, arg, 0, "invalid line count", &m->count);
    case 's':
        return set_number(m, arg, 0, "invalid line count", &m->skip);
    case 'O':
        m->keep = true;
        return set_number(m, arg, 0, "invalid array origin", &m->origin);
    case 'c':
        return set_number(m, arg, 1, "invalid callback quantum", &m->quantum);
    case 'C':
        m->callback = arg;
        return 0;
    case 't':
        m->strip = true;
        return 0;
    case 'u':
        if (set_number(m, arg, 0, "invalid file descriptor specification", &n) != 0)
            return 1;
        m->fd = (int)n;
        if (n >= LIMIT_FDS || !proc_get(m->sh->p, m->fd))
            return bad(m, arg, "invalid file descriptor: Bad file descriptor");
        return 0;
    default:
        return 2;
    }
}

/* Appends a line with its delimiter to @line: 1, 0 at the end of the input (or when it cannot be read, which bash does
 * not tell apart), -EINTR, -ENOMEM. */
static int next_line(const struct mapping *m, struct buf *line)
{
    buf_clear(line);
    for (;;) {
        const void *p;
        size_t n;
        int r = proc_peek(m->sh->p, m->fd, &p, &n);
        if (r == -EINTR && !sh_poll(m->sh) && m->sh->flow == FLOW_NONE)
            continue;
        if (r == -EINTR)
            return r;
        if (r < 0 || n == 0)
            return line->n > 0;
        const char *hit = memchr(p, m->delim, n);
        size_t k = hit ? (size_t)(hit - (const char *)p) + 1 : n;
        buf_add(line, p, k);
        proc_consume(m->sh->p, m->fd, k);
        if (line->err)
            return -ENOMEM;
        if (hit)
            return 1;
    }
}

/* What of a line becomes the element: up to its first NUL, which no variable can hold. */
static struct str value_of(const struct mapping *m, const struct buf *line)
{
    struct str s = buf_str(line);
    if (s.n > 0 && s.p[s.n - 1] == m->delim && (m->strip || m->delim == 0))
        s.n--;
    ptrdiff_t nul = str_find(s, 0, 0);
    return nul < 0 ? s : str_of(s.p, (size_t)nul);
}

/* Runs "CALLBACK INDEX 'LINE'". False when the shell is to do something else now. */
static bool call_back(const struct mapping *m, int64_t index, struct str line)
{
    struct shell *sh = m->sh;
    struct buf text;
    buf_init(&text, LIMIT_STRING);
    buf_adds(&text, m->callback);
    buf_putc(&text, ' ');
    buf_addi(&text, index);
    buf_putc(&text, ' ');
    quote_single(&text, line);
    if (text.err)
        sh_error(sh, "%s: the line is too long", m->who);
    else
        exec_text(sh, buf_str(&text), sh->line, NULL);
    buf_done(&text);
    return sh->flow == FLOW_NONE;
}

static int map_lines(const struct mapping *m)
{
    struct shell *sh = m->sh;
    struct buf line;
    int status = 0, r = 1;
    buf_init(&line, LIMIT_STRING);
    for (int64_t i = 0; i < m->skip && r > 0; i++)
        r = next_line(m, &line);
    for (int64_t i = 0; r > 0 && (m->count == 0 || i < m->count); i++) {
        r = next_line(m, &line);
        if (r <= 0)
            break;
        struct str val = value_of(m, &line);
        if (m->callback.p && (i + 1) % m->quantum == 0) {
            if (!call_back(m, m->origin + i, val))
                break;
            val = value_of(m, &line);
        }
        int rc = var_set_elem(sh, m->sym, (struct str){0}, m->origin + i, val, false);
        if (rc < 0) {
            if (rc == -ENOMEM)
                sh_error(sh, "%s: %s: cannot allocate memory", m->who, m->sym->name.p);
            status = 1;
            break;
        }
        if (sh_poll(sh))
            break;
    }
    if (r == -ENOMEM) {
        sh_error(sh, "%s: the line is too long", m->who);
        status = 1;
    }
    buf_done(&line);
    return status;
}

/* The array, emptied or made. */
static int take_array(struct mapping *m, struct str name)
{
    if (name.n == 0) {
        sh_error(m->sh, "%s: empty array variable name", m->who);
        return 2;
    }
    if (!sym_valid(name)) {
        sh_error(m->sh, "%s: `%s': not a valid identifier", m->who, name.p);
        return 1;
    }
    struct sym *s = sym_get(m->sh, name);
    struct var *v = s ? var_find(m->sh, s) : NULL;
    if (v && (v->flags & VAR_ASSOC))
        return bad(m, name, "not an indexed array");
    if (!s || var_make_array(m->sh, s, VAR_ARRAY, m->keep) < 0)
        return 1;
    m->sym = var_resolve(m->sh, s, NULL);
    return var_attr(m->sh, m->sym, VAR_SET, 0) < 0;
}

static int builtin_mapfile(struct shell *sh, struct builtin_args *a)
{
    struct mapping m = {.sh = sh, .who = a->argv[0].p, .delim = '\n', .quantum = 5000};
    struct builtin_opt o = {0};
    int c;
    while ((c = builtin_getopt(sh, a, "d:u:n:O:tC:c:s:", &o)) != -1) {
        int status = set_option(&m, c, o.arg);
        if (status != 0)
            return status;
    }
    int status = take_array(&m, o.i < a->argc ? a->argv[o.i] : STR("MAPFILE"));
    return status ? status : map_lines(&m);
}

#define MAPFILE_SYNOPSIS "[-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]"
#define MAPFILE_HELP                                                                                                   \
    "    Read lines into the elements of an indexed array, MAPFILE when none is named.\n"                              \
    "\n"                                                                                                               \
    "      -d delim     what ends a line: the first character of delim, a NUL when it is empty\n"                      \
    "      -n count     store at most so many lines\n"                                                                 \
    "      -O origin    begin at this index and keep what the array holds; else it is emptied\n"                       \
    "      -s count     drop the first lines\n"                                                                        \
    "      -t           leave the delimiter out\n"                                                                     \
    "      -u fd        read from this descriptor\n"                                                                   \
    "      -C callback  run this with the index and the line behind it, before storing, every\n"                       \
    "      -c quantum   so many lines (5000)\n"                                                                        \
    "\n"                                                                                                               \
    "    The status is 0 unless an option is wrong or the array cannot be written.\n"

BUILTIN(mapfile, "mapfile", builtin_mapfile, 0, "mapfile " MAPFILE_SYNOPSIS, MAPFILE_HELP);
BUILTIN(readarray, "readarray", builtin_mapfile, 0, "readarray " MAPFILE_SYNOPSIS, MAPFILE_HELP);
