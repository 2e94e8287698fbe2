/** The back ends of the gateway, each with the connections that are kept to it. */
import { basicAuthorization } from '../../http/basic-authorization.ts'
import { COLLECTOR_AWAY } from '../../tenant-export/export-http.ts'
import { createUpstream, type Upstream } from '../../upstream/upstream.ts'
import { BACK_END_NAMES, BACK_ENDS, type BackEnd } from './back-ends.ts'
import type { GatewayConfig } from './gateway-config.ts'

export function openUpstreams({ collector: { http }, backEnds: endpoints, search, log }: GatewayConfig) {
  const collector = createUpstream({ endpoint: http, name: 'the collector', unreachable: COLLECTOR_AWAY }, log)
  const backEnds = Object.fromEntries(
    BACK_ENDS.map(name => [name, createUpstream({ endpoint: endpoints[name], name: BACK_END_NAMES[name] }, log)]),
  ) as Readonly<Record<BackEnd, Upstream>>
  const authorization = search.username === undefined ? {} : { authorization: basicAuthorization(search.username, search.password ?? '') }
  const store = createUpstream({ endpoint: search.endpoint, name: 'the search store', headers: authorization, ca: search.ca }, log)
  return {
    ...{ collector, backEnds, store },
    async close(): Promise<void> {
      await Promise.all([collector, store, ...Object.values(backEnds)].map(upstream => upstream.close()))
    },
  }
}
