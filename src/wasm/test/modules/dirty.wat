;; SPDX-License-Identifier: Apache-2.0
;; Exits with 1 unless its memory is 64 pages, of zeros but for its data; then fills it and 64 pages more with 0xaa.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 64)
  (global $g (mut i32) (i32.const 1))
  (data (i32.const 4096) "\11\22\33\44")
  (func $check (param $from i32) (param $to i32)
    (loop $l
      (if (i64.ne (i64.load (local.get $from)) (i64.const 0)) (then (call $exit (i32.const 1))))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (br_if $l (i32.lt_u (local.get $from) (local.get $to)))))
  (func (export "_start")
    (if (i32.ne (memory.size) (i32.const 64)) (then (call $exit (i32.const 2))))
    (if (i32.ne (global.get $g) (i32.const 1)) (then (call $exit (i32.const 3))))
    (if (i32.ne (i32.load (i32.const 4096)) (i32.const 0x44332211)) (then (call $exit (i32.const 4))))
    (call $check (i32.const 0) (i32.const 4096))
    (call $check (i32.const 4104) (i32.const 0x400000))
    (if (i32.ne (memory.grow (i32.const 64)) (i32.const 64)) (then (call $exit (i32.const 5))))
    (call $check (i32.const 0x400000) (i32.const 0x800000))
    (global.set $g (i32.const 0))
    (memory.fill (i32.const 0) (i32.const 0xaa) (i32.const 0x800000))))
