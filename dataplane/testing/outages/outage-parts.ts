/** The parts of outages: lines of services and of what runs them, and who does what in them. */
import type { Line } from './log-styles.ts'
import { type Behaviour, type Call, type Further, OUTAGE_AT_MS, type Outage, type Role, stamp } from './outage-system.ts'

export interface KnownOutage {
  readonly outage: Outage
  /** Any of these is right; none: nothing is wrong. */
  readonly culprits: readonly Role[]
  /** Words that the summary should hold. */
  readonly says?: RegExp
}

export const error = (text: string, thrown?: string): Line => ({ level: 'error', text, ...(thrown !== undefined && { thrown }) })
export const warn = (text: string): Line => ({ level: 'warn', text })
export const info = (text: string): Line => ({ level: 'info', text })

export const every = (
  fromMs: number,
  stepMs: number,
  make: (atMs: number, at: number) => Further | readonly Further[],
): readonly Further[] =>
  Array.from({ length: Math.max(0, Math.floor((150_000 - fromMs) / stepMs)) }, (_, at) => make(fromMs + at * stepMs, at)).flat()

export const postgres = (atMs: number, text: string): Further => ({
  atMs,
  role: 'database',
  level: 'none',
  line: `${stamp(OUTAGE_AT_MS + atMs)} UTC [${900 + (atMs % 97)}] ${text}`,
})
export const klog = (atMs: number, level: 'I' | 'W' | 'E', text: string): Further => ({
  atMs,
  role: 'kubelet',
  level: 'none',
  line: `${level}0303 04:00:${String(Math.floor(((atMs + 600_000) / 1_000) % 60)).padStart(2, '0')}.118273    2114 ${text}`,
})
export const kernel = (atMs: number, text: string): Further => ({
  atMs,
  role: 'kernel',
  level: 'none',
  line: `kernel: [${8_000 + Math.floor(atMs / 1_000)}.118] ${text}`,
})
export const event = (
  atMs: number,
  {
    pod,
    reason,
    message,
    isWarning = true,
    kind = 'Pod',
  }: { pod: string; reason: string; message: string; isWarning?: boolean; kind?: string },
): Further => ({
  atMs,
  role: 'events',
  level: 'none',
  line: JSON.stringify({
    kind: 'Event',
    involvedObject: { kind, namespace: 'prod', name: pod },
    reason,
    message,
    type: isWarning ? 'Warning' : 'Normal',
    count: 3,
    source: { component: 'kubelet', host: 'ip-10-0-1-17' },
  }),
})
export const failing = (thrown: string, text = 'unhandled exception while handling request'): Behaviour => ({
  lines: [error(text, thrown)],
  status: 500,
})
export const only =
  (role: Role, behave: (call: Call) => Behaviour | undefined): NonNullable<Outage['behave']> =>
  (other, call) =>
    other === role ? behave(call) : undefined
export const shareOf =
  (part: number, behaviour: Behaviour): ((call: { readonly share: number }) => Behaviour | undefined) =>
  ({ share }) =>
    share < part ? behaviour : undefined
export const starts = (role: Role, atMs: number): readonly Further[] => [
  { atMs, role, level: 'info', line: info('starting up, version 4.12.0') },
  { atMs: atMs + 2_100, role, level: 'info', line: info('listening on port 8080') },
]
