import { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { giveBackGarbage } from '../../memory/give-back-garbage.ts'
import { keepCompiledCode } from '../../process/keep-compiled-code.ts'
import { createLink } from './link.ts'
import type { FromProcess, ToProcess } from './messages.ts'
import { createPulseWriter } from './pulse.ts'
import { QueryService, type QueryServiceConfig } from './query-service.ts'

const LINK_FD = 3
const PULSE_FD = 4

/** Should a query hold the main thread when the store is killed, this thread sees it. As text it needs no loader, which takes memory. */
const ORPHAN_GUARD = `
const { workerData: parent } = require('node:worker_threads')
const look = () => process.ppid !== parent && process.kill(process.pid, 'SIGKILL')
setInterval(look, 1000)
look()
`
/** Resident memory from which on garbage that came together goes back to the system: a process that only follows what is stored holds less. */
const GIVE_BACK_FROM_BYTES = 80 * 1024 * 1024
const GUARD_LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }

/** Makes this process a query process: descriptor 3 is the link to the store, 4 the pulse; the arguments are its memory (cache, heap, all of it; bytes) and the store's process. */
export function serveQueries(execute?: QueryServiceConfig['execute']): void {
  // The store decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const [cacheBytes, heapBytes, processBytes, parent] = process.argv.slice(2).map(Number)
  const service = new QueryService({
    cacheBytes: cacheBytes!,
    limits: { heapBytes: heapBytes!, processBytes: processBytes! },
    setPulse: createPulseWriter(PULSE_FD),
    ...(execute !== undefined && { execute }),
  })
  const socket = new Socket({ fd: LINK_FD, readable: true, writable: true })
  service.connect(createLink<FromProcess, ToProcess>(socket, (message, bytes) => service.take(message, bytes)))
  socket.on('close', () => process.exit())
  new Worker(ORPHAN_GUARD, { eval: true, workerData: parent, resourceLimits: GUARD_LIMITS }).unref()
  giveBackGarbage({ fromBytes: GIVE_BACK_FROM_BYTES })
  keepCompiledCode()
}
