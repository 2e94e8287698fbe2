/** A fake API server, a client of it and a clock that stands, for tests of what runs against them. */
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createHttpKubeClient } from '../http-client.ts'
import type { KubeClient } from '../kube-client.ts'
import type { Resource } from '../resource.ts'
import { eventually } from './eventually.ts'
import { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts'

export interface TestCluster {
  readonly server: FakeApiServer
  readonly clock: FakeClock
  readonly client: KubeClient
  /** Waits until no request is under way and so many sleep; default: any number. */
  settle(sleepers?: number): Promise<void>
  /** Moves time on in steps, settling before each and after the last. */
  pass(totalMs: number, stepMs: number, sleepers?: number): Promise<void>
  stop(): Promise<void>
}

/** Turns of the event loop without a request after which nothing more is expected to happen by itself. */
const QUIET_TURNS = 5

export async function startTestCluster(resources: readonly Resource[]): Promise<TestCluster> {
  const clock = createFakeClock()
  const server = await startFakeApiServer(resources, clock.nowMs)
  let underWay = 0
  const client = createHttpKubeClient(server.access, {
    clock,
    rateLimit: { take: async () => void underWay++ },
    userAgent: 'test',
    onRequest: () => void underWay--,
  })
  const settle = async (sleepers?: number) => {
    let quiet = 0
    await eventually(`nothing under way, ${sleepers} sleeping (${underWay}, ${clock.sleepers})`, () => {
      quiet = underWay === 0 && (sleepers === undefined || clock.sleepers === sleepers) ? quiet + 1 : 0
      return quiet > QUIET_TURNS
    })
  }
  return {
    server,
    clock,
    client,
    settle,
    async pass(totalMs, stepMs, sleepers) {
      for (let passed = 0; passed < totalMs; passed += stepMs) {
        await settle(sleepers)
        clock.advance(stepMs)
      }
      await settle(sleepers)
    },
    async stop() {
      await client.close()
      await server.stop()
    },
  }
}
