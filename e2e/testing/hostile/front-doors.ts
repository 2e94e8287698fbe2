/** Hostile requests to the doors that others are let in by: the gateway, with the key of a tenant, and the dashboard. */
import type { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { type ControlApi, hostileControlRequests } from '../../../dataplane/testing/hostile/control-requests.ts'
import { mutateBytes, ODD_NAMES, ODD_TEXTS, oddValue } from '../../../dataplane/testing/hostile/odd-values.ts'
import { hostileOtlpRequests } from '../../../dataplane/testing/hostile/otlp-requests.ts'
import { hostileSearchRequests } from '../../../dataplane/testing/hostile/search-requests.ts'
import { SeededRandom } from '../../../dataplane/testing/hostile/seeded-random.ts'
import { BYSTANDER } from './bystander.ts'
import { type Attack, type HttpAttack, sendGrpc, sendHttp, sessionTo } from './send-attack.ts'

const PREFIXES: Readonly<Record<ControlApi, string>> = {
  bridge: '/api/bridge',
  ticketing: '/api/ticketing',
  agent: '/api/agent',
  features: '/api/features',
  scheduler: '/api/airflow',
}
const MAX_SHOWN = 200
/** Words of the bystander's records and of its indices, which no answer to another tenant holds. */
const OF_BYSTANDER = new RegExp(`${BYSTANDER}|order \\d+(?: is "done|: connection)|"b-\\d+"`)

interface Gateway {
  readonly gateway: string
  readonly key: string
}

/** Endless. What the tenant of the key may not see is an offence, however the request looks. */
export function* attacksOnGateway({ gateway, key }: Gateway, seed: number): Generator<Attack, never> {
  const random = new SeededRandom(seed)
  const agent = new TlsAgent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false })
  const session = sessionTo(gateway, { rejectUnauthorized: false })
  const own = { 'x-service-api-key': key }
  const http = (attack: HttpAttack): Attack => ({
    title: shown(attack),
    send: () => sendHttp(agent, gateway, { ...attack, headers: { ...attack.headers, ...own } }, OF_BYSTANDER),
  })
  const [control, search, otlp] = [hostileControlRequests(seed), hostileSearchRequests(seed), hostileOtlpRequests(seed)]
  for (;;) {
    const kind = random.below(10)
    if (kind < 4) {
      const attack = search.next().value
      yield http({ ...attack, path: `/api/search${attack.path}` })
    } else if (kind < 7) {
      const { api, ...attack } = control.next().value
      yield http({ ...attack, path: PREFIXES[api] + attack.path })
    } else {
      const { door, contentType, contentEncoding, body } = otlp.next().value!
      if (door === 'grpc') yield { title: `gRPC of ${body.length} bytes`, send: () => sendGrpc(session, contentEncoding, body, own) }
      else {
        const headers = { 'content-type': contentType, ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }) }
        yield http({ method: 'POST', path: '/v1/logs', headers, body })
      }
    }
  }
}

/** Endless: uploads of all kinds, log-ins, and what the gateway gets, as one tenant. */
export function* attacksOnDashboard(dashboard: string, agent: Agent, seed: number): Generator<Attack, never> {
  const random = new SeededRandom(seed)
  const tenant = { 'x-service-tenant-id': 'mallory' }
  const http = (attack: HttpAttack): Attack => ({
    title: shown(attack),
    send: () => sendHttp(agent, dashboard, { ...attack, headers: { ...attack.headers, ...tenant } }, OF_BYSTANDER),
  })
  const [control, search] = [hostileControlRequests(seed), hostileSearchRequests(seed)]
  for (;;) {
    const kind = random.below(10)
    if (kind < 5) yield http(hostileUpload(random))
    else if (kind < 7) {
      const attack = search.next().value
      yield http({ ...attack, path: `/api/search${attack.path}` })
    } else {
      const { api, ...attack } = control.next().value
      yield http({ ...attack, path: PREFIXES[api] + attack.path })
    }
  }
}

const BOUNDARY = 'a-boundary'
const MAX_ENTRIES = 200

/** A file of entries with odd members; raw, as a form, or damaged on its way. */
function hostileUpload(random: SeededRandom): HttpAttack {
  const entries = Array.from({ length: 1 + random.below(MAX_ENTRIES) }, () => hostileEntry(random))
  const file = Buffer.from(random.chance(0.5) ? JSON.stringify(entries) : entries.map(entry => JSON.stringify(entry)).join('\n'))
  const bytes = random.chance(0.3) ? mutateBytes(file, random) : file
  const isForm = random.chance(0.4)
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename=${JSON.stringify(random.pick(ODD_NAMES))}\r\n\r\n`
  const form = () => Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)])
  const type = isForm
    ? `multipart/form-data; boundary=${BOUNDARY}`
    : random.pick(['application/json', 'application/x-ndjson', 'text/plain'])
  const body = isForm ? form() : bytes
  return {
    method: 'POST',
    path: '/api/upload',
    headers: { 'content-type': type, ...(random.chance(0.05) && { 'content-encoding': 'gzip' }) },
    body: isForm && random.chance(0.3) ? mutateBytes(body, random) : body,
  }
}

function hostileEntry(random: SeededRandom): unknown {
  if (random.chance(0.05)) return oddValue(random)
  const names = ['message', 'msg', 'level', 'severity', 'timestamp', 'time', 'ts', 'service', 'trace_id', 'span_id', 'host', 'tenant_id']
  const members = Array.from({ length: random.below(6) }, () => [
    random.chance(0.3) ? random.pick(ODD_NAMES) : random.pick(names),
    random.chance(0.5) ? random.pick(ODD_TEXTS) : oddValue(random),
  ])
  return Object.fromEntries(members)
}

function shown({ method, path, body }: HttpAttack): string {
  return `${method} ${path.slice(0, MAX_SHOWN)} ${body.toString('latin1', 0, MAX_SHOWN)}`
}
