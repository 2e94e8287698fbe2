/** Entry of a thread that ends its process when the parent is gone, whatever the main thread is at. */
import { workerData } from 'node:worker_threads'

const LOOK_EVERY_MS = 1_000

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
}, LOOK_EVERY_MS)
