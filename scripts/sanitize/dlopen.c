/* AddressSanitizer refuses RTLD_DEEPBIND, which PHP loads extensions with: it goes here. */
#define _GNU_SOURCE
#include <dlfcn.h>

void *dlopen(const char *path, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
    return next(path, flags & ~RTLD_DEEPBIND);
}
