/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/dateparse_int.h"

#include <ctype.h>

#define WORD_MAX 20 /* bytes that are looked at, with the NUL: longer words mean nothing */

struct word {
    const char *name;
    enum dp_kind kind;
    int value;
};

#define HOURS(h) ((h)*3600)

static const struct word meridians[] = {
    {"AM", DP_MERIDIAN, DP_AM},
    {"A.M.", DP_MERIDIAN, DP_AM},
    {"PM", DP_MERIDIAN, DP_PM},
    {"P.M.", DP_MERIDIAN, DP_PM},
    {0},
};

/* These may be cut to three letters, with or without a dot. */
static const struct word months_days[] = {
    {"JANUARY", DP_MONTH, 1},
    {"FEBRUARY", DP_MONTH, 2},
    {"MARCH", DP_MONTH, 3},
    {"APRIL", DP_MONTH, 4},
    {"MAY", DP_MONTH, 5},
    {"JUNE", DP_MONTH, 6},
    {"JULY", DP_MONTH, 7},
    {"AUGUST", DP_MONTH, 8},
    {"SEPTEMBER", DP_MONTH, 9},
    {"SEPT", DP_MONTH, 9},
    {"OCTOBER", DP_MONTH, 10},
    {"NOVEMBER", DP_MONTH, 11},
    {"DECEMBER", DP_MONTH, 12},
    {"SUNDAY", DP_WEEKDAY, 0},
    {"MONDAY", DP_WEEKDAY, 1},
    {"TUESDAY", DP_WEEKDAY, 2},
    {"TUES", DP_WEEKDAY, 2},
    {"WEDNESDAY", DP_WEEKDAY, 3},
    {"WEDNES", DP_WEEKDAY, 3},
    {"THURSDAY", DP_WEEKDAY, 4},
    {"THUR", DP_WEEKDAY, 4},
    {"THURS", DP_WEEKDAY, 4},
    {"FRIDAY", DP_WEEKDAY, 5},
    {"SATURDAY", DP_WEEKDAY, 6},
    {0},
};

static const struct word units[] = {
    {"YEAR", DP_YEARS, 1},
    {"MONTH", DP_MONTHS, 1},
    {"FORTNIGHT", DP_DAYS, 14},
    {"WEEK", DP_DAYS, 7},
    {"DAY", DP_DAYS, 1},
    {"HOUR", DP_HOURS, 1},
    {"MINUTE", DP_MINUTES, 1},
    {"MIN", DP_MINUTES, 1},
    {"SECOND", DP_SECONDS, 1},
    {"SEC", DP_SECONDS, 1},
    {0},
};

static const struct word relatives[] = {
    {"TOMORROW", DP_DAY_SHIFT, 1},
    {"YESTERDAY", DP_DAY_SHIFT, -1},
    {"TODAY", DP_DAY_SHIFT, 0},
    {"NOW", DP_DAY_SHIFT, 0},
    {"LAST", DP_ORDINAL, -1},
    {"THIS", DP_ORDINAL, 0},
    {"NEXT", DP_ORDINAL, 1},
    {"FIRST", DP_ORDINAL, 1},
    {"THIRD", DP_ORDINAL, 3},
    {"FOURTH", DP_ORDINAL, 4},
    {"FIFTH", DP_ORDINAL, 5},
    {"SIXTH", DP_ORDINAL, 6},
    {"SEVENTH", DP_ORDINAL, 7},
    {"EIGHTH", DP_ORDINAL, 8},
    {"NINTH", DP_ORDINAL, 9},
    {"TENTH", DP_ORDINAL, 10},
    {"ELEVENTH", DP_ORDINAL, 11},
    {"TWELFTH", DP_ORDINAL, 12},
    {"AGO", DP_AGO, -1},
    {"HENCE", DP_AGO, 1},
    {0},
};

static const struct word universal[] = {{"GMT", DP_ZONE, 0}, {"UT", DP_ZONE, 0}, {"UTC", DP_ZONE, 0}, {0}};

/* Of a zone of daylight saving time the value is that of its standard time. */
static const struct word zones[] = {
    {"WET", DP_ZONE, HOURS(0)},       {"WEST", DP_DAYZONE, HOURS(0)},  {"BST", DP_DAYZONE, HOURS(0)},
    {"ART", DP_ZONE, -HOURS(3)},      {"BRT", DP_ZONE, -HOURS(3)},     {"BRST", DP_DAYZONE, -HOURS(3)},
    {"NST", DP_ZONE, -12600},         {"NDT", DP_DAYZONE, -12600},     {"AST", DP_ZONE, -HOURS(4)},
    {"ADT", DP_DAYZONE, -HOURS(4)},   {"CLT", DP_ZONE, -HOURS(4)},     {"CLST", DP_DAYZONE, -HOURS(4)},
    {"EST", DP_ZONE, -HOURS(5)},      {"EDT", DP_DAYZONE, -HOURS(5)},  {"CST", DP_ZONE, -HOURS(6)},
    {"CDT", DP_DAYZONE, -HOURS(6)},   {"MST", DP_ZONE, -HOURS(7)},     {"MDT", DP_DAYZONE, -HOURS(7)},
    {"PST", DP_ZONE, -HOURS(8)},      {"PDT", DP_DAYZONE, -HOURS(8)},  {"AKST", DP_ZONE, -HOURS(9)},
    {"AKDT", DP_DAYZONE, -HOURS(9)},  {"HST", DP_ZONE, -HOURS(10)},    {"HAST", DP_ZONE, -HOURS(10)},
    {"HADT", DP_DAYZONE, -HOURS(10)}, {"SST", DP_ZONE, -HOURS(12)},    {"WAT", DP_ZONE, HOURS(1)},
    {"CET", DP_ZONE, HOURS(1)},       {"CEST", DP_DAYZONE, HOURS(1)},  {"MET", DP_ZONE, HOURS(1)},
    {"MEZ", DP_ZONE, HOURS(1)},       {"MEST", DP_DAYZONE, HOURS(1)},  {"MESZ", DP_DAYZONE, HOURS(1)},
    {"EET", DP_ZONE, HOURS(2)},       {"EEST", DP_DAYZONE, HOURS(2)},  {"CAT", DP_ZONE, HOURS(2)},
    {"SAST", DP_ZONE, HOURS(2)},      {"EAT", DP_ZONE, HOURS(3)},      {"MSK", DP_ZONE, HOURS(3)},
    {"MSD", DP_DAYZONE, HOURS(3)},    {"IST", DP_ZONE, 19800},         {"SGT", DP_ZONE, HOURS(8)},
    {"KST", DP_ZONE, HOURS(9)},       {"JST", DP_ZONE, HOURS(9)},      {"GST", DP_ZONE, HOURS(10)},
    {"NZST", DP_ZONE, HOURS(12)},     {"NZDT", DP_DAYZONE, HOURS(12)}, {0},
};

static bool find(const struct word *table, const char *name, struct dp_token *ret)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) {
            *ret = (struct dp_token){.kind = table->kind, .value = table->value};
            return true;
        }
    return false;
}

static bool find_zone(const struct dp_local *local, const char *name, struct dp_token *ret)
{
    if (find(universal, name, ret))
        return true;
    for (int i = 0; i < 2; i++)
        if (local->name[i] && strcmp(local->name[i], name) == 0) {
            *ret = (struct dp_token){.kind = DP_LOCAL_ZONE, .value = local->dst[i]};
            return true;
        }
    return find(zones, name, ret);
}

static bool find_month_day(const char *name, size_t n, struct dp_token *ret)
{
    if (n != 3 && !(n == 4 && name[3] == '.'))
        return find(months_days, name, ret);
    for (const struct word *w = months_days; w->name; w++)
        if (strncmp(w->name, name, 3) == 0) {
            *ret = (struct dp_token){.kind = w->kind, .value = w->value};
            return true;
        }
    return false;
}

/* The letters of the alphabet but J: A to M are east, N to Y west, Z is none. */
static bool find_military(char ch, struct dp_token *ret)
{
    static const char east[] = "ABCDEFGHIKLM", west[] = "NOPQRSTUVWXY";
    const char *p = ch ? strchr(east, ch) : NULL;
    *ret = (struct dp_token){.kind = DP_ZONE};
    if (p) {
        ret->value = HOURS((int)(p - east) + 1);
        return true;
    }
    p = ch ? strchr(west, ch) : NULL;
    if (p) {
        ret->value = -HOURS((int)(p - west) + 1);
        ret->kind = ch == 'T' ? DP_T : DP_ZONE;
        return true;
    }
    return ch == 'Z';
}

/* @word is upper case and is changed. */
static struct dp_token word_token(const struct dp_local *local, char *word)
{
    struct dp_token t = {.kind = DP_BAD};
    size_t n = strlen(word);
    if (find(meridians, word, &t) || find_month_day(word, n, &t) || find_zone(local, word, &t))
        return t;
    if (strcmp(word, "DST") == 0)
        return (struct dp_token){.kind = DP_DST};
    if (find(units, word, &t))
        return t;
    if (word[n - 1] == 'S') {
        word[n - 1] = 0;
        if (find(units, word, &t))
            return t;
        word[n - 1] = 'S';
    }
    if (find(relatives, word, &t) || (n == 1 && find_military(word[0], &t)))
        return t;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (word[i] != '.')
            word[k++] = word[i];
    word[k] = 0;
    if (k < n && find_zone(local, word, &t))
        return t;
    return (struct dp_token){.kind = DP_BAD};
}

/* The digits behind a point or comma at *p: nanoseconds, cut towards minus infinity. */
static int32_t fraction(const char **p, bool negative)
{
    const char *s = *p;
    int32_t ns = 0;
    for (int i = 0; i < 9; i++) {
        ns *= 10;
        if (isdigit((unsigned char)*s))
            ns += *s++ - '0';
    }
    bool rest = false;
    for (; isdigit((unsigned char)*s); s++)
        rest |= *s != '0';
    *p = s;
    return ns + (negative && rest);
}

/* A number whose first digit is at *p. @sign: '+', '-' or 0. */
static struct dp_token number_token(const char **p, char sign)
{
    const char *s = *p;
    struct dp_token t = {.kind = sign ? DP_SIGNED : DP_UNSIGNED, .negative = sign == '-'};
    for (; isdigit((unsigned char)*s); s++) {
        int d = t.negative ? '0' - *s : *s - '0';
        if (__builtin_mul_overflow(t.value, 10, &t.value) || __builtin_add_overflow(t.value, d, &t.value))
            return (struct dp_token){.kind = DP_BAD};
    }
    t.digits = (size_t)(s - *p);
    if ((*s == '.' || *s == ',') && isdigit((unsigned char)s[1])) {
        s++;
        t.kind = sign ? DP_SDECIMAL : DP_UDECIMAL;
        t.ns = fraction(&s, t.negative);
        if (t.negative && t.ns > 0) {
            if (__builtin_sub_overflow(t.value, 1, &t.value))
                return (struct dp_token){.kind = DP_BAD};
            t.ns = 1000000000 - t.ns;
        }
    }
    *p = s;
    return t;
}

/* Skips a comment in parentheses, which may hold others: false when it does not end. */
static bool comment(const char **p)
{
    size_t depth = 0;
    do {
        char ch = *(*p)++;
        if (ch == 0)
            return false;
        if (ch == '(')
            depth++;
        else if (ch == ')')
            depth--;
    } while (depth > 0);
    return true;
}

struct dp_token dp__lex(const struct dp_local *local, const char **p)
{
    for (;;) {
        while (isspace((unsigned char)**p))
            (*p)++;
        char ch = **p;
        if (isdigit((unsigned char)ch))
            return number_token(p, 0);
        if (ch == '-' || ch == '+') {
            do {
                (*p)++;
            } while (isspace((unsigned char)**p));
            if (isdigit((unsigned char)**p))
                return number_token(p, ch);
        } else if (isalpha((unsigned char)ch)) {
            char word[WORD_MAX];
            size_t n = 0;
            for (; isalpha((unsigned char)**p) || **p == '.'; (*p)++)
                if (n < sizeof word - 1)
                    word[n++] = (char)toupper((unsigned char)**p);
            word[n] = 0;
            return word_token(local, word);
        } else if (ch != '(') {
            if (ch == 0)
                return (struct dp_token){.kind = DP_END};
            (*p)++;
            return (struct dp_token){.kind = DP_CHAR, .value = ch};
        } else if (!comment(p)) {
            (*p)--; /* the NUL, to be found again */
            return (struct dp_token){.kind = DP_END};
        }
    }
}
