/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * tls - the server's certificate and key, which GnuTLS asks for at each handshake. What is read anew holds for
 * connections that begin afterwards; those that are open go on.
 *
 * Threads: one.
 */

struct err;

/* Reads both files (PEM; the certificate first, then those that signed it). -EPERM: the key can be read by others;
 * -EKEYREJECTED: the key is not the certificate's. On failure what was read before stays in use. */
int tls_load(const char *cert_file, const char *key_file, struct err *err);
/* What MHD_OPTION_HTTPS_CERT_CALLBACK wants (a gnutls_certificate_retrieve_function2). */
void *tls_callback(void);
/* Frees, once no connection is left. */
void tls_free(void);
