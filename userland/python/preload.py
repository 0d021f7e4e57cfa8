# SPDX-License-Identifier: Apache-2.0
"""The modules that the snapshot of python3 has imported, and what a process does anew when it begins from it.

In the module _frontal_preload of the standard library. resume() runs at each start: what it does costs every script.
"""
import sys, os, io, site

# Most used first; no module that opens a file, starts a clock or reads the environment for good when it is imported.
import encodings.utf_8, encodings.ascii, encodings.latin_1, encodings.idna, encodings.utf_8_sig, codecs
import re, json, runpy, pkgutil, types, collections, collections.abc, functools, itertools, operator, warnings, traceback
import linecache, tokenize, argparse, pathlib, subprocess, selectors, signal, select, datetime, time, calendar, math, string
import textwrap, csv, tempfile, shutil, glob, fnmatch, hashlib, hmac, secrets, base64, binascii, struct, dataclasses, typing
import enum, contextlib, random, copy, inspect, ast, decimal, fractions, statistics, numbers, urllib.parse, logging, difflib
import zipfile, tarfile, gzip, zlib, bz2, lzma, heapq, bisect, array, weakref, queue, threading, uuid, pprint, reprlib
import getopt, shlex, platform, stat, errno, locale, configparser, html, html.parser, abc, pickle, sqlite3, unicodedata
import importlib, importlib.util, importlib.metadata, importlib.resources, keyword, opcode, dis, posixpath, ntpath, zipimport
import unittest, doctest, asyncio, concurrent.futures, xml.etree.ElementTree, email, email.message, email.parser, mimetypes
import http, quopri, timeit, cProfile, pstats, pdb, sched, contextvars, graphlib, colorsys, cmath, ipaddress, tomllib
import urllib.request, http.client, optparse, gettext, getpass, pwd, grp, fcntl, sysconfig, code, codeop, zoneinfo, atexit

_logging_origin = logging._startTime


def _packages():
    """Directories of installed packages that have come since: what site would have found."""
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


def resume(env, argv, original, no_bytecode):
    data = os.environ._data
    data.clear()
    data.update(env)
    sys.argv = argv
    sys.orig_argv = original
    sys.dont_write_bytecode = bool(no_bytecode)
    sys.path_importer_cache.clear()
    random.seed()
    logging._startTime = time.time()
    if b"PYTHONPATH" in env and env[b"PYTHONPATH"]:
        sys.path[0:0] = [os.path.abspath(p) for p in os.fsdecode(env[b"PYTHONPATH"]).split(":")]
    if b"PYTHONASYNCIODEBUG" in env or b"PYTHONBREAKPOINT" in env:
        pass  # both are read when they are wanted
    _packages()


def finish():
    """What threading and logging do when the interpreter goes."""
    threading._shutdown()
