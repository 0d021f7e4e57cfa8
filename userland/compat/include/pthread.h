/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * One thread. Locks are free, keys hold one value each, a thread cannot be made (EAGAIN). Inline, so that a program
 * pays nothing for them.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

typedef unsigned long compat_pthread_t;
typedef struct {
    int unused;
} compat_pthread_obj;
#define pthread_t compat_pthread_t
#define pthread_mutex_t compat_pthread_obj
#define pthread_mutexattr_t compat_pthread_obj
#define pthread_cond_t compat_pthread_obj
#define pthread_condattr_t compat_pthread_obj
#define pthread_attr_t compat_pthread_obj
#define pthread_rwlock_t compat_pthread_obj
#define pthread_rwlockattr_t compat_pthread_obj
#define pthread_spinlock_t compat_pthread_obj
typedef unsigned compat_pthread_key;
#define pthread_key_t compat_pthread_key
typedef int compat_pthread_once_t;
#define pthread_once_t compat_pthread_once_t

#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}
#define PTHREAD_RWLOCK_INITIALIZER {0}
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define COMPAT_PTHREAD_KEYS 64

#ifdef __cplusplus
extern "C" {
#endif

extern void *compat_pthread_values[COMPAT_PTHREAD_KEYS];
extern unsigned compat_pthread_n_keys;

static inline int pthread_once(pthread_once_t *once, void (*fn)(void))
{
    if (!*once) {
        *once = 1;
        fn();
    }
    return 0;
}

static inline int pthread_key_create(pthread_key_t *key, void (*done)(void *))
{
    (void)done;
    if (compat_pthread_n_keys == COMPAT_PTHREAD_KEYS)
        return EAGAIN;
    *key = compat_pthread_n_keys++;
    return 0;
}

static inline int pthread_key_delete(pthread_key_t key)
{
    (void)key;
    return 0;
}

static inline void *pthread_getspecific(pthread_key_t key)
{
    return compat_pthread_values[key];
}

static inline int pthread_setspecific(pthread_key_t key, const void *value)
{
    compat_pthread_values[key] = (void *)value;
    return 0;
}

static inline pthread_t pthread_self(void)
{
    return 1;
}

static inline int pthread_equal(pthread_t a, pthread_t b)
{
    (void)a, (void)b;
    return 1;
}

static inline int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    (void)t, (void)a, (void)fn, (void)arg;
    return EAGAIN;
}

static inline int pthread_join(pthread_t t, void **ret)
{
    (void)t, (void)ret;
    return EINVAL;
}

static inline int pthread_detach(pthread_t t)
{
    (void)t;
    return EINVAL;
}

static inline int pthread_kill(pthread_t t, int sig)
{
    (void)t, (void)sig;
    return EINVAL;
}

static inline int pthread_setcancelstate(int state, int *old)
{
    (void)state, (void)old;
    return 0;
}

static inline int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare, (void)parent, (void)child;
    return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *o, const pthread_mutexattr_t *a)
{
    (void)o, (void)a;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_rwlock_init(pthread_rwlock_t *o, const pthread_rwlockattr_t *a)
{
    (void)o, (void)a;
    return 0;
}

static inline int pthread_rwlock_destroy(pthread_rwlock_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_rwlock_rdlock(pthread_rwlock_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_rwlock_wrlock(pthread_rwlock_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_rwlock_tryrdlock(pthread_rwlock_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_rwlock_trywrlock(pthread_rwlock_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_rwlock_unlock(pthread_rwlock_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *o, const pthread_condattr_t *a)
{
    (void)o, (void)a;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_mutexattr_init(pthread_mutexattr_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_mutexattr_destroy(pthread_mutexattr_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_mutexattr_settype(pthread_mutexattr_t *o, int v)
{
    (void)o, (void)v;
    return 0;
}

static inline int pthread_mutexattr_setpshared(pthread_mutexattr_t *o, int v)
{
    (void)o, (void)v;
    return 0;
}

static inline int pthread_condattr_init(pthread_condattr_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_condattr_destroy(pthread_condattr_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_condattr_setclock(pthread_condattr_t *o, int v)
{
    (void)o, (void)v;
    return 0;
}

static inline int pthread_attr_init(pthread_attr_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_attr_destroy(pthread_attr_t *o)
{
    (void)o;
    return 0;
}

static inline int pthread_attr_setdetachstate(pthread_attr_t *o, int v)
{
    (void)o, (void)v;
    return 0;
}

static inline int pthread_attr_setstacksize(pthread_attr_t *o, size_t v)
{
    (void)o, (void)v;
    return 0;
}

/* Nobody else could wake the waiter. */
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    (void)c, (void)m;
    return EDEADLK;
}

static inline int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    (void)c, (void)m, (void)t;
    return ETIMEDOUT;
}

#ifdef __cplusplus
}
#endif
