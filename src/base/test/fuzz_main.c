/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs a fuzz target on every file named, or in every directory named, and on FRONTAL_FUZZ_MUTATE (default 0) changed
 * copies of each. The changes follow FRONTAL_SEED (default 1), so a failure repeats; FRONTAL_FUZZ_SAVE=FILE keeps the
 * input at hand in FILE before each run. For real fuzzing build with -Dfuzz=true, which links libFuzzer instead of this
 * file.
 */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MOST (1u << 20)

/* The target (its name is libFuzzer's). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t state = 1;
static unsigned long n_mutate, n_inputs;
static const char *save;

static uint64_t env_number(const char *name, uint64_t dflt)
{
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : dflt;
}

static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Gives the target a block of exactly @n bytes, so that a sanitizer sees a read of one byte more. */
static void run(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    if (n)
        memcpy(copy, p, n);
    if (save) {
        FILE *f = fopen(save, "we");
        if (f) {
            fwrite(p, 1, n, f);
            fclose(f);
        }
    }
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    n_inputs++;
}

/* One change: flip a bit, set a byte, drop a run, repeat a run, or cut the end. Returns the new length. */
static size_t mutate(uint8_t *p, size_t n)
{
    static const uint8_t odd[] = {0, 0xff, 0x80, '\n', '\\', '\'', '"', '$', '(', ')', '{', '}', '[', ']', '*', '0'};
    if (n == 0) {
        p[0] = odd[next() % sizeof(odd)];
        return 1;
    }
    size_t at = next() % n, len = next() % 16 % (n - at) + 1;
    switch (next() % 5) {
    case 0:
        p[at] = (uint8_t)(p[at] ^ 1u << next() % 8);
        return n;
    case 1:
        p[at] = odd[next() % sizeof(odd)];
        return n;
    case 2:
        memmove(p + at, p + at + len, n - at - len);
        return n - len;
    case 3:
        if (n + len > INPUT_MOST)
            return n;
        memmove(p + at + len, p + at, n - at);
        return n + len;
    default:
        return at;
    }
}

static int run_file(const char *path)
{
    static uint8_t data[INPUT_MOST], work[INPUT_MOST];
    FILE *f = fopen(path, "re");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = fread(data, 1, sizeof(data), f);
    fclose(f);
    run(data, n);
    for (unsigned long i = 0; i < n_mutate; i++) {
        size_t m = n;
        memcpy(work, data, n);
        for (uint64_t k = next() % 4 + 1; k; k--)
            m = mutate(work, m);
        run(work, m);
    }
    return 0;
}

static int run_dir(const char *path)
{
    struct dirent **list;
    int bad = 0, n = scandir(path, &list, NULL, alphasort);
    if (n < 0) {
        perror(path);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char file[4096];
        if (list[i]->d_name[0] != '.') {
            snprintf(file, sizeof(file), "%s/%s", path, list[i]->d_name);
            bad |= run_file(file);
        }
        free(list[i]);
    }
    free(list);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    n_mutate = env_number("FRONTAL_FUZZ_MUTATE", 0);
    state = env_number("FRONTAL_SEED", 1);
    state = state ? state : 1;
    save = getenv("FRONTAL_FUZZ_SAVE");
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            bad |= run_dir(argv[i]);
        else
            bad |= run_file(argv[i]);
    }
    printf("%lu inputs\n", n_inputs);
    if (n_inputs == 0) {
        fprintf(stderr, "%s: no input\n", argv[0]);
        return 2;
    }
    return bad;
}
