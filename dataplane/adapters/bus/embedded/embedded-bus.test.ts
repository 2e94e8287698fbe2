import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bus } from '../../../ports/bus.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { testBusContract } from '../testing/bus-contract-suite.ts'
import { attachEmbeddedBus, type EmbeddedBus, openEmbeddedBus } from './embedded-bus.ts'

const TOPICS = [
  { name: 'keyed', partitions: 3, retentionMs: 3_600_000 },
  { name: 'single', partitions: 1, retentionMs: 3_600_000 },
]

/** `use` picks the client that the tests use: the owner's own, or one that is attached. */
async function makeHarness(use: (owner: EmbeddedBus) => Bus) {
  const dir = mkdtempSync(join(tmpdir(), 'bus-'))
  const openOwner = () => openEmbeddedBus({ dir, topics: TOPICS, clock: systemClock, minFreeBytes: 0 })
  let owner = await openOwner()
  const clients: Bus[] = []
  const opened = (client: Bus) => {
    clients.push(client)
    return client
  }
  const stopAll = async () => {
    for (const client of clients.splice(0)) await client.stop()
    await owner.stop()
  }
  return {
    bus: opened(use(owner)),
    topics: { keyed: 'keyed', single: 'single' },
    connect: async () => opened(attachEmbeddedBus(owner.share(), { clock: systemClock })),
    async reopen() {
      await stopAll()
      owner = await openOwner()
      return opened(use(owner))
    },
    async close() {
      await stopAll()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

testBusContract('embedded, in the thread of the owner', () => makeHarness(owner => owner))
testBusContract('embedded, attached', () => makeHarness(owner => attachEmbeddedBus(owner.share(), { clock: systemClock })))
