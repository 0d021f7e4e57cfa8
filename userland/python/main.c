/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The main program of python3, in the place of CPython's Programs/python.c. One source, two modules:
 *
 *   python3-plain   starts as CPython does everywhere.
 *   python3         is a snapshot of it: at build time wizer calls wizer.initialize, which starts the interpreter and
 *                   imports what scripts usually want (preload.py), and stores the memory. The program then begins at
 *                   wizer.resume with all of that done.
 *
 * What a snapshot cannot have right is decided here before anything runs: an option or a variable of the environment
 * that acts on the start of the interpreter hands the whole command to python3-plain by exec, standard input unread.
 * What differs from process to process is made anew: environment, arguments, working directory, standard streams,
 * seeds, directories of packages. What stays as it was frozen: the seed of the hashes of strings.
 */
#include <Python.h>
#include "internal/pycore_fileutils.h"
#include "internal/pycore_initconfig.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_pylifecycle.h"
#include "internal/pycore_pystate.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/libc-environ.h>

#define EXECUTABLE "/usr/bin/python3"
#define PLAIN "/usr/bin/python3-plain"

void __wasm_call_ctors(void);
void __wasm_call_dtors(void);
int __main_void(void);
void compat_sync_cwd(void);
PyStatus frontal_init_sys_streams(PyThreadState *tstate); /* init_sys_streams() of pylifecycle.c, see the recipe */

static bool frozen;      /* this is the snapshot */
static PyObject *resume, *finish, *run_exit_functions; /* of preload.py, and of atexit */

/*
 * A program that names __wasm_call_ctors, as this one must, has to call it everywhere: the linker then no longer does it
 * before _start.
 */
static bool constructed;

__attribute__((constructor)) static void note_construction(void)
{
    constructed = true;
}

static void construct(void)
{
    if (!constructed)
        __wasm_call_ctors();
}

static void check(PyStatus status)
{
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
}

static PyObject *import(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module), *f = m != NULL ? PyObject_GetAttrString(m, name) : NULL;

    if (f == NULL) {
        PyErr_Print();
        abort();
    }
    Py_DECREF(m);
    return f;
}

__attribute__((export_name("wizer.initialize"))) void frontal_initialize(void)
{
    PyPreConfig pre;
    PyConfig config;

    construct();
    PyPreConfig_InitPythonConfig(&pre);
    pre.utf8_mode = 1;
    check(Py_PreInitialize(&pre));
    PyConfig_InitPythonConfig(&config);
    config.parse_argv = 0;
    /* A seed of the build's choosing would be no secret either: the snapshot is the same file for everybody. */
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    check(PyConfig_SetString(&config, &config.program_name, L"" EXECUTABLE));
    check(PyConfig_SetString(&config, &config.executable, L"" EXECUTABLE));
    check(Py_InitializeFromConfig(&config));
    PyConfig_Clear(&config);
    resume = import("_frontal_preload", "resume");
    finish = import("_frontal_preload", "finish");
    run_exit_functions = import("atexit", "_run_exitfuncs");
    /* What is here now lives as long as the process: the collector need never look at it, nor touch its pages. */
    PyGC_Collect();
    if (PyRun_SimpleString("import gc; gc.freeze()") < 0)
        abort();
    frozen = true;
}

/* --- what the plain module must do */

static bool is_utf8(const char *s)
{
    return strncasecmp(s, "utf-8", 5) == 0 ? s[5] == '\0' || s[5] == ':' : strncasecmp(s, "utf8", 4) == 0 && s[4] == '\0';
}

/* Whether the variable @e ("NAME=VALUE") acts on the start in a way that resume() does not follow. */
static bool environment_needs_plain(const char *e)
{
    static const char *const followed[] = {"PATH=", "DONTWRITEBYTECODE=", "UNBUFFERED=", "BREAKPOINT=", "ASYNCIODEBUG=",
                                           "NOUSERSITE=", "STARTUP=", "HISTFILE="};
    const char *value;

    if (strncmp(e, "VIRTUAL_ENV=", 12) == 0)
        return true;
    if (strncmp(e, "PYTHON", 6) != 0)
        return false;
    e += 6;
    value = strchr(e, '=');
    if (value == NULL || *++value == '\0')
        return false; /* an empty one is none, to CPython too */
    for (size_t i = 0; i < Py_ARRAY_LENGTH(followed); i++)
        if (strncmp(e, followed[i], strlen(followed[i])) == 0)
            return false;
    if (strncmp(e, "HASHSEED=", 9) == 0)
        return strcmp(value, "random") != 0;
    if (strncmp(e, "UTF8=", 5) == 0)
        return strcmp(value, "1") != 0;
    if (strncmp(e, "IOENCODING=", 11) == 0)
        return !is_utf8(value) || strchr(value, ':') != NULL;
    /* Only names that CPython knows of: PYTHON_FOO of somebody's own is nothing to it. */
    return value[-1] == '=' && e[0] != '_' && strncmp(e, "3", 1) != 0;
}

/* A virtual environment is found by the file beside the name that was called. */
static bool in_virtual_environment(const char *argv0)
{
    const char *slash = strrchr(argv0, '/');
    char path[PATH_MAX];
    struct stat st;

    if (slash == NULL || (size_t)(slash - argv0) + sizeof("/../pyvenv.cfg") > sizeof(path))
        return false;
    for (int up = 0; up < 2; up++) {
        snprintf(path, sizeof(path), "%.*s/%spyvenv.cfg", (int)(slash - argv0), argv0, up ? "../" : "");
        if (stat(path, &st) == 0)
            return true;
    }
    return false;
}

static _Noreturn void run_plain(char **argv)
{
    execve(PLAIN, argv, environ);
    fprintf(stderr, "python3: this option or environment needs " PLAIN ": %s\n", strerror(errno));
    _Exit(2);
}

/* --- the command line */

struct command {
    const char *text, *module, *file; /* of -c, -m, or the script; none: standard input */
    const char *argv0;
    bool unbuffered, no_bytecode;
    int rest; /* index of the first argument behind it */
};

/* 0, or -1 when the plain module must see it. */
static int parse(int argc, char **argv, struct command *ret)
{
    int i = 1;

    ret->argv0 = "";
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
        for (const char *o = argv[i] + 1; *o != '\0'; o++) {
            const char *value;

            switch (*o) {
            case 'u':
                ret->unbuffered = true;
                continue;
            case 'B':
                ret->no_bytecode = true;
                continue;
            case 'c':
            case 'm':
                value = o[1] != '\0' ? o + 1 : argv[++i];
                if (value == NULL)
                    return -1; /* the message is the other's */
                *(*o == 'c' ? &ret->text : &ret->module) = value;
                ret->argv0 = *o == 'c' ? "-c" : "-m";
                ret->rest = i + 1;
                return 0;
            case 'V':
                if (o == argv[i] + 1 && o[1] == '\0') {
                    printf("Python %s\n", PY_VERSION);
                    fflush(stdout);
                    _Exit(0);
                }
                return -1;
            default:
                return -1;
            }
        }
    }
    if (i < argc) {
        ret->argv0 = argv[i];
        if (strcmp(argv[i], "-") != 0)
            ret->file = argv[i];
        i++;
    }
    ret->rest = i;
    return 0;
}

/* --- the snapshot goes on */

static wchar_t *decode(const char *s)
{
    wchar_t *w = Py_DecodeLocale(s, NULL);

    if (w == NULL)
        Py_FatalError("no memory for the arguments");
    return w;
}

static PyObject *environment(void)
{
    PyObject *dict = PyDict_New();

    for (char **e = environ; dict != NULL && e != NULL && *e != NULL; e++) {
        const char *eq = strchr(*e, '=');
        PyObject *key, *value;

        if (eq == NULL)
            continue;
        key = PyBytes_FromStringAndSize(*e, eq - *e);
        value = PyBytes_FromString(eq + 1);
        if (key == NULL || value == NULL || PyDict_SetDefault(dict, key, value) == NULL)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static bool is_directory(const char *dir, const char *below)
{
    char path[PATH_MAX];
    struct stat st;

    return snprintf(path, sizeof(path), "%s%s", dir, below) < (int)sizeof(path) && stat(path, &st) == 0 &&
           S_ISDIR(st.st_mode);
}

/* Whether somebody has installed packages: looked for here, as to ask in Python costs more than a small script. */
static bool has_packages(void)
{
    const char *home = getenv("HOME");

    return is_directory("/usr/local", "/lib/python3.11/dist-packages") ||
           (home != NULL && is_directory(home, "/.local/lib/python3.11/site-packages"));
}

/* As config_run_filename_abspath() of initconfig.c: __file__ and tracebacks have the whole path. */
static wchar_t *script_path(const char *file)
{
    wchar_t *given = decode(file), *whole;

    if (given[0] == L'/' || _Py_abspath(given, &whole) < 0)
        return given;
    PyMem_RawFree(given);
    return whole;
}

static int run(int argc, char **argv, const struct command *cmd)
{
    PyThreadState *tstate = _PyThreadState_GET();
    PyConfig *config = (PyConfig *)_PyInterpreterState_GetConfig(tstate->interp);
    PyObject *list = PyList_New(0), *original = PyList_New(0), *env = environment(), *done;
    bool ok = list != NULL && original != NULL && env != NULL;

    if (cmd->text != NULL) {
        size_t n = strlen(cmd->text);
        char *line = PyMem_RawMalloc(n + 2);

        memcpy(line, cmd->text, n);
        memcpy(line + n, "\n", 2);
        config->run_command = decode(line);
        PyMem_RawFree(line);
    }
    if (cmd->module != NULL)
        config->run_module = decode(cmd->module);
    if (cmd->file != NULL)
        config->run_filename = script_path(cmd->file);
    config->buffered_stdio = !cmd->unbuffered;
    config->write_bytecode = !cmd->no_bytecode;
    PyWideStringList_Append(&config->argv, L"");
    for (int i = cmd->rest - 1, n = 0; i < argc; i++, n++) {
        const char *arg = n == 0 ? cmd->argv0 : argv[i];
        PyObject *s = PyUnicode_DecodeFSDefault(arg);
        wchar_t *w = decode(arg);

        ok = ok && s != NULL && PyList_Append(list, s) == 0;
        Py_XDECREF(s);
        if (n == 0)
            config->argv.items[0] = w;
        else
            PyWideStringList_Append(&config->argv, w);
    }
    if (config->argv.items[0][0] == L'\0' && PyList_GET_SIZE(list) == 0) {
        PyObject *s = PyUnicode_FromString("");

        ok = ok && s != NULL && PyList_Append(list, s) == 0;
        Py_XDECREF(s);
    }
    for (int i = 0; i < argc; i++) {
        PyObject *s = PyUnicode_DecodeFSDefault(argv[i]);

        ok = ok && s != NULL && PyList_Append(original, s) == 0;
        Py_XDECREF(s);
    }
    /* What Python's start asks of the system; when the snapshot was made there was none to hear it. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    check(frontal_init_sys_streams(tstate));
    done = ok ? PyObject_CallFunction(resume, "OOOii", env, list, original, cmd->no_bytecode, has_packages()) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(original);
    Py_XDECREF(env);
    if (done == NULL) {
        PyErr_Print();
        return 1;
    }
    Py_DECREF(done);
    return Py_RunMain();
}

int main(int argc, char **argv)
{
    struct command cmd = {0};
    const char *v;

    if (!frozen) {
        construct();
        return Py_BytesMain(argc, argv);
    }
    for (char **e = environ; e != NULL && *e != NULL; e++)
        if (environment_needs_plain(*e))
            run_plain(argv);
    if (argc == 0 || parse(argc, argv, &cmd) < 0 || in_virtual_environment(argv[0]))
        run_plain(argv);
    if ((v = getenv("PYTHONUNBUFFERED")) != NULL && *v != '\0')
        cmd.unbuffered = true;
    if ((v = getenv("PYTHONDONTWRITEBYTECODE")) != NULL && *v != '\0')
        cmd.no_bytecode = true;
    return run(argc, argv, &cmd);
}

__attribute__((export_name("wizer.resume"))) void frontal_resume(void)
{
    int status;

    __wasilibc_initialize_environ();
    compat_sync_cwd();
    status = __main_void();
    __wasm_call_dtors();
    _Exit(status);
}

/* --- the end */

static void call(PyObject *f)
{
    PyObject *done = PyObject_CallNoArgs(f);

    if (done == NULL)
        PyErr_Print();
    Py_XDECREF(done);
}

/* -1 when standard output cannot be written. */
static int flush(const char *name)
{
    PyObject *file = PySys_GetObject(name), *closed, *done;
    int rc = 0;

    if (file == NULL || file == Py_None)
        return 0;
    closed = PyObject_GetAttrString(file, "closed");
    if (closed == NULL)
        PyErr_Clear();
    if (closed == NULL || closed == Py_False) {
        done = PyObject_CallMethod(file, "flush", NULL);
        if (done == NULL) {
            if (strcmp(name, "stdout") == 0)
                PyErr_WriteUnraisable(file);
            else
                PyErr_Clear();
            rc = -1;
        }
        Py_XDECREF(done);
    }
    Py_XDECREF(closed);
    return rc;
}

int __real_Py_FinalizeEx(void);
_Noreturn void __real_Py_Exit(int status);

/*
 * Taking down an interpreter with 200 modules costs more than its start, and the system takes the memory back anyway.
 * What a script can see of the end is done in CPython's order: exit functions, streams, the script's objects. There
 * are no threads to wait for.
 */
int __wrap_Py_FinalizeEx(void)
{
    int rc = 0;

    if (!frozen)
        return __real_Py_FinalizeEx();
    call(run_exit_functions);
    rc = flush("stdout");
    flush("stderr");
    call(finish);
    if (rc == 0)
        rc = flush("stdout");
    flush("stderr");
    fflush(NULL);
    return rc;
}

_Noreturn void __wrap_Py_Exit(int status)
{
    if (!frozen)
        __real_Py_Exit(status);
    if (__wrap_Py_FinalizeEx() < 0)
        status = 120;
    _Exit(status);
}
