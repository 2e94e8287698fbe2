/** The incidents that the stub ServiceNow keeps, and the rules by which they are written. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../ports/clock.ts'
import { append, createNewest } from '../newest.ts'
import type { StubAnswer } from '../stub-platform.ts'
import { failure } from './servicenow-failure.ts'

/** All values are texts, as there. */
export type Fields = Record<string, string>

export interface ServiceNowIncident {
  readonly fields: Fields
  readonly workNotes: { readonly at: string; readonly text: string }[]
}

export const STATES: Readonly<Record<string, string>> = {
  1: 'New',
  2: 'In Progress',
  3: 'On Hold',
  6: 'Resolved',
  7: 'Closed',
  8: 'Canceled',
}
/** By impact and urgency. */
const PRIORITIES = new Map(Object.entries({ 11: '1', 12: '2', 21: '2', 22: '3', 13: '3', 31: '3', 23: '4', 32: '4', 33: '5' }))
const WRITABLE = [
  'short_description',
  'description',
  'impact',
  'urgency',
  'state',
  'correlation_id',
  'correlation_display',
  'category',
  'subcategory',
  'assignment_group',
  'assigned_to',
  'caller_id',
  'close_code',
  'close_notes',
  'work_notes',
  'comments',
  'cmdb_ci',
  'business_service',
  'contact_type',
  'hold_reason',
]
/** A new incident before anything is written. */
const BLANK: Fields = Object.fromEntries(WRITABLE.map(name => [name, '']))
/** States in which the resolution is mandatory, and those that are never left. */
const RESOLVED = ['6', '7']
const CLOSED = ['7', '8']
/** Longer ones are cut without a word. */
const MAX_SHORT_DESCRIPTION = 160
const MAX_TEXT = 4_000

export interface Incidents {
  /** The newest first. */
  all(): readonly ServiceNowIncident[]
  find(sysId: string): ServiceNowIncident | undefined
  /** The incident, or why the fields are refused. */
  create(given: Readonly<Record<string, unknown>>): ServiceNowIncident | StubAnswer
  /** The refusal, or nothing once the fields are written. */
  write(incident: ServiceNowIncident, given: Readonly<Record<string, unknown>>): StubAnswer | undefined
  clear(): void
}

export function createIncidents(clock: Clock): Incidents {
  const incidents = createNewest<ServiceNowIncident>()
  let numbers = 10_000
  const nowText = () => new Date(clock.nowMs()).toISOString().slice(0, 19).replace('T', ' ')

  const write: Incidents['write'] = ({ fields, workNotes }, given) => {
    const changes = Object.entries(given).filter(([name]) => WRITABLE.includes(name))
    const next = { ...fields, ...Object.fromEntries(changes.map(([name, value]) => [name, String(value ?? '')])) }
    const refusal = refusalOf(fields, next)
    if (refusal !== undefined) return refusal
    if (next['work_notes'] !== '') append(workNotes, { at: new Date(clock.nowMs()).toISOString(), text: next['work_notes']! })
    Object.assign(fields, next, {
      work_notes: '',
      comments: '',
      short_description: [...next['short_description']!].slice(0, MAX_SHORT_DESCRIPTION).join(''),
      description: [...next['description']!].slice(0, MAX_TEXT).join(''),
      priority: PRIORITIES.get(`${next['impact']}${next['urgency']}`)!,
      active: String(!CLOSED.includes(next['state']!)),
      sys_updated_on: nowText(),
    })
    return undefined
  }

  return {
    all: incidents.all,
    find: incidents.get,
    create(given) {
      const number = `INC${String(++numbers).padStart(7, '0')}`
      const times = { sys_created_on: nowText(), opened_at: nowText() }
      const sysId = randomUUID().replaceAll('-', '')
      const fields = { ...BLANK, state: '1', impact: '3', urgency: '3', sys_id: sysId, number, ...times }
      const incident: ServiceNowIncident = { fields, workNotes: [] }
      return write(incident, given) ?? incidents.put(sysId, incident)
    },
    write,
    clear: incidents.clear,
  }
}

/** Why an incident may not become what `next` says. */
function refusalOf(before: Fields, next: Fields): StubAnswer | undefined {
  const { state = '', close_code: closeCode, close_notes: closeNotes } = next
  if (CLOSED.includes(before['state']!) && state !== before['state'])
    return refused('Operation against file incident was aborted by Business Rule: closed incidents cannot be reopened')
  if (!Object.hasOwn(STATES, state)) return refused(`state: invalid value ${state}`)
  if (RESOLVED.includes(state) && (closeCode === '' || closeNotes === ''))
    return refused('Data Policy Exception: The following fields are mandatory: Resolution code, Resolution notes')
  const wrong = ['impact', 'urgency'].find(name => !['1', '2', '3'].includes(next[name]!))
  return wrong === undefined ? undefined : refused(`${wrong}: invalid value ${next[wrong]}`)
}

const refused = (detail: string) => failure(403, 'Operation Failed', detail)
