import { createServer } from 'node:net'

/** Below the ports that systems give to those who ask for any, which other tests do all the time. */
const [FIRST, LAST] = [20_000, 27_999]
const MAX_TRIES = 100

/** A port of loopback that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1))
    if (await isFree(port)) return port
  }
  throw new Error(`${MAX_TRIES} ports between ${FIRST} and ${LAST} of 127.0.0.1 are taken`)
}

/** So many different ones. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
