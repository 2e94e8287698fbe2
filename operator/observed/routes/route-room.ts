/** Which TicketingRoutes of a pipeline fit into its ConfigMap. */
import type { LogPipeline } from '../../api/log-pipeline.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import { selectedRoutes } from './route-selector.ts'

/** Kubernetes takes 1 MiB of data in a ConfigMap; the rest is for what the pipeline itself declares. */
export const MAX_ROUTE_BYTES = 960 * 1024

/** The names of the selected routes that have room, the older ones first: a younger route takes nobody's place. `routes`: all of the namespace. */
export function routesWithRoom(pipeline: LogPipeline, routes: readonly TicketingRoute[]): ReadonlySet<string> {
  const known = remembered.get(pipeline)
  if (known?.routes.length === routes.length && known.routes.every((route, n) => route === routes[n])) return known.names
  const names = new Set<string>()
  let bytes = 0
  for (const route of selectedRoutes(pipeline, routes)) {
    const size = sizeOf(route)
    if (bytes + size > MAX_ROUTE_BYTES) continue
    bytes += size
    names.add(route.metadata.name)
  }
  remembered.set(pipeline, { routes, names })
  return names
}

/** Each route asks for the room of all, mostly without a change in between. */
const remembered = new WeakMap<LogPipeline, { readonly routes: readonly TicketingRoute[]; readonly names: ReadonlySet<string> }>()

/** At least the bytes of its routing and its platform, as they are written. */
function sizeOf({ metadata: { namespace, name }, spec }: TicketingRoute): number {
  const owner = `${namespace}/${name}`
  return Buffer.byteLength(JSON.stringify({ owners: { routing: owner, platform: owner, target: owner }, spec: [spec] }, undefined, 2))
}
