;; SPDX-License-Identifier: Apache-2.0
;; Reaches what cannot be reached.
(module
  (memory (export "memory") 1)
  (func (export "_start") unreachable))
