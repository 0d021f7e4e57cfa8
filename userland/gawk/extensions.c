/* SPDX-License-Identifier: Apache-2.0 */
/* gawk finds the extension's file in AWKLIBPATH as ever; what it loads then is here. */
#include "dlfcn.h"

#include <stddef.h>
#include <string.h>

/* EXTENSIONS is X(NAME)... of those that are linked in; each was compiled with names of its own for the two symbols. */
#define X(name)                                                                                                        \
    int name##_dl_load(const void *api, void *id);                                                                     \
    extern int name##_gpl;
EXTENSIONS
#undef X

struct extension {
    const char *name;
    int (*load)(const void *api, void *id);
    int *gpl;
};

#define X(name) {#name, name##_dl_load, &name##_gpl},
static struct extension all[] = {EXTENSIONS};
#undef X

void *dlopen(const char *path, int flags)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t n = dot ? (size_t)(dot - base) : strlen(base);
    (void)flags;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strlen(all[i].name) == n && memcmp(all[i].name, base, n) == 0)
            return &all[i];
    return NULL;
}

void *dlsym(void *extension, const char *symbol)
{
    struct extension *e = extension;
    if (strcmp(symbol, "dl_load") == 0)
        return (void *)e->load;
    return strcmp(symbol, "plugin_is_GPL_compatible") == 0 ? e->gpl : NULL;
}

char *dlerror(void)
{
    static char text[] = "only gawk's own extensions are here";
    return text;
}
