/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>

#include "base/num.h"

/* One conversion: what stood between '%' and the letter. */
struct conv {
    char pad; /* '_', '-', '0', '+', or 0 */
    bool upper, swap;
    int width; /* -1: none */
    int colons;
    char modifier;
};

struct strf {
    struct cmd *c;
    struct buf *out;
    const struct cmd_time *t;
    int64_t unix_s;
    uint32_t ns;
    bool upper; /* inherited by what %c and the like are made of */
};

static const char *const day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {"January", "February", "March",     "April",   "May",      "June",
                                          "July",    "August",   "September", "October", "November", "December"};

static void fill(struct buf *out, char ch, int n)
{
    while (n-- > 0 && out->err == 0)
        buf_putc(out, ch);
}

static void add_text(struct strf *f, const struct conv *k, const char *s, size_t n, bool lower)
{
    int len = (int)n;
    if (k->pad != '-' && k->width > len)
        fill(f->out, k->pad == '0' || k->pad == '+' ? '0' : ' ', k->width - len);
    for (size_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)s[i];
        buf_putc(f->out, (char)(lower ? tolower(ch) : k->upper ? toupper(ch) : ch));
    }
}

/* Digits with a sign, padded; @mask has a bit for each digit (from the last) that a colon follows to its left. */
static void add_number(struct strf *f, const struct conv *k, bool neg, uint64_t v, int digits, bool plus, unsigned mask,
                       char dflt)
{
    char text[48], *p = text + sizeof text;
    do {
        if (mask & 1)
            *--p = ':';
        mask >>= 1;
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0 || mask > 0);
    char pad = k->pad ? k->pad : dflt;
    char sign = neg ? '-' : plus ? '+' : 0;
    int len = (int)(text + sizeof text - p);
    int width = k->width < 0 ? digits : k->width;
    int short_by = width - (sign != 0) - len;
    if (pad == '-')
        short_by = 0;
    if (pad == '_')
        fill(f->out, ' ', short_by);
    if (sign)
        buf_putc(f->out, sign);
    if (pad != '_')
        fill(f->out, '0', short_by);
    buf_add(f->out, p, (size_t)len);
}

static void add_plain(struct strf *f, const struct conv *k, int64_t v, int digits, char dflt)
{
    add_number(f, k, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, digits, false, 0, dflt);
}

/* Years and centuries: with '+', a sign when there are more digits than usual. */
static void add_year(struct strf *f, const struct conv *k, bool neg, int64_t v, int digits)
{
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    bool plus = k->pad == '+' && ((digits == 2 ? 99u : 9999u) < u || digits < k->width);
    add_number(f, k, neg, u, digits, plus, 0, '0');
}

/* %z: [+-]hhmm and its forms with colons. Returns false for too many colons. */
static bool add_offset(struct strf *f, const struct conv *k)
{
    int64_t d = f->t->gmtoff;
    bool neg = d < 0 || (d == 0 && f->t->zone[0] == '-');
    uint64_t a = (uint64_t)(d < 0 ? -d : d), h = a / 3600, m = a / 60 % 60, s = a % 60;
    int colons = k->colons;
    if (colons == 3)
        colons = s ? 2 : m ? 1 : -1;
    if (colons == 0)
        add_number(f, k, neg, h * 100 + m, 5, true, 0, '0');
    else if (colons == 1)
        add_number(f, k, neg, h * 100 + m, 6, true, 04, '0');
    else if (colons == 2)
        add_number(f, k, neg, h * 10000 + m * 100 + s, 9, true, 024, '0');
    else if (colons == -1)
        add_number(f, k, neg, h, 3, true, 0, '0');
    else
        return false;
    return true;
}

static void add_nanoseconds(struct strf *f, const struct conv *k)
{
    int width = k->width <= 0 ? 9 : k->width, n = 9;
    uint32_t v = f->ns;
    while (width < n || (n > 1 && v % 10 == 0)) {
        n--;
        v /= 10;
    }
    char text[9];
    for (int i = n; i-- > 0; v /= 10)
        text[i] = (char)('0' + v % 10);
    buf_add(f->out, text, (size_t)n);
    if (k->pad != '-')
        fill(f->out, k->pad == '_' ? ' ' : '0', width - n);
}

static int days_in_year(int64_t y)
{
    return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0) ? 366 : 365;
}

/* ISO 8601 week: its year and its number. */
static void iso_week(const struct cmd_time *t, int64_t *ret_year, int *ret_week)
{
    int64_t year = t->year;
    int monday = (t->wday + 6) % 7; /* Monday is 0 */
    int w = (t->yday - monday + 10) / 7;
    if (w < 1) {
        year--;
        w = (t->yday + days_in_year(year) - monday + 10) / 7;
    } else if (w == 53 && t->yday - monday + 3 >= days_in_year(year)) {
        year++;
        w = 1;
    }
    *ret_year = year;
    *ret_week = w;
}

static void format_all(struct strf *f, const char *fmt);

/* A conversion that stands for several others. */
static void add_sub(struct strf *f, const struct conv *k, const char *fmt)
{
    struct buf part, *out = f->out;
    bool upper = f->upper;
    buf_init(&part, 1u << 20);
    f->out = &part;
    f->upper = upper || k->upper;
    format_all(f, fmt);
    f->out = out;
    f->upper = upper;
    if (k->pad != '-' && k->width > (int)part.n)
        fill(out, k->pad == '0' || k->pad == '+' ? '0' : ' ', k->width - (int)part.n);
    buf_adds(out, buf_str(&part));
    buf_done(&part);
}

/* %F: the year takes what width there is. */
static void add_iso_date(struct strf *f, const struct conv *k)
{
    struct conv y = *k;
    if (y.pad == 0 && y.width < 0) {
        y.pad = '+';
        y.width = 4;
    } else if (y.width >= 0) {
        y.width = y.width > 6 ? y.width - 6 : 0;
    }
    add_year(f, &y, f->t->year < 0, f->t->year, 4);
    format_all(f, "-%m-%d");
}

static int hour12(int h)
{
    return h % 12 == 0 ? 12 : h % 12;
}

static void add_name(struct strf *f, struct conv k, const char *name, size_t n)
{
    if (k.swap)
        k.upper = true;
    add_text(f, &k, name, n, false);
}

/* Text conversions: true when @ch is one. */
static bool conv_text(struct strf *f, const struct conv *k, char ch)
{
    const struct cmd_time *t = f->t;
    const char *day = t->wday >= 0 && t->wday < 7 ? day_names[t->wday] : "?";
    const char *mon = t->mon >= 0 && t->mon < 12 ? month_names[t->mon] : "?";
    const char *half = t->hour > 11 ? "PM" : "AM";
    switch (ch) {
    case 'a':
        add_name(f, *k, day, NUM_MIN(strlen(day), 3));
        return true;
    case 'A':
        add_name(f, *k, day, strlen(day));
        return true;
    case 'b':
    case 'h':
        add_name(f, *k, mon, NUM_MIN(strlen(mon), 3));
        return true;
    case 'B':
        add_name(f, *k, mon, strlen(mon));
        return true;
    case 'p':
        add_text(f, k, half, 2, k->swap);
        return true;
    case 'P':
        add_text(f, k, half, 2, true);
        return true;
    case 'Z':
        add_text(f, k, t->zone, strlen(t->zone), k->swap);
        return true;
    case 'n':
        add_text(f, k, "\n", 1, false);
        return true;
    case 't':
        add_text(f, k, "\t", 1, false);
        return true;
    case '%':
        add_text(f, k, "%", 1, false);
        return true;
    default:
        return false;
    }
}

/* Conversions made of others: true when @ch is one. */
static bool conv_sub(struct strf *f, const struct conv *k, char ch)
{
    switch (ch) {
    case 'c':
        add_sub(f, k, "%a %b %e %H:%M:%S %Y");
        return true;
    case 'D':
    case 'x':
        add_sub(f, k, "%m/%d/%y");
        return true;
    case 'r':
        add_sub(f, k, "%I:%M:%S %p");
        return true;
    case 'R':
        add_sub(f, k, "%H:%M");
        return true;
    case 'T':
    case 'X':
        add_sub(f, k, "%H:%M:%S");
        return true;
    case 'F':
        add_iso_date(f, k);
        return true;
    default:
        return false;
    }
}

/* Floor of year / 100, and the rest. */
static int64_t century(int64_t y)
{
    return y / 100 - (y % 100 < 0);
}

static int64_t year_in_century(int64_t y)
{
    return ((y % 100) + 100) % 100;
}

/* Year and week conversions. */
static bool conv_year(struct strf *f, const struct conv *k, char ch)
{
    const struct cmd_time *t = f->t;
    int64_t iso;
    int week;
    iso_week(t, &iso, &week);
    switch (ch) {
    case 'Y':
        add_year(f, k, t->year < 0, t->year, 4);
        return true;
    case 'C': {
        int64_t v = century(t->year);
        add_year(f, k, t->year < 0, t->year < 0 && v != 0 ? (t->year % 100 ? v + 1 : v) : v, 2);
        return true;
    }
    case 'y': {
        int64_t v = t->year < 0 ? (100 - year_in_century(t->year)) % 100 : year_in_century(t->year);
        add_plain(f, k, v, 2, '0');
        return true;
    }
    case 'G':
        add_year(f, k, iso < 0, iso, 4);
        return true;
    case 'g':
        add_plain(f, k, year_in_century(iso), 2, '0');
        return true;
    case 'V':
        add_plain(f, k, week, 2, '0');
        return true;
    case 'U':
        add_plain(f, k, (t->yday - t->wday + 7) / 7, 2, '0');
        return true;
    case 'W':
        add_plain(f, k, (t->yday - (t->wday + 6) % 7 + 7) / 7, 2, '0');
        return true;
    default:
        return false;
    }
}

/* The other numbers. */
static bool conv_number(struct strf *f, const struct conv *k, char ch)
{
    const struct cmd_time *t = f->t;
    switch (ch) {
    case 'd':
        add_plain(f, k, t->mday, 2, '0');
        return true;
    case 'e':
        add_plain(f, k, t->mday, 2, '_');
        return true;
    case 'H':
        add_plain(f, k, t->hour, 2, '0');
        return true;
    case 'I':
        add_plain(f, k, hour12(t->hour), 2, '0');
        return true;
    case 'k':
        add_plain(f, k, t->hour, 2, '_');
        return true;
    case 'l':
        add_plain(f, k, hour12(t->hour), 2, '_');
        return true;
    case 'j':
        add_plain(f, k, t->yday + 1, 3, '0');
        return true;
    case 'm':
        add_plain(f, k, t->mon + 1, 2, '0');
        return true;
    case 'M':
        add_plain(f, k, t->min, 2, '0');
        return true;
    case 'S':
        add_plain(f, k, t->sec, 2, '0');
        return true;
    case 's':
        add_plain(f, k, f->unix_s, 1, '0');
        return true;
    case 'q':
        add_plain(f, k, t->mon / 3 + 1, 1, '0');
        return true;
    case 'u':
        add_plain(f, k, (t->wday + 6) % 7 + 1, 1, '0');
        return true;
    case 'w':
        add_plain(f, k, t->wday, 1, '0');
        return true;
    default:
        return false;
    }
}

/* Whether the letter takes the modifier (E for locale's era, O for its digits: no effect in C). */
static bool modifier_fits(char modifier, char ch)
{
    if (modifier == 0)
        return true;
    return strchr(modifier == 'E' ? "cCxXyYFG" : "deHIkljmMSUVWwuyGgVqC", ch) != NULL;
}

/* One conversion after its '%': returns where it ended; writes nothing and returns NULL when it is none. */
static const char *convert(struct strf *f, const char *p)
{
    struct conv k = {.width = -1, .upper = f->upper};
    for (;; p++) {
        if (*p == '_' || *p == '-' || *p == '0' || *p == '+')
            k.pad = *p;
        else if (*p == '^')
            k.upper = true;
        else if (*p == '#')
            k.swap = true;
        else
            break;
    }
    if (isdigit((unsigned char)*p)) {
        k.width = 0;
        for (; isdigit((unsigned char)*p); p++)
            k.width = k.width > 1000000 ? k.width : k.width * 10 + (*p - '0');
    }
    if (*p == 'E' || *p == 'O')
        k.modifier = *p++;
    while (*p == ':' && k.colons < 4 && p[0] == ':') {
        k.colons++;
        p++;
    }
    if (*p == 0 || !modifier_fits(k.modifier, *p))
        return NULL;
    if (k.colons > 0)
        return *p == 'z' && add_offset(f, &k) ? p + 1 : NULL;
    bool ok = conv_text(f, &k, *p) || conv_number(f, &k, *p) || conv_year(f, &k, *p) || conv_sub(f, &k, *p);
    if (!ok && *p == 'z')
        ok = add_offset(f, &k);
    if (!ok && *p == 'N') {
        add_nanoseconds(f, &k);
        ok = true;
    }
    return ok ? p + 1 : NULL;
}

static void format_all(struct strf *f, const char *fmt)
{
    while (*fmt) {
        size_t n = strcspn(fmt, "%");
        buf_add(f->out, fmt, n);
        fmt += n;
        if (*fmt == 0)
            break;
        const char *next = convert(f, fmt + 1);
        if (next) {
            fmt = next;
            continue;
        }
        /* Not a conversion: it stands for itself up to and with its letter. */
        n = 1 + strspn(fmt + 1, "_-0+^#");
        n += strspn(fmt + n, "0123456789");
        n += strspn(fmt + n, "EO:");
        n += fmt[n] != 0;
        buf_add(f->out, fmt, n);
        fmt += n;
    }
}

void cmd_strftime(struct cmd *c, struct buf *out, const char *fmt, const struct cmd_time *t, int64_t unix_s,
                  uint32_t ns)
{
    struct strf f = {.c = c, .out = out, .t = t, .unix_s = unix_s, .ns = ns};
    format_all(&f, fmt);
}
