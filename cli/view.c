/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/num.h"
#include "types/errtab.h"

#define PROGRESS_AFTER (CLOCK_S / 2)
#define PROGRESS_EVERY (CLOCK_S / 10)
#define BAR 30

/* ---- messages ---- */

static char last_error[8192];

void cli_error(const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    fputs("frontal-sandbox: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    vsnprintf(last_error, sizeof(last_error), fmt, again);
    va_end(again);
    va_end(ap);
}

const char *cli_last_error(void)
{
    return last_error;
}

/* ---- output ---- */

void cli_view_init(struct cli_view *v)
{
    struct winsize ws;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    v->terminal = isatty(1);
    v->colour = v->terminal && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
    v->width = v->terminal && ioctl(1, TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
    v->now = clock_wall();
}

void cli_put(const struct cli_view *v, struct buf *out, enum cli_style style, const char *text, int columns)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[34m"};
    int pad = (columns < 0 ? -columns : columns) - (int)cli_columns(str_c(text));
    bool styled = v->colour && style != CLI_PLAIN;
    if (columns < 0 && pad > 0)
        buf_addf(out, "%*s", pad, "");
    buf_addf(out, "%s%s%s", styled ? codes[style] : "", text, styled ? "\033[0m" : "");
    if (columns > 0 && pad > 0)
        buf_addf(out, "%*s", pad, "");
}

/* Length of the UTF-8 character at the front and its code point: 0 when it is none. */
static size_t rune(struct str s, uint32_t *ret)
{
    uint8_t c = (uint8_t)s.p[0];
    size_t n = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (n == 0 || n > s.n)
        return 0;
    uint32_t v = n == 1 ? c : c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)s.p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | ((uint8_t)s.p[i] & 0x3f);
    }
    *ret = v;
    return v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : n;
}

/* Columns of a character: East Asian wide ones and emoji take two, combining ones none. */
static unsigned rune_columns(uint32_t c)
{
    static const struct {
        uint32_t from, to;
        unsigned columns;
    } special[] = {{0x300, 0x36f, 0},    {0x200b, 0x200f, 0}, {0xfe00, 0xfe0f, 0},   {0x1100, 0x115f, 2},
                   {0x2e80, 0xa4cf, 2},  {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},
                   {0xff00, 0xff60, 2},  {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2},
                   {0x20000, 0x3fffd, 2}};
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
        if (c >= special[i].from && c <= special[i].to)
            return special[i].columns;
    }
    return 1;
}

/* Whether a terminal shows it and does nothing else: no controls, none of the marks that turn the order of text. */
static bool harmless(uint32_t c)
{
    return c >= 0x20 && (c < 0x7f || c > 0x9f) && !(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069) &&
           c != 0x2028 && c != 0x2029;
}

unsigned cli_columns(struct str text)
{
    unsigned columns = 0;
    uint32_t c;
    while (text.n) {
        size_t n = rune(text, &c);
        columns += n ? rune_columns(c) : 1;
        text = str_from(text, n ? n : 1);
    }
    return columns;
}

void cli_put_guest(struct buf *out, struct str text, unsigned columns)
{
    unsigned used = 0;
    size_t fits = out->n; /* where to cut, so that … has room */
    while (text.n) {
        uint32_t c;
        size_t at = out->n, n = rune(text, &c);
        if (n == 0)
            buf_addf(out, "\\x%02x", (uint8_t)text.p[0]);
        else if (c == '\n')
            buf_addc(out, "↵");
        else if (c == '\t')
            buf_putc(out, ' ');
        else if (!harmless(c))
            buf_addf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        else
            buf_add(out, text.p, n);
        used += cli_columns(str_of(out->p + at, out->n - at));
        if (columns && used > columns) {
            buf_trunc(out, fits);
            buf_addc(out, "…");
            return;
        }
        if (used < columns)
            fits = out->n;
        text = str_from(text, n ? n : 1);
        if (out->err)
            return;
    }
}

void cli_put_path(struct buf *out, struct str p)
{
    bool plain = true;
    for (size_t i = 0; i < p.n; i++)
        plain &= (uint8_t)p.p[i] >= 0x20 && p.p[i] != 0x7f;
    if (plain) {
        buf_adds(out, p);
        return;
    }
    buf_addc(out, "$'");
    for (size_t i = 0; i < p.n; i++) {
        uint8_t c = (uint8_t)p.p[i];
        if (c < 0x20 || c == 0x7f)
            buf_addf(out, "\\%03o", c);
        else if (c == '\'' || c == '\\')
            buf_addf(out, "\\%c", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '\'');
}

void cli_put_time(const struct cli_view *v, struct buf *out, int64_t t)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t age = (v->now - t) / CLOCK_S;
    time_t s = t / CLOCK_S;
    struct tm tm;
    char text[40];
    for (size_t i = 0; v->terminal && age >= 0 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (age >= units[i].seconds) {
            buf_addf(out, "%" PRId64 " %s ago", age / units[i].seconds, units[i].name);
            return;
        }
    }
    if (v->terminal && age == 0)
        buf_addc(out, "now");
    else if (gmtime_r(&s, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        buf_addc(out, text);
    else
        buf_addc(out, "?");
}

void cli_put_size(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        buf_addf(out, "%" PRIu64 " B", bytes);
        return;
    }
    double v = (double)bytes / 1024;
    size_t u = 0;
    for (; v >= 1023.95 && u + 1 < sizeof(units) / sizeof(units[0]); u++)
        v /= 1024;
    buf_addf(out, "%.1f %s", v, units[u]);
}

void cli_put_count(struct buf *out, uint64_t n, const char *what)
{
    buf_addf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

void cli_put_duration(struct buf *out, uint64_t us)
{
    if (us < 1000)
        buf_addf(out, "%" PRIu64 " µs", us);
    else if (us < 1000000)
        buf_addf(out, "%" PRIu64 " ms", us / 1000);
    else if (us < 60000000)
        buf_addf(out, "%" PRIu64 ".%" PRIu64 " s", us / 1000000, us / 100000 % 10);
    else
        buf_addf(out, "%" PRIu64 " min %" PRIu64 " s", us / 60000000, us / 1000000 % 60);
}

void cli_put_hash(const struct cli_view *v, struct buf *out, const struct cas_id *id)
{
    buf_addc(out, "sha256:");
    for (size_t i = 0; i < (v->terminal ? 6 : sizeof(id->b)); i++)
        buf_addf(out, "%02x", id->b[i]);
    if (v->terminal)
        buf_addc(out, "…");
}

int cli_print(struct buf *out)
{
    int r = out->err ? out->err : fd_write_all(1, buf_str(out));
    buf_clear(out);
    if (r == -EPIPE)
        _exit(0); /* who reads has enough */
    if (r)
        cli_error("standard output: %s", errtab_text(r));
    return r ? -1 : 0;
}

/* ---- progress ---- */

void cli_progress_begin(struct cli_progress *p, const char *what)
{
    *p = (struct cli_progress){.what = what, .begun = clock_mono(), .terminal = isatty(2)};
}

void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t all)
{
    if (!p->terminal)
        return;
    int64_t now = clock_mono();
    if (now - p->begun < PROGRESS_AFTER || now - p->drawn < PROGRESS_EVERY)
        return;
    p->drawn = now;
    if (all == 0) {
        fprintf(stderr, "\r\033[K%s: %" PRIu64, p->what, done);
        return;
    }
    unsigned part = (unsigned)((double)NUM_MIN(done, all) / (double)all * BAR);
    fprintf(stderr, "\r\033[K%s [%.*s%*s] %3u %%", p->what, (int)part, "##############################",
            BAR - (int)part, "", (unsigned)((double)NUM_MIN(done, all) / (double)all * 100));
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
}

void cli_put_side(struct buf *out, const char *mark, struct str text)
{
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        size_t n = nl < 0 ? text.n : (size_t)nl;
        buf_addf(out, "      %s ", mark);
        cli_put_guest(out, str_of(text.p, n), 0);
        buf_addc(out, nl < 0 ? " (no line end)\n" : "\n");
        text = str_from(text, nl < 0 ? text.n : n + 1);
    }
}

void cli_put_word(struct buf *out, struct str w)
{
    bool plain = w.n > 0;
    for (size_t i = 0; i < w.n; i++) {
        char c = w.p[i];
        plain &= (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 (c && strchr("_-./:=,+@%^", c)) || (uint8_t)c >= 0x80;
    }
    if (!plain)
        buf_putc(out, '\'');
    for (size_t i = 0; i < w.n; i++) {
        if (w.p[i] == '\'')
            buf_addc(out, "'\\''");
        else
            buf_putc(out, w.p[i]);
    }
    if (!plain)
        buf_putc(out, '\'');
}
