;; SPDX-License-Identifier: Apache-2.0
;; Grows by 16 MiB until it is refused; exits with the number of times, 100 at most, and has written to all of it.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $n i32) (local $at i32)
    (block $end
      (loop $l
        (local.set $at (memory.grow (i32.const 256)))
        (br_if $end (i32.eq (local.get $at) (i32.const -1)))
        (i32.store (i32.mul (local.get $at) (i32.const 65536)) (i32.const 1))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $n) (i32.const 100)))))
    (call $exit (local.get $n))))
