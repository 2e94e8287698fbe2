/**
 * Loaded before a process's own code, in each of its threads: moves its time by the milliseconds in the file that `SHIFTED_CLOCK_FILE` names,
 * from the moment at which they change. What measures time without a date (timers, `performance.now`) goes on as it does on a machine whose clock is set.
 */
import { readFileSync } from 'node:fs'

const LOOK_EVERY_MS = 50

const file = process.env['SHIFTED_CLOCK_FILE']
if (file !== undefined) {
  const TrueDate = Date
  let shiftMs = 0
  const look = () => {
    shiftMs = Number(readFileSync(file, 'utf8'))
  }
  look()
  setInterval(look, LOOK_EVERY_MS).unref()
  const now = () => TrueDate.now() + shiftMs
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}
