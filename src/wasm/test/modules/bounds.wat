;; SPDX-License-Identifier: Apache-2.0
;; Reads behind its memory.
(module
  (memory (export "memory") 1)
  (func (export "_start") (drop (i32.load (i32.const 0x7fffffff)))))
