/** The doors of a standalone through which hostile requests come, and how each is sent. */
import { Agent } from 'node:http'
import { hostileControlRequests } from '../../../dataplane/testing/hostile/control-requests.ts'
import { hostileOtlpRequests } from '../../../dataplane/testing/hostile/otlp-requests.ts'
import { hostileSearchRequests } from '../../../dataplane/testing/hostile/search-requests.ts'
import type { Standalone } from '../standalone-process.ts'
import { attacksOnDashboard, attacksOnGateway } from './front-doors.ts'
import { type Attack, sendGrpc, sendHttp, sessionTo } from './send-attack.ts'
import { attacksOnWires } from './wire-attacks.ts'

export type Addresses = Pick<
  Standalone,
  'grpc' | 'collector' | 'bridge' | 'ticketing' | 'agent' | 'features' | 'scheduler' | 'search' | 'gateway' | 'dashboard'
> & {
  /** An API key of the attacker's own tenant. */
  readonly key: string
}

export const DOORS = ['otlp', 'search', 'control', 'gateway', 'dashboard', 'wire'] as const
export type Door = (typeof DOORS)[number]

/** Endless; the same seed gives the same requests. */
export function* attacksOn(door: Door, addresses: Addresses, seed: number): Generator<Attack> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  if (door === 'otlp') yield* otlpAttacks(addresses, agent, seed)
  else if (door === 'gateway') yield* attacksOnGateway(addresses, seed)
  else if (door === 'dashboard') yield* attacksOnDashboard(addresses.dashboard, agent, seed)
  else if (door === 'wire') {
    const { key: _key, grpc, ...ports } = addresses
    yield* attacksOnWires({ ...ports, grpc: `http://${grpc}` }, seed)
  } else if (door === 'search') {
    for (const { method, path, headers, body, note } of hostileSearchRequests(seed))
      yield {
        title: `${method} ${path.slice(0, 200)} (${note})`,
        send: () => sendHttp(agent, addresses.search, { method, path, headers, body }),
      }
  } else {
    for (const { api, method, path, headers, body } of hostileControlRequests(seed))
      yield {
        title: `${api}: ${method} ${path.slice(0, 200)} ${body.toString('latin1', 0, 200)}`,
        send: () => sendHttp(agent, addresses[api], { method, path, headers, body }),
      }
  }
}

function* otlpAttacks({ collector, grpc }: Addresses, agent: Agent, seed: number): Generator<Attack> {
  const session = sessionTo(`http://${grpc}`)
  for (const { door, contentType, contentEncoding, body, note } of hostileOtlpRequests(seed)) {
    const title = `${door} of ${body.length} bytes (${note})`
    if (door === 'grpc') yield { title, send: () => sendGrpc(session, contentEncoding, body) }
    else {
      const headers = { 'content-type': contentType, ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }) }
      yield { title, send: () => sendHttp(agent, collector, { method: 'POST', path: '/v1/logs', headers, body }) }
    }
  }
}
