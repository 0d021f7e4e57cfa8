/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>
#include <fcntl.h>

/* The @k-th field of a line of /etc/passwd. */
static struct str passwd_field(struct str line, int k)
{
    for (; k > 0; k--) {
        ptrdiff_t c = str_find(line, ':', 0);
        if (c < 0)
            return STR("");
        line = str_from(line, (size_t)c + 1);
    }
    ptrdiff_t c = str_find(line, ':', 0);
    return c < 0 ? line : str_of(line.p, (size_t)c);
}

int expand__passwd(struct shell *sh, struct str user, int field, struct buf *out)
{
    struct vfs_handle *h;
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct buf text BUF_AUTO;
    char block[4096];
    ssize_t n;
    buf_init(&text, 1u << 20);
    if (vfs_open(proc_set_vfs(sh->ps), &ctx, 0, STR("/etc/passwd"), O_RDONLY, 0, &h) < 0)
        return -ENOENT;
    while ((n = vfs_pread(h, block, sizeof(block), text.n)) > 0 && buf_add(&text, block, (size_t)n) == 0)
        continue;
    vfs_close(h);
    for (size_t i = 0; i < text.n;) {
        ptrdiff_t nl = str_find(buf_str(&text), '\n', i);
        size_t end = nl < 0 ? text.n : (size_t)nl;
        struct str line = str_of(text.p + i, end - i);
        uint64_t uid;
        bool hit = user.n ? str_eq(passwd_field(line, 0), user)
                          : str_u64(passwd_field(line, 2), &uid) == 0 && uid == sh->p->cred.uid;
        if (hit) {
            buf_adds(out, passwd_field(line, field));
            return 0;
        }
        i = end + 1;
    }
    return -ENOENT;
}

/* ~N, ~+N and ~-N: an entry of the directory stack, as `dirs` counts it. */
static bool stack_entry(struct shell *sh, struct str s, struct buf *out)
{
    uint64_t k;
    bool back = s.p[0] == '-';
    if (s.p[0] == '+' || s.p[0] == '-')
        s = str_from(s, 1);
    if (str_u64(s, &k) < 0 || k > sh->n_dirstack)
        return false;
    if (back)
        k = sh->n_dirstack - k;
    buf_adds(out, k ? sh->dirstack[k - 1] : var_get(sh, "PWD"));
    return true;
}

static bool add_var(struct shell *sh, const char *name, struct buf *out)
{
    struct str s = var_get(sh, name);
    if (s.p)
        buf_adds(out, s);
    return s.p != NULL;
}

size_t expand_tilde(struct shell *sh, struct str s, struct buf *out)
{
    if (!s.n || s.p[0] != '~')
        return 0;
    size_t end = 1;
    while (end < s.n && s.p[end] != '/')
        end++;
    struct str who = str_of(s.p + 1, end - 1);
    bool found;
    if (!who.n)
        found = add_var(sh, "HOME", out) || (sh->p && expand__passwd(sh, who, PASSWD_HOME, out) == 0);
    else if (str_eqc(who, "+"))
        found = add_var(sh, "PWD", out);
    else if (str_eqc(who, "-"))
        found = add_var(sh, "OLDPWD", out);
    else if ((who.p[0] >= '0' && who.p[0] <= '9') || who.p[0] == '+' || who.p[0] == '-')
        found = stack_entry(sh, who, out);
    else
        found = sh->p && expand__passwd(sh, who, PASSWD_HOME, out) == 0;
    return found ? end : 0;
}

/* The prefix at @i: expanded and added as quoted text. Returns how many bytes it was; 0 when it is none. */
static size_t put_prefix(struct expander *x, struct str s, size_t i, bool whole, int *ret_err)
{
    size_t end = i + 1;
    while (end < s.n && s.p[end] != '/' && s.p[end] != ':')
        end++;
    /* A prefix that runs on into a quoted or expanded part is not one. */
    if (end == s.n && !whole)
        return 0;
    struct buf dir BUF_AUTO;
    buf_init(&dir, LIMIT_STRING);
    size_t n = expand_tilde(x->sh, str_of(s.p + i, end - i), &dir);
    if (n)
        *ret_err = dir.err ? expand__no_memory(x->sh) : expand__put(x, buf_str(&dir), true);
    return n;
}

static int put_plain(struct expander *x, struct str s, bool split)
{
    return split ? expand__put_split(x, s) : expand__put(x, s, false);
}

int expand__put_tilde(struct expander *x, struct str s, bool start, bool colons, bool equals, bool whole, bool split)
{
    size_t from = 0;
    bool value = !equals; /* inside the value of NAME=value */
    int r = 0;
    for (size_t i = 0; i < s.n && r == 0; i++) {
        bool here = (i == 0 && start) ||
                    (i > 0 && ((s.p[i - 1] == ':' && colons && value) || (s.p[i - 1] == '=' && equals && value)));
        if (s.p[i] == '=' && !value) {
            value = true;
            continue;
        }
        if (s.p[i] != '~' || !here)
            continue;
        if (i > 0 && s.p[i - 1] == '=' && memchr(s.p, '=', i - 1))
            continue; /* only the first '=' begins the value */
        if (i > from)
            r = put_plain(x, str_of(s.p + from, i - from), split);
        size_t n = r == 0 ? put_prefix(x, s, i, whole, &r) : 0;
        from = n ? i + n : i;
        i += n ? n - 1 : 0;
    }
    if (r == 0 && s.n > from)
        r = put_plain(x, str_from(s, from), split);
    return r;
}
