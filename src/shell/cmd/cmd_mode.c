/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/mode.h"

#include <errno.h>

#include "shell/cmd/cmd.h"

#define MODE_ALL 07777u
#define MODE_R 0444u
#define MODE_W 0222u
#define MODE_X 0111u

void cmd_mode_text(uint32_t mode, char out[11])
{
    static const char rwx[] = "rwxrwxrwx";
    char type = '?';
    switch (mode & S_IFMT) {
    case S_IFREG:
        type = '-';
        break;
    case S_IFDIR:
        type = 'd';
        break;
    case S_IFLNK:
        type = 'l';
        break;
    case S_IFIFO:
        type = 'p';
        break;
    case S_IFSOCK:
        type = 's';
        break;
    case S_IFCHR:
        type = 'c';
        break;
    case S_IFBLK:
        type = 'b';
        break;
    default:
        break;
    }
    out[0] = type;
    for (int i = 0; i < 9; i++)
        out[i + 1] = mode & (0400u >> i) ? rwx[i] : '-';
    if (mode & S_ISUID)
        out[3] = mode & S_IXUSR ? 's' : 'S';
    if (mode & S_ISGID)
        out[6] = mode & S_IXGRP ? 's' : 'S';
    if (mode & S_ISVTX)
        out[9] = mode & S_IXOTH ? 't' : 'T';
    out[10] = 0;
}

/* One "+rw" of a clause. */
struct mode_op {
    char op;
    bool copy, x_if_any; /* the value is u, g or o of the file; X */
    uint32_t affected, value, mentioned;
};

struct mode_state {
    uint32_t mode, bits, umask;
    bool dir;
};

/* Set-id bits of a directory change only when they are mentioned. */
static void apply(struct mode_state *s, const struct mode_op *o)
{
    uint32_t omit = (s->dir ? S_ISUID | S_ISGID : 0u) & ~o->mentioned;
    uint32_t value = o->value;
    if (o->copy) {
        value &= s->mode;
        value |= (value & MODE_R ? MODE_R : 0) | (value & MODE_W ? MODE_W : 0) | (value & MODE_X ? MODE_X : 0);
    }
    if (o->x_if_any && (s->dir || (s->mode & MODE_X)))
        value |= MODE_X;
    value &= (o->affected ? o->affected : ~s->umask) & ~omit;
    if (o->op == '=') {
        uint32_t kept = (o->affected ? ~o->affected : 0) | omit;
        s->bits |= MODE_ALL & ~kept;
        s->mode = (s->mode & kept) | value;
    } else {
        s->bits |= value;
        s->mode = o->op == '+' ? s->mode | value : s->mode & ~value;
    }
}

/* An octal number up to 7777: false if it is larger. */
static bool octal(const char **p, uint32_t *ret)
{
    uint32_t v = 0;
    for (; **p >= '0' && **p <= '7'; (*p)++) {
        v = v * 8 + (uint32_t)(**p - '0');
        if (v > MODE_ALL)
            return false;
    }
    *ret = v;
    return true;
}

/* The letters after an operator. */
static void letters(const char **p, struct mode_op *o)
{
    for (;; (*p)++) {
        switch (**p) {
        case 'r':
            o->value |= MODE_R;
            break;
        case 'w':
            o->value |= MODE_W;
            break;
        case 'x':
            o->value |= MODE_X;
            break;
        case 'X':
            o->x_if_any = true;
            break;
        case 's':
            o->value |= S_ISUID | S_ISGID;
            break;
        case 't':
            o->value |= S_ISVTX;
            break;
        default:
            return;
        }
    }
}

/* An operator and what it sets: false on a syntax error. */
static bool operation(const char **p, uint32_t affected, struct mode_state *s)
{
    struct mode_op o = {.op = *(*p)++, .affected = affected};
    uint32_t mentioned = 0;
    if (**p >= '0' && **p <= '7') {
        if (!octal(p, &o.value) || affected || (**p && **p != ','))
            return false;
        o.affected = mentioned = MODE_ALL;
    } else if (**p == 'u' || **p == 'g' || **p == 'o') {
        o.copy = true;
        o.value = **p == 'u' ? S_IRWXU : **p == 'g' ? S_IRWXG : S_IRWXO;
        (*p)++;
    } else {
        letters(p, &o);
    }
    o.mentioned = mentioned ? mentioned : o.affected ? o.affected & o.value : o.value;
    apply(s, &o);
    return true;
}

/* "ugoa" in front of an operator: false when something else stands there. */
static bool who(const char **p, uint32_t *ret)
{
    for (;; (*p)++) {
        switch (**p) {
        case 'u':
            *ret |= S_ISUID | S_IRWXU;
            break;
        case 'g':
            *ret |= S_ISGID | S_IRWXG;
            break;
        case 'o':
            *ret |= S_ISVTX | S_IRWXO;
            break;
        case 'a':
            *ret |= MODE_ALL;
            break;
        default:
            return **p == '=' || **p == '+' || **p == '-';
        }
    }
}

int mode_apply(const char *text, uint32_t old, bool is_dir, uint32_t umask, uint32_t *ret, uint32_t *ret_bits)
{
    struct mode_state s = {.mode = old & MODE_ALL, .umask = umask, .dir = is_dir};
    const char *p = text;
    if (*p >= '0' && *p <= '7') {
        struct mode_op o = {.op = '=', .affected = MODE_ALL};
        if (!octal(&p, &o.value) || *p)
            return -EINVAL;
        o.mentioned = p - text < 5 ? (o.value & (S_ISUID | S_ISGID)) | S_ISVTX | 0777u : MODE_ALL;
        apply(&s, &o);
    } else {
        for (;; p++) {
            uint32_t affected = 0;
            if (!who(&p, &affected))
                return -EINVAL;
            while (*p == '=' || *p == '+' || *p == '-')
                if (!operation(&p, affected, &s))
                    return -EINVAL;
            if (*p != ',')
                break;
        }
        if (*p)
            return -EINVAL;
    }
    *ret = s.mode;
    if (ret_bits)
        *ret_bits = s.bits;
    return 0;
}

int cmd_mode_parse(const char *text, uint32_t old, bool is_dir, uint32_t umask, uint32_t *ret)
{
    return mode_apply(text, old, is_dir, umask, ret, NULL);
}
