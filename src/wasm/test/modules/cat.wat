;; SPDX-License-Identifier: Apache-2.0
;; Copies its input to its output.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 2)
  (func (export "_start") (local $n i32)
    (loop $l
      (i32.store (i32.const 0) (i32.const 1024))
      (i32.store (i32.const 4) (i32.const 65536))
      (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then (call $exit (i32.const 1))))
      (local.set $n (i32.load (i32.const 8)))
      (if (i32.eqz (local.get $n)) (then (call $exit (i32.const 0))))
      (i32.store (i32.const 4) (local.get $n))
      (if (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)) (then (call $exit (i32.const 2))))
      (br $l))))
