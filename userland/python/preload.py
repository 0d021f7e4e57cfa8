# SPDX-License-Identifier: Apache-2.0
"""The modules that the snapshot of python3 has imported, and what a process does anew when it begins from it.

In the module _frontal_preload of the standard library. resume() runs at each start: what it does costs every script.
"""
import sys, os, io, site, builtins, gc

# Most used first; no module that opens a file, starts a clock or reads the environment for good when it is imported.
import encodings.utf_8, encodings.ascii, encodings.latin_1, encodings.idna, encodings.utf_8_sig, codecs
import re, json, runpy, pkgutil, types, collections, collections.abc, functools, itertools, operator, warnings, traceback
import linecache, tokenize, argparse, pathlib, subprocess, selectors, signal, select, datetime, time, calendar, math, string
import textwrap, csv, tempfile, shutil, glob, fnmatch, hashlib, hmac, secrets, base64, binascii, struct, dataclasses, typing
import enum, contextlib, random, copy, inspect, ast, decimal, fractions, statistics, numbers, urllib.parse, logging, difflib
import zipfile, tarfile, gzip, zlib, bz2, lzma, heapq, bisect, array, weakref, queue, threading, uuid, pprint, reprlib
import getopt, shlex, platform, stat, errno, locale, configparser, html, html.parser, abc, pickle, sqlite3, unicodedata
import importlib, importlib.machinery, importlib.util, importlib.metadata, importlib.resources, keyword, opcode, dis, posixpath, ntpath, zipimport
import unittest, doctest, asyncio, concurrent.futures, xml.etree.ElementTree, email, email.message, email.parser, mimetypes
import http, quopri, timeit, cProfile, pstats, pdb, sched, contextvars, graphlib, colorsys, cmath, ipaddress, tomllib
import urllib.request, http.client, optparse, gettext, getpass, pwd, grp, fcntl, sysconfig, code, codeop, zoneinfo, atexit


def packages():
    """Directories of installed packages that have come since: what site would have found. main.c asks when one is there."""
    changed = False
    known = None
    paths = site.getsitepackages()
    if not os.environ.get("PYTHONNOUSERSITE"):
        site.ENABLE_USER_SITE = True
        site.USER_BASE = site.USER_SITE = None
        paths.append(site.getusersitepackages())
    for path in paths:
        if path not in sys.path and os.path.isdir(path):
            known = site.addsitedir(path, known)
            changed = True
    if changed:
        site.execsitecustomize()
        if site.ENABLE_USER_SITE:
            site.execusercustomize()


def resume(env, argv, original, no_bytecode, has_packages):
    data = os.environ._data
    data.clear()
    data.update(env)
    sys.argv = argv
    sys.orig_argv = original
    sys.dont_write_bytecode = bool(no_bytecode)
    sys.path_importer_cache.clear()
    random.seed()
    logging._startTime = time.time()
    if env.get(b"PYTHONPATH"):
        sys.path[0:0] = [os.path.abspath(p) for p in os.fsdecode(env[b"PYTHONPATH"]).split(":")]
    if has_packages:
        packages()
    # Made anew, as the collector does not look at what stood in the snapshot; and last, which finish() relies on.
    main = types.ModuleType("__main__")
    main.__annotations__ = {}
    main.__builtins__ = builtins
    main.__loader__ = importlib.machinery.BuiltinImporter
    sys.modules.pop("__main__", None)
    sys.modules["__main__"] = main


def finish():
    """Ends the script's own objects: a file that was not closed is written, __del__ is called.

    First the variables that hold neither code nor modules, in their order: a file goes from its outermost object inwards,
    which the collector would not do, and __del__ finds the functions that it calls. Then modules leave sys.modules and
    what only they held goes; then whatever is still held.

    The modules of the snapshot stay as they are, untouched even by a reference: each would be a page to copy.
    """
    for name in ("last_type", "last_value", "last_traceback", "_"):
        sys.__dict__.pop(name, None)
    builtins.__dict__.pop("_", None)
    own = []
    for name in reversed(sys.modules):  # in the order of import
        if name in _frozen:
            break
        own.append(name)
    code = types.FunctionType, types.ModuleType, type
    refs = []
    for name in own:
        module = sys.modules[name]
        if not isinstance(module, types.ModuleType):
            continue
        refs.append(weakref.ref(module))
        names = module.__dict__
        for private in (True, False):
            for name, value in list(names.items()):
                if name[:2] != "__" and (name[:1] == "_") is private and not isinstance(value, code):
                    value = names[name] = None
    module = names = value = None
    for name in own:
        del sys.modules[name]
    gc.collect()
    left = [module for module in [ref() for ref in refs] if module is not None]
    for module in left:
        for name in list(module.__dict__):
            if name != "__builtins__":
                module.__dict__[name] = None
    if left:
        gc.collect()


sysconfig._CONFIG_VARS = None  # has the user's home directory in it
_frozen = frozenset(sys.modules) - {"__main__"}
