/** Entry of the query process. Descriptor 3 is the link to the store, 4 the pulse. */
import { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { createLink } from './link.ts'
import type { FromProcess, ToProcess } from './messages.ts'
import { createPulseWriter } from './pulse.ts'
import { QueryService } from './query-service.ts'

const LINK_FD = 3
const PULSE_FD = 4

// The store decides when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

const service = new QueryService({ cacheBytes: Number(process.argv[2]), setPulse: createPulseWriter(PULSE_FD) })
const socket = new Socket({ fd: LINK_FD, readable: true, writable: true })
service.connect(createLink<FromProcess, ToProcess>(socket, (message, bytes) => service.take(message, bytes)))
socket.on('close', () => process.exit())
// Should a query hold this thread when the store is killed, the other thread sees it.
new Worker(new URL('./orphan-guard-entry.ts', import.meta.url), {
  workerData: process.ppid,
  resourceLimits: { maxOldGenerationSizeMb: 8 },
}).unref()
