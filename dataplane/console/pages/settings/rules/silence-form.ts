/** Silences as a form, and how each stands. */
import type { Severity } from '../../../../contract/platforms.ts'
import type { Silence } from '../../../../domain/tickets/silence.ts'
import { momentOf } from '../../../components/time/clock.ts'

export interface SilenceForm {
  /** Globs with commas between. */
  readonly services: string
  /** None: all. */
  readonly severities: readonly Severity[]
  /** As `datetime-local` writes times; empty: now. */
  readonly begins: string
  /** Key of `LENGTHS`. */
  readonly length: string
  readonly reason: string
}

export const LENGTHS: ReadonlyMap<string, { readonly label: string; readonly ms: number }> = new Map(
  Object.entries<{ readonly label: string; readonly ms: number }>({
    '30m': { label: '30 minutes', ms: 1_800_000 },
    '1h': { label: '1 hour', ms: 3_600_000 },
    '4h': { label: '4 hours', ms: 4 * 3_600_000 },
    '8h': { label: '8 hours', ms: 8 * 3_600_000 },
    '1d': { label: '1 day', ms: 86_400_000 },
    '3d': { label: '3 days', ms: 3 * 86_400_000 },
    '7d': { label: '1 week', ms: 7 * 86_400_000 },
  }),
)

export const NEW_SILENCE: SilenceForm = { services: '', severities: [], begins: '', length: '1h', reason: '' }

const MAX_GLOBS = 100
const MAX_GLOB_LENGTH = 256
const MAX_REASON_LENGTH = 500

function globsOf({ services }: Pick<SilenceForm, 'services'>): readonly string[] {
  const globs = services.split(',').map(glob => glob.trim())
  return [...new Set(globs.filter(glob => glob !== ''))]
}

/** The glob of one service for the form: `?` stands for each character that would part names, stand for others, or be lost on the way. */
export function globOf(service: string): string {
  const text = service.replaceAll(/[,*]|[^\S ]/g, '?')
  const start = text.trimEnd()
  const middle = start.trimStart()
  const glob = '?'.repeat(start.length - middle.length) + middle + '?'.repeat(text.length - start.length)
  return glob.length <= MAX_GLOB_LENGTH ? glob : `${glob.slice(0, MAX_GLOB_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}*`
}

const HOUR_MS = 3_600_000
const lengthOf = ({ length }: Pick<SilenceForm, 'length'>): number => LENGTHS.get(length)?.ms ?? HOUR_MS

/** NaN for what is no time. */
const beginOf = ({ begins }: Pick<SilenceForm, 'begins'>, nowMs: number): number => (begins === '' ? nowMs : momentOf(begins))

/** Problems by field. */
export function silenceProblems(form: SilenceForm, nowMs: number): Readonly<Partial<Record<keyof SilenceForm, string>>> {
  const globs = globsOf(form)
  const services =
    globs.length === 0
      ? 'Name a service, or * for all'
      : globs.length > MAX_GLOBS
        ? `At most ${MAX_GLOBS} names`
        : globs.some(glob => glob.length > MAX_GLOB_LENGTH)
          ? `At most ${MAX_GLOB_LENGTH} characters a name`
          : undefined
  const { length } = form.reason.trim()
  const reason =
    length === 0
      ? 'Say why: others read it in the incident'
      : length > MAX_REASON_LENGTH
        ? `At most ${MAX_REASON_LENGTH} characters`
        : undefined
  const endMs = beginOf(form, nowMs) + lengthOf(form)
  const begins = Number.isNaN(endMs) ? 'Expected a date and a time' : endMs <= nowMs ? 'It would be over already' : undefined
  return {
    ...(services !== undefined && { services }),
    ...(begins !== undefined && { begins }),
    ...(reason !== undefined && { reason }),
  }
}

export function buildSilence(form: SilenceForm, nowMs: number): Omit<Silence, 'id' | 'createdAt'> {
  const { severities, reason } = form
  const fromMs = beginOf(form, nowMs)
  return {
    services: globsOf(form),
    ...(severities.length > 0 && { severities }),
    from: new Date(fromMs).toISOString(),
    to: new Date(fromMs + lengthOf(form)).toISOString(),
    reason: reason.trim(),
  }
}

export type SilenceState = 'active' | 'coming' | 'over'

export function stateOf({ from, to }: Pick<Silence, 'from' | 'to'>, nowMs: number): SilenceState {
  return nowMs < Date.parse(from) ? 'coming' : nowMs < Date.parse(to) ? 'active' : 'over'
}

const STATE_ORDER: readonly SilenceState[] = ['active', 'coming', 'over']

/** Those that hold first, of each kind the one that ends next. */
export function inOrder(silences: readonly Silence[], nowMs: number): readonly (Silence & { readonly state: SilenceState })[] {
  return silences
    .map(silence => ({ ...silence, state: stateOf(silence, nowMs) }))
    .sort((a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state) || Date.parse(a.to) - Date.parse(b.to))
}
