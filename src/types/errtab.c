/* SPDX-License-Identifier: Apache-2.0 */
#include "types/errtab.h"

#include <errno.h>
#include <stddef.h>

static const struct {
    const char *name;
    const char *text;
} table[] = {
    [EPERM] = {"EPERM", "Operation not permitted"},
    [ENOENT] = {"ENOENT", "No such file or directory"},
    [ESRCH] = {"ESRCH", "No such process"},
    [EINTR] = {"EINTR", "Interrupted system call"},
    [EIO] = {"EIO", "Input/output error"},
    [ENXIO] = {"ENXIO", "No such device or address"},
    [E2BIG] = {"E2BIG", "Argument list too long"},
    [ENOEXEC] = {"ENOEXEC", "Exec format error"},
    [EBADF] = {"EBADF", "Bad file descriptor"},
    [ECHILD] = {"ECHILD", "No child processes"},
    [EAGAIN] = {"EAGAIN", "Resource temporarily unavailable"},
    [ENOMEM] = {"ENOMEM", "Cannot allocate memory"},
    [EACCES] = {"EACCES", "Permission denied"},
    [EFAULT] = {"EFAULT", "Bad address"},
    [ENOTBLK] = {"ENOTBLK", "Block device required"},
    [EBUSY] = {"EBUSY", "Device or resource busy"},
    [EEXIST] = {"EEXIST", "File exists"},
    [EXDEV] = {"EXDEV", "Invalid cross-device link"},
    [ENODEV] = {"ENODEV", "No such device"},
    [ENOTDIR] = {"ENOTDIR", "Not a directory"},
    [EISDIR] = {"EISDIR", "Is a directory"},
    [EINVAL] = {"EINVAL", "Invalid argument"},
    [ENFILE] = {"ENFILE", "Too many open files in system"},
    [EMFILE] = {"EMFILE", "Too many open files"},
    [ENOTTY] = {"ENOTTY", "Inappropriate ioctl for device"},
    [ETXTBSY] = {"ETXTBSY", "Text file busy"},
    [EFBIG] = {"EFBIG", "File too large"},
    [ENOSPC] = {"ENOSPC", "No space left on device"},
    [ESPIPE] = {"ESPIPE", "Illegal seek"},
    [EROFS] = {"EROFS", "Read-only file system"},
    [EMLINK] = {"EMLINK", "Too many links"},
    [EPIPE] = {"EPIPE", "Broken pipe"},
    [EDOM] = {"EDOM", "Numerical argument out of domain"},
    [ERANGE] = {"ERANGE", "Numerical result out of range"},
    [EDEADLK] = {"EDEADLK", "Resource deadlock avoided"},
    [ENAMETOOLONG] = {"ENAMETOOLONG", "File name too long"},
    [ENOLCK] = {"ENOLCK", "No locks available"},
    [ENOSYS] = {"ENOSYS", "Function not implemented"},
    [ENOTEMPTY] = {"ENOTEMPTY", "Directory not empty"},
    [ELOOP] = {"ELOOP", "Too many levels of symbolic links"},
    [ENOMSG] = {"ENOMSG", "No message of desired type"},
    [EIDRM] = {"EIDRM", "Identifier removed"},
    [ECHRNG] = {"ECHRNG", "Channel number out of range"},
    [EL2NSYNC] = {"EL2NSYNC", "Level 2 not synchronized"},
    [EL3HLT] = {"EL3HLT", "Level 3 halted"},
    [EL3RST] = {"EL3RST", "Level 3 reset"},
    [ELNRNG] = {"ELNRNG", "Link number out of range"},
    [EUNATCH] = {"EUNATCH", "Protocol driver not attached"},
    [ENOCSI] = {"ENOCSI", "No CSI structure available"},
    [EL2HLT] = {"EL2HLT", "Level 2 halted"},
    [EBADE] = {"EBADE", "Invalid exchange"},
    [EBADR] = {"EBADR", "Invalid request descriptor"},
    [EXFULL] = {"EXFULL", "Exchange full"},
    [ENOANO] = {"ENOANO", "No anode"},
    [EBADRQC] = {"EBADRQC", "Invalid request code"},
    [EBADSLT] = {"EBADSLT", "Invalid slot"},
    [EBFONT] = {"EBFONT", "Bad font file format"},
    [ENOSTR] = {"ENOSTR", "Device not a stream"},
    [ENODATA] = {"ENODATA", "No data available"},
    [ETIME] = {"ETIME", "Timer expired"},
    [ENOSR] = {"ENOSR", "Out of streams resources"},
    [ENONET] = {"ENONET", "Machine is not on the network"},
    [ENOPKG] = {"ENOPKG", "Package not installed"},
    [EREMOTE] = {"EREMOTE", "Object is remote"},
    [ENOLINK] = {"ENOLINK", "Link has been severed"},
    [EADV] = {"EADV", "Advertise error"},
    [ESRMNT] = {"ESRMNT", "Srmount error"},
    [ECOMM] = {"ECOMM", "Communication error on send"},
    [EPROTO] = {"EPROTO", "Protocol error"},
    [EMULTIHOP] = {"EMULTIHOP", "Multihop attempted"},
    [EDOTDOT] = {"EDOTDOT", "RFS specific error"},
    [EBADMSG] = {"EBADMSG", "Bad message"},
    [EOVERFLOW] = {"EOVERFLOW", "Value too large for defined data type"},
    [ENOTUNIQ] = {"ENOTUNIQ", "Name not unique on network"},
    [EBADFD] = {"EBADFD", "File descriptor in bad state"},
    [EREMCHG] = {"EREMCHG", "Remote address changed"},
    [ELIBACC] = {"ELIBACC", "Can not access a needed shared library"},
    [ELIBBAD] = {"ELIBBAD", "Accessing a corrupted shared library"},
    [ELIBSCN] = {"ELIBSCN", ".lib section in a.out corrupted"},
    [ELIBMAX] = {"ELIBMAX", "Attempting to link in too many shared libraries"},
    [ELIBEXEC] = {"ELIBEXEC", "Cannot exec a shared library directly"},
    [EILSEQ] = {"EILSEQ", "Invalid or incomplete multibyte or wide character"},
    [ERESTART] = {"ERESTART", "Interrupted system call should be restarted"},
    [ESTRPIPE] = {"ESTRPIPE", "Streams pipe error"},
    [EUSERS] = {"EUSERS", "Too many users"},
    [ENOTSOCK] = {"ENOTSOCK", "Socket operation on non-socket"},
    [EDESTADDRREQ] = {"EDESTADDRREQ", "Destination address required"},
    [EMSGSIZE] = {"EMSGSIZE", "Message too long"},
    [EPROTOTYPE] = {"EPROTOTYPE", "Protocol wrong type for socket"},
    [ENOPROTOOPT] = {"ENOPROTOOPT", "Protocol not available"},
    [EPROTONOSUPPORT] = {"EPROTONOSUPPORT", "Protocol not supported"},
    [ESOCKTNOSUPPORT] = {"ESOCKTNOSUPPORT", "Socket type not supported"},
    [EOPNOTSUPP] = {"EOPNOTSUPP", "Operation not supported"},
    [EPFNOSUPPORT] = {"EPFNOSUPPORT", "Protocol family not supported"},
    [EAFNOSUPPORT] = {"EAFNOSUPPORT", "Address family not supported by protocol"},
    [EADDRINUSE] = {"EADDRINUSE", "Address already in use"},
    [EADDRNOTAVAIL] = {"EADDRNOTAVAIL", "Cannot assign requested address"},
    [ENETDOWN] = {"ENETDOWN", "Network is down"},
    [ENETUNREACH] = {"ENETUNREACH", "Network is unreachable"},
    [ENETRESET] = {"ENETRESET", "Network dropped connection on reset"},
    [ECONNABORTED] = {"ECONNABORTED", "Software caused connection abort"},
    [ECONNRESET] = {"ECONNRESET", "Connection reset by peer"},
    [ENOBUFS] = {"ENOBUFS", "No buffer space available"},
    [EISCONN] = {"EISCONN", "Transport endpoint is already connected"},
    [ENOTCONN] = {"ENOTCONN", "Transport endpoint is not connected"},
    [ESHUTDOWN] = {"ESHUTDOWN", "Cannot send after transport endpoint shutdown"},
    [ETOOMANYREFS] = {"ETOOMANYREFS", "Too many references: cannot splice"},
    [ETIMEDOUT] = {"ETIMEDOUT", "Connection timed out"},
    [ECONNREFUSED] = {"ECONNREFUSED", "Connection refused"},
    [EHOSTDOWN] = {"EHOSTDOWN", "Host is down"},
    [EHOSTUNREACH] = {"EHOSTUNREACH", "No route to host"},
    [EALREADY] = {"EALREADY", "Operation already in progress"},
    [EINPROGRESS] = {"EINPROGRESS", "Operation now in progress"},
    [ESTALE] = {"ESTALE", "Stale file handle"},
    [EUCLEAN] = {"EUCLEAN", "Structure needs cleaning"},
    [ENOTNAM] = {"ENOTNAM", "Not a XENIX named type file"},
    [ENAVAIL] = {"ENAVAIL", "No XENIX semaphores available"},
    [EISNAM] = {"EISNAM", "Is a named type file"},
    [EREMOTEIO] = {"EREMOTEIO", "Remote I/O error"},
    [EDQUOT] = {"EDQUOT", "Disk quota exceeded"},
    [ENOMEDIUM] = {"ENOMEDIUM", "No medium found"},
    [EMEDIUMTYPE] = {"EMEDIUMTYPE", "Wrong medium type"},
    [ECANCELED] = {"ECANCELED", "Operation canceled"},
    [ENOKEY] = {"ENOKEY", "Required key not available"},
    [EKEYEXPIRED] = {"EKEYEXPIRED", "Key has expired"},
    [EKEYREVOKED] = {"EKEYREVOKED", "Key has been revoked"},
    [EKEYREJECTED] = {"EKEYREJECTED", "Key was rejected by service"},
    [EOWNERDEAD] = {"EOWNERDEAD", "Owner died"},
    [ENOTRECOVERABLE] = {"ENOTRECOVERABLE", "State not recoverable"},
    [ERFKILL] = {"ERFKILL", "Operation not possible due to RF-kill"},
    [EHWPOISON] = {"EHWPOISON", "Memory page has hardware error"},
};

#define N_TABLE (sizeof(table) / sizeof(table[0]))

/* Index of a positive or negative errno in the table, or 0, which is no entry. */
static size_t find(int err)
{
    /* -(err + 1) cannot overflow, -INT_MIN would. */
    size_t i = err < 0 ? (size_t) - (err + 1) + 1 : (size_t)err;
    return i < N_TABLE && table[i].name ? i : 0;
}

const char *errtab_text(int err)
{
    size_t i = find(err);
    if (i)
        return table[i].text;
    return err == 0 ? "Success" : "Unknown error";
}

const char *errtab_name(int err)
{
    size_t i = find(err);
    return i ? table[i].name : "E?";
}

enum api_code errtab_api(int err)
{
    if (err == 0)
        return API_OK;
    switch (find(err)) {
    case EINVAL:
    case EILSEQ:
    case EDOM:
    case ERANGE:
    case EBADMSG:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
        return API_INVALID_ARGUMENT;
    case EACCES:
    case EPERM:
    case EROFS:
        return API_PERMISSION_DENIED;
    case ENOENT:
    case ESRCH:
    case ENXIO:
    case ENODEV:
        return API_NOT_FOUND;
    case EEXIST:
    case EBUSY:
    case ENOTEMPTY:
    case ETXTBSY:
    case EALREADY:
        return API_CONFLICT;
    case EFBIG:
    case E2BIG:
    case EMSGSIZE:
    case EOVERFLOW:
        return API_TOO_LARGE;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case EMLINK:
    case ETIMEDOUT:
    case ETIME:
        return API_LIMIT_EXCEEDED;
    case ENOEXEC:
    case ENOSYS:
    case EOPNOTSUPP:
    case EXDEV:
        return API_UNSUPPORTED;
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case ESHUTDOWN:
    case ENFILE:
        return API_UNAVAILABLE;
    case EKEYREJECTED:
    case EKEYEXPIRED:
    case EKEYREVOKED:
        return API_UNAUTHENTICATED;
    default:
        return API_INTERNAL;
    }
}

const char *api_code_name(enum api_code c)
{
    switch (c) {
    case API_OK:
        return "ok";
    case API_INVALID_ARGUMENT:
        return "invalid_argument";
    case API_UNAUTHENTICATED:
        return "unauthenticated";
    case API_PERMISSION_DENIED:
        return "permission_denied";
    case API_NOT_FOUND:
        return "not_found";
    case API_CONFLICT:
        return "conflict";
    case API_TOO_LARGE:
        return "too_large";
    case API_LIMIT_EXCEEDED:
        return "limit_exceeded";
    case API_UNSUPPORTED:
        return "unsupported";
    case API_INTERNAL:
        return "internal";
    case API_UNAVAILABLE:
        return "unavailable";
    }
    return "internal";
}

int api_code_http(enum api_code c)
{
    switch (c) {
    case API_OK:
        return 200;
    case API_INVALID_ARGUMENT:
        return 400;
    case API_UNAUTHENTICATED:
        return 401;
    case API_PERMISSION_DENIED:
        return 403;
    case API_NOT_FOUND:
        return 404;
    case API_CONFLICT:
        return 409;
    case API_TOO_LARGE:
        return 413;
    case API_LIMIT_EXCEEDED:
        return 429;
    case API_UNSUPPORTED:
        return 422;
    case API_INTERNAL:
        return 500;
    case API_UNAVAILABLE:
        return 503;
    }
    return 500;
}
