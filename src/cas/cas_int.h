/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cas_int - what the files of the store share. docs/internals/store.md gives the formats and the reasons.
 *
 * A store knows packs by struct pack. What a pack's index covers is found through its map; every blob behind that has
 * an entry in the store's table. Blobs that were put and not flushed have an entry too, whose pack is BUFFERED and
 * whose offset is one in the write buffer.
 *
 * The store's memory is charged to no account: it outlives the commands that put into it.
 */

#include "base/map.h"
#include "base/mem.h"
#include "cas/store.h"

#include <sys/types.h>
#include <sys/uio.h>

#define STORE_VERSION 1u
#define FORMAT "frontal-cas 1\n" /* the file "lock" begins so; behind it stands what hold.c says */
#define FORMAT_SIZE (sizeof(FORMAT) - 1)
#define HEAD_SIZE 64u /* of a pack, a log, an index, a record and an entry of a log */
#define FANOUT_SIZE 1024u
#define ENTRY_SIZE 48u         /* of an index */
#ifndef PACK_BYTES             /* a test makes a store of small packs */
#define PACK_BYTES (64u << 20) /* a pack that has so many is full */
#define PACK_BLOBS 32768u      /* or so many */
#define LOG_BLOBS 1024u        /* so many or an eighth of those indexed, and the index is written anew at a sync */
#define BUFFER_SIZE (256u << 10)
#endif
#define LOG_WRITE 4096u /* so many bytes of the log are written at once: until then blobs are found in the pack */
#define BUFFERED UINT32_MAX
#define OPEN_PACKS 64u     /* descriptors kept */
#define COLLECTED_TRIES 64 /* looks at packs of which some are collected meanwhile, some at a time */

/* ---- io.c: every system call. Errors are negative errno; EINTR is never seen ---- */

enum cas_ext { EXT_PACK, EXT_LOG, EXT_INDEX, EXT_TMP };

/* Opens @name below @dir, close-on-exec, not through a symlink: a descriptor or an error. */
int cas__open_at(int dir, const char *name, int flags);
/* Opens the file of the pack @num. */
int cas__open(int dir, uint32_t num, enum cas_ext ext, int flags);
/* Removes such a file; one that is not there is no error. */
int cas__unlink(int dir, uint32_t num, enum cas_ext ext);
/* Renames a file of @num from one extension to another. */
int cas__rename(int dir, uint32_t num, enum cas_ext from, enum cas_ext to);
/* The size of such a file, or an error. */
int64_t cas__size_at(int dir, uint32_t num, enum cas_ext ext);
/* Makes a directory; one that is there is no error. */
int cas__mkdir(int dir, const char *name);
/* Reads @n bytes at @off, fewer only at the end of the file. */
ssize_t cas__pread(int fd, void *p, size_t n, uint64_t off);
/* Writes both pieces at @off: how many bytes are written, and in *ret_err why not all (0 when all are). */
size_t cas__pwrite(int fd, struct str a, struct str b, uint64_t off, int *ret_err);
/* The size of a file, or an error. */
int64_t cas__size(int fd);
/* Cuts a file. */
int cas__truncate(int fd, uint64_t n);
/* Waits until the content is on the disk. */
int cas__sync_file(int fd);
/* Waits until the names of a directory are. */
int cas__sync_dir(int fd);
/* flock(2): 0, -EWOULDBLOCK, or an error. */
int cas__lock(int fd, int how);
/* Maps a file for reading, or an error. */
int cas__map(int fd, size_t n, const uint8_t **ret);
/* Takes the map away. */
void cas__unmap(const uint8_t *p, size_t n);
/* Calls @fn for each file that belongs to a pack, until it returns non-zero. */
int cas__list(int dir, int (*fn)(void *arg, uint32_t num, enum cas_ext ext), void *arg);
/* Eight random bytes. */
uint64_t cas__random(void);

/* ---- format.c: bytes and structs ---- */

/* What a record's header says. */
struct rec {
    struct cas_id id;
    uint32_t stored, raw; /* bytes in the pack, bytes of the blob */
    uint64_t sum;         /* of the stored bytes */
};

enum log_kind { LOG_BLOB = 1, LOG_SYNCED = 2 };

/* An entry of a log: a blob, or (with only @off) how far the pack is on the disk. */
struct log_entry {
    enum log_kind kind;
    struct cas_id id;
    uint64_t off;
    uint32_t stored, raw;
};

struct index_head {
    uint64_t uid, pack_size, raw, sum;
    uint32_t count;
    bool final; /* the pack gets no more */
};

/* XXH64. */
uint64_t cas__sum(const void *p, size_t n, uint64_t seed);
/* Whether lengths can be those of a blob. */
bool cas__lengths_ok(uint32_t stored, uint32_t raw);
/* A record's header but for the sum over it, which needs to know the place: cas__rec_seal(). */
void cas__rec_put(uint8_t p[HEAD_SIZE], const struct rec *r);
/* @place is the pack's uid + the record's offset. */
void cas__rec_seal(uint8_t p[HEAD_SIZE], uint64_t place);
/* Reads a record's header: false when it is none at this place. */
bool cas__rec_get(const uint8_t p[HEAD_SIZE], uint64_t place, struct rec *ret);
/* The bytes that every record begins with. */
extern const char cas__rec_magic[4];
/* The head of a pack or a log. */
void cas__head_put(uint8_t p[HEAD_SIZE], enum cas_ext ext, uint64_t uid);
/* 0, -EINVAL for a newer version, -EIO for what is none. */
int cas__head_get(const uint8_t p[HEAD_SIZE], enum cas_ext ext, uint64_t *ret_uid);
/* @place is the pack's uid + the entry's offset in the log. */
void cas__log_put(uint8_t p[HEAD_SIZE], const struct log_entry *e, uint64_t place);
/* See cas__log_put(); false when it is none. */
bool cas__log_get(const uint8_t p[HEAD_SIZE], uint64_t place, struct log_entry *ret);
/* The head of an index. */
void cas__index_put(uint8_t p[HEAD_SIZE], const struct index_head *h);
/* As cas__head_get(). */
int cas__index_get(const uint8_t p[HEAD_SIZE], struct index_head *ret);
/* Little-endian numbers. */
void cas__put32(uint8_t *p, uint32_t v);
/* See cas__put32(). */
void cas__put64(uint8_t *p, uint64_t v);
/* See cas__put32(). */
uint32_t cas__get32(const uint8_t *p);
/* See cas__put32(). */
uint64_t cas__get64(const uint8_t *p);

/* ---- table.c: blobs that no mapped index knows ---- */

struct entry {
    struct cas_id id;
    uint64_t off;
    uint32_t stored, raw;
    uint32_t pack; /* index into store.packs, or BUFFERED */
    bool whole;    /* its bytes in the pack were written or looked at by this handle */
};

struct table {
    struct entry *e; /* dense, in the order in which they came; the same id may be there more than once */
    uint32_t n, cap;
    uint32_t *slots; /* index + 1 into e, 0 empty; at most half full */
    uint32_t n_slots;
    uint64_t seed;
};

/* Frees; usable after. */
void cas__table_done(struct table *t);
/* Makes room for @n more entries: 0 or -ENOMEM. */
int cas__table_reserve(struct table *t, uint32_t n);
/* Adds to a table that has room. Returns the entry's index. */
uint32_t cas__table_add(struct table *t, const struct entry *e);
/* The next entry of @id; *pos is 0 at first. */
struct entry *cas__table_next(const struct table *t, const struct cas_id *id, uint32_t *pos);
/* Removes the entries of a pack below the offset @end. */
void cas__table_drop(struct table *t, uint32_t pack, uint64_t end);

/* ---- packs ---- */

struct pack {
    uint32_t num;   /* its name */
    uint32_t index; /* its place in store.packs */
    uint64_t uid;   /* random: its records and index belong to it and no other */
    int fd;         /* -1 while not open */
    uint64_t used;  /* counts up; for the choice of what to close */

    /* What the last listing found. */
    bool has_pack, has_index;

    /* The index, if there is one. */
    const uint8_t *map;
    size_t map_size;
    uint32_t count;   /* blobs in it */
    uint64_t indexed; /* the pack up to here */
    bool sealed;      /* that is all, and it never gets more */

    /* Not sealed. Up to @end every record is in the index or in the table. */
    uint64_t end, size;
    uint64_t log_end;    /* of what was understood of the log */
    uint64_t logged;     /* the pack up to here is in the index or the log */
    uint64_t synced;     /* on the disk up to here, index or log say */
    uint32_t blobs;      /* in the table */
    bool leased;         /* this handle holds the lock, the descriptor writes */
    bool dirty;          /* has what cas_sync() must wait for */
    bool broken;         /* has a damaged stretch between records: not written to */
    bool suspect;        /* a sync of it failed: not relied on */
    bool closed;         /* gc copies what is marked of it, and removes it */
    bool listed;         /* was there at the last look */
    uint64_t lease_from; /* records from here on are this handle's */
};

struct cas {
    int dir, packs_dir, lock;
    int flags;
    bool loaded;
    bool held;          /* blobs may be counted on that nothing names yet */
    bool barred;        /* no collection may be at work */
    bool vanished;      /* a pack was not there any more when it was to be opened */
    uint32_t gc_count;  /* the last collection that was heard of */
    uint32_t condemned; /* packs up to this number are being collected: not written to, nor counted on; 0: none */
    int missing;        /* why the last look did not see everything, or 0 */
    struct pack **packs;
    uint32_t n_packs, cap_packs;
    struct map by_num;
    struct table table;
    struct pack *cur; /* the leased pack that is written to, or NULL */
    struct pack *awaited; /* cas_sync_begin() */
    uint64_t awaited_end;
    uint64_t clock;   /* for pack.used */
    uint32_t n_open;
    struct mem_account *caller; /* whose memory the output of cas_get() is */

    uint8_t *buffer; /* records that are not flushed */
    size_t buffered;
    bool walking;      /* the table is being walked: nothing is sealed */
    uint32_t *pending; /* their entries, in order */
    uint32_t n_pending;
    int log_fd;     /* of @cur, or -1 */
    bool log_off;   /* writing it failed: no more until the next lease, the pack says the same */
    struct buf log; /* entries that are not in the log of @cur */

    uint8_t *scratch;
    size_t scratch_cap;
    void *cctx, *dctx; /* of zstd, made when first needed */
    uint64_t put_blobs, put_bytes, put_stored;
};

/* Where a blob is: an entry of the table, or of a sealed pack's index. */
struct place {
    struct entry *e;   /* NULL when in an index */
    struct pack *pack; /* NULL when buffered */
    uint64_t off;
    uint32_t stored, raw;
};

/* A walk over all places of one id. */
struct walk {
    const struct cas_id *id;
    uint32_t table_pos;
    uint32_t packs_left;
};

/* Memory is the store's while a variable of this is in scope. */
static inline void cas__account_back(struct mem_account **acc)
{
    mem_use(*acc);
}
#define OWN_MEMORY __attribute__((cleanup(cas__account_back), unused)) struct mem_account *own_memory_ = mem_use(NULL)

/* ---- read.c: records ---- */

/* At least @n bytes of scratch memory, or NULL. */
uint8_t *cas__scratch(struct cas *c, size_t n);
/* Opens a pack for reading if it is not open; its descriptor, or an error. */
int cas__pack_fd(struct cas *c, struct pack *p);
/* Closes it; a lease ends. */
void cas__pack_close(struct cas *c, struct pack *p);
/* Reads the record at @w and checks header and sum of the stored bytes: a pointer to the record, valid until the
 * scratch memory is used again. -EIO when it is not @id's. @full: the sum over the stored bytes too. */
int cas__read(struct cas *c, const struct cas_id *id, const struct place *w, bool full, const uint8_t **ret);
/* Appends the blob of a record. -EIO when its content has another name. */
int cas__unpack(struct cas *c, const struct cas_id *id, const uint8_t *record, uint32_t stored, uint32_t raw,
                struct buf *out);
/* Compresses into @dst, which has room for @data. Returns the bytes to store; the same as @data.n when not worth it. */
uint32_t cas__compress(struct cas *c, struct str data, uint8_t *dst);

/* A walk over the records of a pack, damaged or not. */
enum scan_kind { SCAN_END, SCAN_RECORD, SCAN_BAD_BODY, SCAN_BAD };

struct scan {
    int fd;
    uint64_t uid, next, end;
    uint8_t *p; /* a window on the file */
    size_t cap, n;
    uint64_t base;
    /* What was found. */
    uint64_t off, len; /* of the record, header included, or of the stretch */
    struct rec rec;
    const uint8_t *body; /* of a record, valid until the next step */
};

/* Starts between the offsets @from and @end of a pack. */
void cas__scan_init(struct scan *s, int fd, uint64_t uid, uint64_t from, uint64_t end);
/* The next thing: a kind, or an error. SCAN_BAD_BODY: the header stands, the bytes do not. */
int cas__scan_next(struct scan *s);
/* Frees. */
void cas__scan_done(struct scan *s);

/* ---- index.c: logs, sealed indexes, looking up ---- */

/* Looks which packs there are and what is new in those not sealed. Sets c->missing. 0, or an error of the listing. */
int cas__refresh(struct cas *c);
/* cas__refresh() when it was never done. */
int cas__load(struct cas *c);
/* Adds a pack to those known: it, or NULL without memory. */
struct pack *cas__pack_add(struct cas *c, uint32_t num);
/* Reads what is new in the log and at the end of a pack that is not sealed. *ret_torn (may be NULL): whether bytes
 * behind the last record are none. */
int cas__catch_up(struct cas *c, struct pack *p, bool *ret_torn);
/* Adds an entry to the table for a record of @p. 0 or -ENOMEM. */
int cas__note(struct cas *c, struct pack *p, const struct entry *e);
/* Maps and checks the index: 0, -EIO when it is damaged, or an error. */
int cas__map_index(struct cas *c, struct pack *p);
/* Starts a walk. */
struct walk cas__walk(const struct cas *c, const struct cas_id *id);
/* The next place where @w's blob is said to be. */
bool cas__walk_next(struct cas *c, struct walk *w, struct place *ret);
/* The i-th entry of a mapped index. */
void cas__index_entry(const struct pack *p, uint32_t i, struct cas_id *id, struct place *ret);
/* How many blobs of an index have ids that begin with at most @first. */
uint32_t cas__fanout(const struct pack *p, unsigned first);
/* Writes the index of a leased pack that is wholly on the disk; @final ends the lease. */
int cas__index(struct cas *c, struct pack *p, bool final);
/* Makes the bytes of an index over entries of one pack, which it sorts; of @h the counts and the sum are set. */
int cas__index_build(struct entry *e, uint32_t n, struct index_head *h, uint8_t **ret, size_t *ret_n);
/* Puts such bytes in the place of the index of @num; its log goes. */
int cas__index_write(struct cas *c, uint32_t num, const uint8_t *p, size_t n);
/* Ends the map of an index. */
void cas__unmap_index(struct pack *p);

/* ---- hold.c: writers beside a collection ---- */

/* cas_hold(). */
int cas__hold(struct cas *c);
/* The two halves of cas_sync_begin(). */
int cas__sync_begin(struct cas *c, int *ret_fd);
/* See cas__sync_begin(). */
int cas__sync_end(struct cas *c, int result);
/* cas_release(). */
int cas__release(struct cas *c);
/* Hears of collections since the last time. *ret_give_way: one waits for holds to end. */
int cas__heed(struct cas *c, bool *ret_give_way);
/* Ends cas_bar_gc(). */
void cas__unbar(struct cas *c);
/* Begins a collection: it is the only one, and all packs up to c->condemned are neither written to nor counted on by
 * anybody until cas__pardon(). -EBUSY after @wait_ms. */
int cas__condemn(struct cas *c, int wait_ms, struct err *err);
/* Ends it. */
void cas__pardon(struct cas *c);

/* ---- write.c ---- */

/* Makes the file of a pack whose number is above @num and all others: 0 or an error. */
int cas__pack_make(struct cas *c, uint32_t num, struct pack **ret);
/* Ends writing to the pack that is written to, and writes no more of its log. */
void cas__forget_log(struct cas *c);

/* Whether a pack takes no more. */
bool cas__pack_full(const struct pack *p);
/* Adds a blob, compressed if it pays. */
int cas__append(struct cas *c, const struct cas_id *id, struct str data);
/* Adds a record as it is stored elsewhere. */
int cas__append_record(struct cas *c, const struct rec *r, const uint8_t *body);
/* Tries to become the writer of a pack: 0, -EBUSY when it is not to be had, or an error. */
int cas__lease(struct cas *c, struct pack *p);
/* cas_flush(). */
int cas__flush(struct cas *c);
/* cas_sync(). */
int cas__sync(struct cas *c);
/* Ends writing to the pack that is written to; its lease stays. */
void cas__stop_writing(struct cas *c);
/* The last flush of a handle. */
void cas__leave(struct cas *c);
/* Whether a blob is there and may be relied on: then it need not be put. */
bool cas__present(struct cas *c, const struct cas_id *id);
