/** The first and the second time that the program is asked to end. */
import { constants } from 'node:os'

export type EndSignal = 'SIGTERM' | 'SIGINT'

/** The part of `process` that is needed. */
export interface SignalSource {
  on(signal: EndSignal, listener: (signal: EndSignal) => void): unknown
  off(signal: EndSignal, listener: (signal: EndSignal) => void): unknown
}

export interface SignalWatch {
  readonly first: Promise<EndSignal>
  readonly second: Promise<EndSignal>
  close(): void
}

/** npm passes Ctrl-C on to a program that the terminal has told already: the same signal within this time is one. */
const ECHO_MS = 250

export function watchSignals(source: SignalSource, nowMs: () => number): SignalWatch {
  const first = Promise.withResolvers<EndSignal>()
  const second = Promise.withResolvers<EndSignal>()
  let last: { readonly signal: EndSignal; readonly atMs: number } | undefined
  const listener = (signal: EndSignal) => {
    if (last?.signal === signal && nowMs() - last.atMs < ECHO_MS) return
    if (last === undefined) first.resolve(signal)
    else second.resolve(signal)
    last = { signal, atMs: nowMs() }
  }
  source.on('SIGTERM', listener)
  source.on('SIGINT', listener)
  return {
    first: first.promise,
    second: second.promise,
    close() {
      source.off('SIGTERM', listener)
      source.off('SIGINT', listener)
    },
  }
}

/** The exit code of a program that a signal ended, as shells count it. */
export function exitCodeOf(signal: EndSignal): number {
  return 128 + constants.signals[signal]
}
