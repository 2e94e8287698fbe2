import { setFlagsFromString } from 'node:v8'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/**
 * By how much each heap may grow before V8 marks it, % of what was in use, while a program runs. V8 lets a small heap grow by less than its young generation
 * takes, and marks it all the time then.
 */
export const RUNNING_GROWTH_PERCENT = 150
/** The name under which threads that start later find the setting. */
const SET = 'heap growth is set'

/**
 * Sets that growth for all threads of the process; 0: as V8 decides. To be called once all is loaded, and with 0 before the end: compiled code, Node's own
 * too, counts for the flags with which it was compiled.
 */
export function letHeapsGrow(percent: number): void {
  setEnvironmentData(SET, percent !== 0)
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/** Whether the growth is set: code that is compiled now is not read at the next start. */
export function growthIsSet(): boolean {
  return getEnvironmentData(SET) === true
}
