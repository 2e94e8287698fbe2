import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { keyOf, qualifiedName } from '../dataplane/kube/resource.ts'
import type { Fault } from '../dataplane/kube/testing/fake-faults.ts'
import type { WatchBreak } from '../dataplane/kube/testing/fake-watches.ts'
import { LOG_PIPELINES, SECRETS } from './controllers/kinds.ts'
import type { RunningOperator } from './main.ts'
import { PIPELINE, SECRET } from './testing/objects.ts'
import { type OperatorHarness, startOperatorHarness } from './testing/operator-harness.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfter: 1 },
  { kind: 'status', code: 503, reason: 'ServiceUnavailable' },
  { kind: 'status', code: 409, reason: 'Conflict' },
  { kind: 'status', code: 410, reason: 'Expired' },
  { kind: 'reset' },
  { kind: 'truncate' },
  { kind: 'silence' },
]
const BREAKS: readonly WatchBreak[] = ['gone', 'truncated', 'ended', 'reset', 'silent']

const step = fc.oneof(
  fc.record({ kind: fc.constant('fault' as const), fault: fc.constantFrom(...FAULTS), times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('break' as const), how: fc.constantFrom(...BREAKS) }),
  fc.record({ kind: fc.constantFrom('restart' as const, 'delete' as const, 'rotate' as const, 'operator' as const) }),
)

describe('The operator in trouble', () => {
  it('has everything as it should be once the trouble is over, and then writes nothing more (property)', async function () {
    this.timeout(30_000)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async steps => {
        const harness = await startOperatorHarness()
        try {
          await bear(harness, steps)
        } finally {
          await harness.close()
        }
      }),
      { numRuns: 5, seed: 11, endOnFailure: true },
    )
  })
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function bear(harness: OperatorHarness, steps: readonly Step[]): Promise<void> {
  const { server, clock } = harness
  server.storage.create(qualifiedName(SECRETS), keyOf(SECRET.metadata), SECRET, 'kubectl')
  for (const name of ['a', 'b']) {
    const pipeline = { ...PIPELINE, metadata: { ...PIPELINE.metadata, name } }
    server.storage.create(qualifiedName(LOG_PIPELINES), keyOf(pipeline.metadata), pipeline, 'kubectl')
  }
  const pod = await startPod(harness)
  const heals: (() => void)[] = []
  for (const [n, step] of steps.entries()) {
    const untilMs = clock.nowMs() + 1500
    if (step.kind === 'fault') heals.push(server.fault({}, step.fault, step.times))
    else if (step.kind === 'break') server.watches.break(step.how)
    else if (step.kind === 'restart') server.restart()
    else if (step.kind === 'delete') deleteSomething(harness)
    else if (step.kind === 'rotate')
      server.storage.patch('secrets', 'shop/search', { data: { password: Buffer.from(String(n)).toString('base64') } }, 'kubectl')
    else await pod.restart()
    await harness.passUntil('some time', () => clock.nowMs() > untilMs)
  }
  for (const heal of heals) heal()
  // Silent watches are noticed after 75 s, and the longest back-off is 120 s.
  await harness.settle(200_000)
  const names = server.storage.list('deployments.apps').map(({ metadata }) => metadata.name)
  expect(names).to.deep.equal(['agent', 'bridge', 'collector', 'ticketing'].flatMap(role => [`a-${role}`, `b-${role}`]).sort())
  server.forgetRequests()
  await pod.restart()
  await harness.settle()
  expect(harness.writes().map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)).to.deep.equal([])
}

/** Like the kubelet: runs the operator again when it has failed. */
async function startPod(harness: OperatorHarness): Promise<{ restart(): Promise<void> }> {
  let operator: RunningOperator
  const begin = async () => {
    const begun = await harness.run()
    operator = begun
    begun.failed.catch(() => {
      if (operator === begun) void restart()
    })
  }
  const restart = async () => {
    await harness.stop(operator)
    await begin()
  }
  await begin()
  return { restart }
}

function deleteSomething({ server }: OperatorHarness): void {
  const [first] = server.storage.list('deployments.apps')
  if (first !== undefined) server.storage.delete('deployments.apps', keyOf(first.metadata))
}
