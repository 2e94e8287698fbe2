/** Resident memory of a process and of all that it has started, MB, as the system counts it: pages that two processes share count for both. */
import { readdirSync, readFileSync } from 'node:fs'

const LOOK_EVERY_MS = 250

export function residentMb(pid: number): number {
  const { rssKb } = statusOf(pid)
  return childrenOf(pid).reduce((sum, child) => sum + residentMb(child), rssKb / 1024)
}

/** The most of it until `done` is called. */
export function watchResidentMb(pid: number): { done(): number } {
  let most = residentMb(pid)
  const timer = setInterval(() => {
    most = Math.max(most, residentMb(pid))
  }, LOOK_EVERY_MS)
  return {
    done() {
      clearInterval(timer)
      return Math.round(most)
    },
  }
}

function statusOf(pid: number): { readonly rssKb: number } {
  return { rssKb: Number(/^VmRSS:\s+(\d+) kB$/m.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0) }
}

function childrenOf(pid: number): readonly number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.flatMap(thread => readOr(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number))
}

/** Threads and processes end while they are looked at. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
