/* SPDX-License-Identifier: Apache-2.0 */
#include "server/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "types/errtab.h"

#define CHAIN_MOST 16
#define FILE_MAX (1u << 20)

/* A certificate with its key. A handshake may still use one that another has taken the place of, so they are freed at
 * the end. */
struct tls_pair {
    struct tls_pair *before;
    gnutls_pcert_st chain[CHAIN_MOST];
    unsigned n;
    gnutls_privkey_t key;
};

/* GnuTLS gives its callback no argument of ours. */
static struct tls_pair *in_use;

static int read_pem(const char *path, bool secret, struct buf *out, struct err *err)
{
    struct stat st;
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st))
        return err_set(err, -errno, "'%s': %s", path, errtab_text(errno));
    if (secret && (st.st_mode & 027))
        return err_set(err, -EPERM, "'%s' can be read or written by others (mode %04o): chmod 600 it", path,
                       (unsigned)st.st_mode & 07777);
    int r = fd_read_all(fd, out);
    return r ? err_set(err, r, "'%s': %s", path, errtab_text(r)) : 0;
}

static void pair_free(struct tls_pair *p)
{
    for (unsigned i = 0; i < p->n; i++)
        gnutls_pcert_deinit(&p->chain[i]);
    if (p->key)
        gnutls_privkey_deinit(p->key);
    mem_free(p);
}

/* Whether the key signs what the certificate verifies: their identifiers are of the public key. */
static bool belong(struct tls_pair *p)
{
    uint8_t a[64], b[64];
    size_t na = sizeof(a), nb = sizeof(b);
    gnutls_pubkey_t pub;
    if (gnutls_pubkey_init(&pub))
        return false;
    bool same = gnutls_pubkey_get_key_id(p->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, a, &na) == 0 &&
                gnutls_pubkey_import_privkey(pub, p->key, 0, 0) == 0 &&
                gnutls_pubkey_get_key_id(pub, GNUTLS_KEYID_USE_SHA256, b, &nb) == 0 && na == nb &&
                memcmp(a, b, na) == 0;
    gnutls_pubkey_deinit(pub);
    return same;
}

static int import(struct tls_pair *p, const char *cert_file, const char *key_file, struct err *err)
{
    BUF_AUTO struct buf cert, key;
    buf_init(&cert, FILE_MAX);
    buf_init(&key, FILE_MAX);
    int r = read_pem(cert_file, false, &cert, err);
    if (r == 0)
        r = read_pem(key_file, true, &key, err);
    if (r)
        return r;
    gnutls_datum_t c = {(unsigned char *)cert.p, (unsigned)cert.n}, k = {(unsigned char *)key.p, (unsigned)key.n};
    unsigned n = CHAIN_MOST;
    int e = gnutls_pcert_list_import_x509_raw(p->chain, &n, &c, GNUTLS_X509_FMT_PEM,
                                              GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
    if (e < 0)
        return err_set(err, -EINVAL, "'%s' has no certificates (PEM): %s", cert_file, gnutls_strerror(e));
    p->n = n;
    e = gnutls_privkey_init(&p->key);
    if (e == 0)
        e = gnutls_privkey_import_x509_raw(p->key, &k, GNUTLS_X509_FMT_PEM, NULL, 0);
    explicit_bzero(key.p, key.n);
    if (e < 0)
        return err_set(err, -EINVAL, "'%s' has no key (PEM, without a passphrase): %s", key_file, gnutls_strerror(e));
    if (n == 0 || !belong(p))
        return err_set(err, -EKEYREJECTED, "the key of '%s' is not that of the certificate in '%s'", key_file,
                       cert_file);
    return 0;
}

int tls_load(const char *cert_file, const char *key_file, struct err *err)
{
    struct tls_pair *p = mem_zalloc(sizeof(*p));
    int r = import(p, cert_file, key_file, err);
    if (r) {
        pair_free(p);
        return r;
    }
    p->before = in_use;
    in_use = p;
    return 0;
}

static int retrieve(gnutls_session_t session, const gnutls_datum_t *names, int n_names,
                    const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **ret_chain,
                    unsigned *ret_n, gnutls_privkey_t *ret_key)
{
    (void)session, (void)names, (void)n_names, (void)algorithms, (void)n_algorithms;
    *ret_chain = in_use->chain;
    *ret_n = in_use->n;
    *ret_key = in_use->key;
    return 0;
}

void *tls_callback(void)
{
    const union {
        gnutls_certificate_retrieve_function2 *function;
        void *pointer; /* POSIX has both of one size */
    } u = {retrieve};
    return u.pointer;
}

void tls_free(void)
{
    while (in_use) {
        struct tls_pair *p = in_use;
        in_use = p->before;
        pair_free(p);
    }
}
