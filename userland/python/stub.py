# SPDX-License-Identifier: Apache-2.0
"""Writes, as WebAssembly text, a module that stands in for the host's imports while a snapshot is made.

Usage: stub.py MODULE.wasm [IMPORT-MODULE]   Every function of it that MODULE imports answers 52, ENOSYS of WASI.
"""
import sys

VALUES = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        n = shift = 0
        while True:
            b = self.byte()
            n |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                return n

    def take(self, n):
        self.at += n
        return self.data[self.at - n : self.at]

    def name(self):
        return self.take(self.number()).decode()

    def limits(self):
        flags = self.byte()
        self.number()
        if flags & 1:
            self.number()


def main():
    wanted = sys.argv[2] if len(sys.argv) > 2 else "frontal_sandbox_1"
    r = Reader(open(sys.argv[1], "rb").read())
    if r.take(8) != b"\0asm\1\0\0\0":
        sys.exit(f"{sys.argv[1]}: no WebAssembly module")
    types, imports = [], []
    while r.at < len(r.data):
        section, end = r.byte(), r.number()
        end += r.at
        if section == 1:
            for _ in range(r.number()):
                if r.byte() != 0x60:
                    sys.exit("a type that is no function")
                params = [VALUES[r.byte()] for _ in range(r.number())]
                types.append((params, [VALUES[r.byte()] for _ in range(r.number())]))
        elif section == 2:
            for _ in range(r.number()):
                module, name, kind = r.name(), r.name(), r.byte()
                if kind == 0:
                    type_ = types[r.number()]
                    if module == wanted:
                        imports.append((name, type_))
                elif kind == 1:
                    r.byte()
                    r.limits()
                elif kind == 2:
                    r.limits()
                else:
                    r.take(2)
        r.at = end
    print("(module")
    for name, (params, results) in imports:
        head = f' (param {" ".join(params)})' if params else ""
        if results:
            head += f' (result {" ".join(results)})'
        print(f'  (func (export "{name}"){head} {"".join(f"({t}.const 52)" for t in results)})')
    print(")")


main()
