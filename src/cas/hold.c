/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>
#include <sys/file.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/num.h"

/*
 * Writers beside a garbage collection. Two locks of flock(2), and what is said in the file "lock":
 *
 *   on "lock"   shared: counts on blobs that nothing names yet (a hold). Exclusive: a collection begins; for moments.
 *   on "packs"  exclusive: a collection is at work. Shared: none may be.
 *
 * A collection condemns all packs there are while nobody holds. So each hold is wholly before that, and what it put is
 * named when marking begins; or wholly after it, and puts nothing into the condemned packs and counts on none of them.
 * flock(2) is not fair: while a collection waits to begin it says so, and new holds give way for a while.
 */

#define LOCK_PAUSE CLOCK_MS /* between two tries */
#define GIVE_WAY_MS 100     /* longest that a hold waits for a collection that waits for other holds */

/* What the last collection said of itself. */
struct said {
    unsigned count; /* of collections there were */
    unsigned last;  /* pack that this one condemned */
    char waits;     /* 'w' while the next one wants to begin, else '-' */
};
#define SAID_FORMAT "%08x %08x %c\n"
#define SAID_SIZE 20u

/* Waits for a lock for at most @wait_ms: 0, -EBUSY, or an error. */
static int lock_within(int fd, int how, int wait_ms)
{
    int64_t until = clock_mono() + wait_ms * CLOCK_MS;
    for (;;) {
        int r = cas__lock(fd, how | LOCK_NB);
        if (r != -EWOULDBLOCK)
            return r;
        if (clock_mono() >= until)
            return -EBUSY;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
    }
}

/* Zeros when there was none, or only a part of it can be read. */
static int read_said(const struct cas *c, struct said *ret)
{
    char text[SAID_SIZE + 1] = "";
    *ret = (struct said){.waits = '-'};
    ssize_t n = cas__pread(c->lock, text, SAID_SIZE, FORMAT_SIZE);
    if (n == SAID_SIZE && sscanf(text, "%8x %8x %c", &ret->count, &ret->last, &ret->waits) != 3)
        *ret = (struct said){.waits = '-'};
    return n < 0 ? (int)n : 0;
}

static int say(const struct cas *c, const struct said *s)
{
    char text[SAID_SIZE + 1];
    int r;
    snprintf(text, sizeof(text), SAID_FORMAT, s->count, s->last, s->waits);
    cas__pwrite(c->lock, str_of(text, SAID_SIZE), str_of(NULL, 0), FORMAT_SIZE, &r);
    return r;
}

/* Gives up the leases of condemned packs. Their logs are not written any more: the packs say the same. */
static void leave_condemned(struct cas *c)
{
    if (c->cur && c->cur->num <= c->condemned)
        cas__forget_log(c);
    for (uint32_t i = 0; i < c->n_packs; i++) {
        if (c->packs[i]->leased && c->packs[i]->num <= c->condemned)
            cas__pack_close(c, c->packs[i]);
    }
}

int cas__heed(struct cas *c, bool *ret_give_way)
{
    struct said s;
    int r = read_said(c, &s);
    *ret_give_way = false;
    if (r < 0 || (s.count == c->gc_count && c->condemned == 0 && s.waits != 'w'))
        return r;
    /* Whoever collected may have been killed: its lock says whether it is still at work. */
    r = c->barred ? 0 : cas__lock(c->packs_dir, LOCK_SH | LOCK_NB);
    if (r < 0 && r != -EWOULDBLOCK)
        return r;
    if (r == 0 && !c->barred)
        (void)cas__lock(c->packs_dir, LOCK_UN);
    *ret_give_way = r < 0 && s.waits == 'w';
    if (s.count == c->gc_count && c->condemned == 0)
        return 0;
    bool over = r == 0 || s.waits == 'w';
    c->gc_count = s.count;
    c->condemned = over ? 0 : s.last;
    leave_condemned(c);
    /* Packs that were known may be gone. */
    return over && c->loaded ? cas__refresh(c) : 0;
}

int cas__hold(struct cas *c)
{
    int64_t until = 0;
    bool give_way = false;
    while (!c->held) {
        int r = cas__lock(c->lock, LOCK_SH);
        if (r < 0)
            return r;
        r = cas__heed(c, &give_way);
        if (r == 0 && give_way && until == 0)
            until = clock_mono() + GIVE_WAY_MS * CLOCK_MS;
        c->held = r == 0 && (!give_way || clock_mono() >= until);
        if (!c->held)
            (void)cas__lock(c->lock, LOCK_UN);
        if (r < 0)
            return r;
        if (!c->held)
            nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
    }
    return 0;
}

int cas__release(struct cas *c)
{
    if (!c->held)
        return 0;
    int r = cas__flush(c);
    if (r < 0)
        return r;
    (void)cas__lock(c->lock, LOCK_UN);
    c->held = false;
    return 0;
}

int cas_hold(struct cas *c)
{
    OWN_MEMORY;
    return c->flags & CAS_WRITE ? cas__hold(c) : -EROFS;
}

int cas_release(struct cas *c)
{
    OWN_MEMORY;
    return cas__release(c);
}

bool cas_held(const struct cas *c)
{
    return c->held;
}

int cas_bar_gc(struct cas *c, int wait_ms, struct err *err)
{
    int r = c->barred ? 0 : lock_within(c->packs_dir, LOCK_SH, wait_ms);
    c->barred |= r == 0;
    return r == -EBUSY ? err_set(err, r, "a garbage collection is at work: try again when it is done")
           : r < 0     ? err_set(err, r, "the store's packs cannot be locked")
                       : 0;
}

void cas__unbar(struct cas *c)
{
    if (c->barred)
        (void)cas__lock(c->packs_dir, LOCK_UN);
    c->barred = false;
}

/* ---- the collection's side ---- */

/* Whether @p has nothing that could be condemned. */
static bool is_blank(const struct pack *p)
{
    return p->has_pack && !p->map && p->size <= HEAD_SIZE;
}

/* With nobody holding: all packs but a last one, which is blank. It stays, so that numbers never fall while somebody
 * may know the pack that had one. */
static int condemn(struct cas *c)
{
    struct pack *last = NULL;
    struct said s;
    int r = cas__refresh(c);
    /* What cannot be seen cannot be told from what is not there. */
    if (r == 0)
        r = c->missing;
    if (r == 0)
        r = read_said(c, &s);
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        if (!last || c->packs[i]->num > last->num)
            last = c->packs[i];
    }
    if (r == 0 && (!last || !is_blank(last)))
        r = cas__pack_make(c, last ? last->num : 0, &last);
    if (r < 0)
        return r;
    s = (struct said){.count = s.count + 1, .last = last->num - 1, .waits = '-'};
    r = say(c, &s);
    if (r < 0)
        return r;
    c->gc_count = s.count;
    c->condemned = s.last;
    leave_condemned(c);
    return 0;
}

/* Says that a collection waits to begin, or that it gave up. Nothing depends on it. */
static void say_waits(struct cas *c, char waits)
{
    struct said s;
    if (read_said(c, &s) < 0 || s.waits == waits)
        return;
    s.waits = waits;
    (void)say(c, &s);
}

int cas__condemn(struct cas *c, int wait_ms, struct err *err)
{
    int r = lock_within(c->packs_dir, LOCK_EX, wait_ms);
    if (r < 0)
        return r == -EBUSY ? err_set(err, r, "another process collects or checks the store: try again when it is done")
                           : err_set(err, r, "the store's packs cannot be locked");
    say_waits(c, 'w');
    r = lock_within(c->lock, LOCK_EX, wait_ms);
    if (r < 0)
        say_waits(c, '-');
    if (r == -EBUSY)
        err_set(err, r, "something has been writing all the time, and what it writes nothing names yet: try again");
    else if (r < 0 || (r = condemn(c)) < 0)
        err_set(err, r, "the store cannot be made ready");
    /* It holds as any writer does: nobody but another collection would mind, and there is none. */
    if (r == 0)
        r = cas__lock(c->lock, LOCK_SH);
    c->held = r == 0;
    if (r < 0) {
        (void)cas__lock(c->lock, LOCK_UN);
        cas__pardon(c);
    }
    return r;
}

void cas__pardon(struct cas *c)
{
    c->condemned = 0;
    (void)cas__release(c);
    (void)cas__lock(c->packs_dir, LOCK_UN);
}
