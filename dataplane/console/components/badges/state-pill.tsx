import { useIsStale } from '../states/stale.tsx'
import { Pill, type Tone } from './badges.tsx'

interface Shown {
  readonly tone: Tone
  /** The word of the console, where the component says the same with a word of its own. */
  readonly word?: string
}

const STATES: ReadonlyMap<string, Shown> = new Map(
  Object.entries<Shown>({
    healthy: { tone: 'good' },
    green: { tone: 'good', word: 'healthy' },
    ok: { tone: 'good', word: 'healthy' },
    running: { tone: 'good' },
    RUNNING: { tone: 'good', word: 'running' },
    connected: { tone: 'good' },
    SecretSynced: { tone: 'good', word: 'synchronised' },
    degraded: { tone: 'warn' },
    yellow: { tone: 'warn', word: 'degraded' },
    SUSPENDED: { tone: 'warn', word: 'suspended' },
    SecretSyncError: { tone: 'warn', word: 'not synchronised' },
    'not configured': { tone: 'neutral' },
    none: { tone: 'neutral' },
  }),
)

/** The state of a component, in the same words on every page. The component's own word is in the title. A good state of old answers is none. */
export function StatePill({ state }: { readonly state: string }) {
  const { tone, word = state } = STATES.get(state) ?? { tone: 'bad' }
  const isStale = useIsStale()
  if (isStale && tone === 'good') return <Pill tone="neutral">was {word}</Pill>
  return (
    <Pill tone={tone} title={word === state ? undefined : state}>
      {word}
    </Pill>
  )
}
