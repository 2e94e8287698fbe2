/** Asks the console for incidents of the shop, as a person would look at them. */
import { basicAuthorization } from '../../http/basic-authorization.ts'
import { causeOf } from './collector.ts'
import { DemoProblem } from './demo-problem.ts'
import type { ConsoleLogin } from './options.ts'
import { SERVICE_NAMES, SERVICES } from './services.ts'

const REQUEST_TIMEOUT_MS = 10_000

/** The part of an incident that the demo looks at (Spec: Incident; Decisions 6). */
export interface SeenIncident {
  readonly id: string
  readonly title: string
  readonly severity: string
  readonly status: string
  readonly service: string
  readonly updatedAt: string
  readonly rootCause?: { readonly summary: string; readonly candidates: readonly { readonly service: string }[] }
}

export interface Incidents {
  /** Incidents of the shop's services, the newest first. Throws `DemoProblem`, as all of these. */
  list(signal: AbortSignal): Promise<readonly SeenIncident[]>
  /** The newest record that is stored of the shop since a time, ms since the epoch. */
  newestRecordMs(sinceMs: number, signal: AbortSignal): Promise<number | undefined>
  addressOf(incident: SeenIncident): string
}

/** Services of others may have the names of the shop's. */
const HOSTS = Object.values(SERVICES).map(({ host }) => host)

interface IncidentsOptions {
  readonly consoleUrl: string
  readonly consoleLogin?: ConsoleLogin
  readonly tenant: string
}

export function createIncidents({ consoleUrl, consoleLogin, tenant }: IncidentsOptions): Incidents {
  const login = consoleLogin && { authorization: basicAuthorization(consoleLogin.username, consoleLogin.password) }
  const headers = { 'content-type': 'application/json', 'x-service-tenant-id': tenant, ...login }
  const ask = async (path: string, signal: AbortSignal, body?: object): Promise<unknown> => {
    const init = { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]) }
    let response: Response
    try {
      response = await fetch(`${consoleUrl}${path}`, body === undefined ? init : { ...init, method: 'POST', body: JSON.stringify(body) })
    } catch (error) {
      throw new DemoProblem(`no console answers at ${consoleUrl} (${causeOf(error)}).
Start one with \`npm start\` (or \`logpipeline standalone\`) in another terminal, or say with --console and --endpoint where it is.`)
    }
    if (response.status === 401)
      throw new DemoProblem(
        login === undefined
          ? `${consoleUrl} asks for a password: expected user name and password in the address, as --console http://admin:password@localhost:3000`
          : `${consoleUrl} refuses this user name or password (--console)`,
      )
    if (!response.ok)
      throw new DemoProblem(`${consoleUrl}${path} answered ${response.status}: is this the console of a logpipeline? (--console)`)
    return await response.json()
  }
  return {
    async list(signal) {
      const listed = (await ask('/api/ticketing/api/incidents?limit=200', signal)) as readonly SeenIncident[]
      return listed.filter(({ service }) => (SERVICE_NAMES as readonly string[]).includes(service))
    },
    async newestRecordMs(sinceMs, signal) {
      const filter = [{ terms: { host: HOSTS } }, { range: { timestamp: { gte: new Date(sinceMs).toISOString() } } }]
      const body = { size: 1, sort: [{ timestamp: 'desc' }], _source: ['timestamp'], query: { bool: { filter } } }
      const found = (await ask('/api/search/service-logs-*/_search', signal, body)) as {
        readonly hits: { readonly hits: readonly { readonly _source: { readonly timestamp: string } }[] }
      }
      const newest = found.hits.hits[0]
      return newest && Date.parse(newest._source.timestamp)
    },
    addressOf: ({ id }) => `${consoleUrl}/incidents/${id}`,
  }
}
