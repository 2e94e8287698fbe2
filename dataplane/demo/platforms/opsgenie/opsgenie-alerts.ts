/** The alerts that the stub Opsgenie keeps, found by id or by alias; the newest of an alias counts. */
import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Clock } from '../../../ports/clock.ts'
import { append, createNewest } from '../newest.ts'
import type { StubRequest } from '../stub-platform.ts'
import type { ALERT, Alert } from './opsgenie-alert.ts'

export interface Alerts {
  /** The newest first. */
  all(): readonly Alert[]
  /** The newest alert of the alias, closed or not. */
  byAlias(alias: string): Alert | undefined
  openOf(alias: string): Alert | undefined
  /** The alert that the path of a request names, by its alias or its id. */
  named(request: StubRequest): Alert | undefined
  /** The alias that the path of a request names; empty where it names the id of no alert. */
  aliasNamed(request: StubRequest): string
  /** Opens an alert; one of the alias that is open is counted once more instead. */
  create(alias: string, given: z.output<typeof ALERT>): void
  /** Notes in the alert what was done to it. */
  note(alert: Alert, text: string, note: string | undefined): void
  clear(): void
}

export function createAlerts(clock: Clock): Alerts {
  const alerts = createNewest<Alert>()
  /** The id of the newest alert of each alias. */
  const newestOf = createNewest<string>()
  let alertsMade = 0

  const nowIso = () => new Date(clock.nowMs()).toISOString()
  const byAlias = (alias: string) => alerts.get(newestOf.get(alias) ?? '')
  const openOf = (alias: string) => {
    const found = byAlias(alias)
    return found?.status === 'open' ? found : undefined
  }
  const openNew = (alias: string, given: z.output<typeof ALERT>) => {
    const id = randomUUID()
    newestOf.put(alias, id)
    const { message, priority = 'P3', description = '', tags = [], details = {}, entity = '', source = '' } = given
    alerts.put(id, {
      ...{ id, tinyId: String(++alertsMade), alias, createdAt: nowIso(), status: 'open', acknowledged: false, count: 1 },
      ...{ message, priority, description, tags, details, entity, source },
      log: [{ at: nowIso(), text: 'created' }],
    })
  }

  return {
    all: alerts.all,
    byAlias,
    openOf,
    named(request) {
      const named = namedIn(request)
      return isAlias(request) ? byAlias(named) : alerts.get(named)
    },
    aliasNamed(request) {
      const named = namedIn(request)
      return isAlias(request) ? named : (alerts.get(named)?.alias ?? '')
    },
    create(alias, given) {
      const open = openOf(alias)
      if (open === undefined) return openNew(alias, given)
      open.count += 1
      append(open.log, { at: nowIso(), text: `created again: ${given.message}` })
    },
    note: (alert, text, note) => append(alert.log, { at: nowIso(), text, ...(note !== undefined && { note }) }),
    clear() {
      alerts.clear()
      newestOf.clear()
    },
  }
}

const isAlias = ({ query }: StubRequest) => query.get('identifierType') === 'alias'
const namedIn = ({ params }: StubRequest): string => params['alias']!
