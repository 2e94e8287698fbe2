import { flushCompileCache } from 'node:module'
import { growthIsSet } from './heap-growth.ts'

/**
 * Writes what this thread has compiled to the cache that NODE_COMPILE_CACHE names, where it is set. Node does so at an orderly end alone: a
 * program that is always killed would compile everything at every start. 0.1 s of CPU the first time, then 2 ms (2026-11-23).
 */
export function keepCompiledCode(): void {
  // A thread that starts late compiles code that the next start would not read.
  if (!growthIsSet()) flushCompileCache()
}
