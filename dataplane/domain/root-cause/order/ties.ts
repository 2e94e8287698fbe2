/** Services that are tied to each other, directly or by a third: by a request in which both take part, or by errors that name the other, or follow its errors at once (Decisions 6). */
import type { Failures } from '../detectors/failures.ts'
import type { ObservedSystem } from '../observed/observed-system.ts'

/** Beyond this number of services the ties are not kept. */
const MAX_SERVICES = 10_000

/** Resolves a service's name to the number of its circle; undefined for a service that was not seen. Yields every few ms. */
export function* findTies(
  { services, baseline, window }: ObservedSystem,
  { blames }: Pick<Failures, 'blames'>,
): Generator<void, (service: string) => number | undefined> {
  const parents = Int32Array.from(services, (_, service) => service)
  const rootOf = (service: number): number => {
    let at = service
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!
      at = parents[at]!
    }
    return at
  }
  const tie = (one: number, other: number) => {
    parents[rootOf(one)] = rootOf(other)
  }
  for (const [speaker, blamed] of blames) tie(speaker, blamed)
  let done = 0
  for (const { requests } of [baseline, window])
    for (const { visits } of requests)
      for (const { type } of visits) {
        if (++done % 5_000 === 0) yield
        tie(type.service, visits[0]!.type.service)
      }
  const circles = new Map(services.slice(0, MAX_SERVICES).map((name, service) => [name, rootOf(service)]))
  return name => circles.get(name)
}
