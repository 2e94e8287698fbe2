import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { keyOf, qualifiedName } from '../dataplane/kube/resource.ts'
import type { Clock } from '../dataplane/ports/clock.ts'
import { LOG_PIPELINES } from './controllers/kinds.ts'
import { PIPELINE } from './testing/objects.ts'
import { type OperatorHarness, startOperatorHarness } from './testing/operator-harness.ts'

const NAMES = Array.from({ length: 60 }, (_, n) => `slow-${n}`)
const HANGING = 'slow-3'
const STEP_MS = 100
const STEPS = 20
/** Turns of the event loop in which a request and its answer go through the sockets. */
const TURNS = 10

describe('An API server that takes seconds for each answer', function () {
  this.timeout(60_000)
  let harness: OperatorHarness
  beforeEach(async () => {
    harness = await startOperatorHarness()
  })
  afterEach(async () => {
    harness.server.pace(async () => {})
    await harness.close()
  })

  const create = (name: string) => {
    const metadata = { name, namespace: name }
    const pipeline = { ...PIPELINE, metadata, spec: { mode: 'AllInOne' } }
    harness.server.storage.create(qualifiedName(LOG_PIPELINES), keyOf(metadata), pipeline, 'kubectl')
  }
  const objectsOf = (name: string): number =>
    ['statefulsets.apps', 'services', 'serviceaccounts', 'networkpolicies.networking.k8s.io', 'configmaps']
      .flatMap(resource => harness.server.storage.list(resource))
      .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] === name).length

  for (const [atOnce, leastMs, limitMs] of [
    [16, 2000, 240_000],
    [1000, 2000, 150_000],
    [16, 3000, 330_000],
  ] as const)
    it(`has all objects made in time where ${atOnce} are answered at a time, in ${leastMs} ms or more, and one hangs, and keeps the lead`, async () => {
      const { server, clock } = harness
      create('first')
      let lost: unknown
      ;(await harness.run()).failed.catch(error => {
        lost = error
      })
      await harness.settle()
      const whole = objectsOf('first')
      for (const name of NAMES) create(name)
      server.pace(slowly(clock, atOnce, leastMs))
      server.fault({ resource: 'statefulsets.apps', name: HANGING }, { kind: 'silence' }, Number.POSITIVE_INFINITY)
      const endMs = clock.nowMs() + limitMs
      let left: readonly string[] = NAMES
      while (left.length > 1 && clock.nowMs() < endMs && lost === undefined) {
        for (let step = 0; step < STEPS; step++) {
          clock.advance(STEP_MS)
          for (let turn = 0; turn < TURNS; turn++) await nextTurn()
        }
        left = left.filter(name => objectsOf(name) < whole)
      }
      expect(lost).to.equal(undefined)
      expect(left).to.deep.equal([HANGING])
    })
})

/** Each request takes so long, or up to a second more, so many at a time; the others wait for their turn. */
function slowly(clock: Clock, atOnce: number, leastMs: number): () => Promise<void> {
  let busy = 0
  let count = 0
  const waiting: (() => void)[] = []
  return async () => {
    if (busy < atOnce) busy += 1
    else await new Promise<void>(resolve => waiting.push(resolve))
    await clock.sleep(leastMs + ((count++ * 370) % 1000))
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }
}
