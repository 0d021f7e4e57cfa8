;; SPDX-License-Identifier: Apache-2.0
;; Calls a null pointer.
(module
  (memory (export "memory") 1)
  (table 1 funcref)
  (func (export "_start") (call_indirect (i32.const 0))))
