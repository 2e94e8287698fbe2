/** One life of the query process, as the store sees it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createLifeSigns, type LifeSigns } from './life-signs.ts'
import { createLink, type Link } from './link.ts'
import type { MemoryLimits } from './memory-guard.ts'
import type { FromProcess, ToProcess } from './messages.ts'
import { NO_PULSE, openPulse, type Pulse, readPulse } from './pulse.ts'

export interface QueryProcessConfig {
  /** Where the store may write. */
  readonly dir: string
  readonly entry: URL
  readonly cacheBytes: number
  /** How many times `look` may be called while the process says nothing: a process that is stopped, or waits for a disk for ever, is ended. */
  readonly maxSilentLooks: number
}

/** Why it ended: `stuck` and `memory` by the store, `crashed` by itself, `killed` by somebody else. */
export type EndReason = 'stuck' | 'memory' | 'crashed' | 'killed' | 'stopped'

export interface ProcessEnd {
  readonly reason: EndReason
  /** The query that it ended for; 0: none. */
  readonly culprit: number
  /** The last characters that it wrote to stderr. */
  readonly said: string
  readonly livedMs: number
}

/** The JavaScript heap of the process, MiB. Beyond it the process ends by itself. */
const MAX_HEAP_MB = 256
/** Memory of the process without the copies of indices, bytes. Beyond it the store ends it. */
const MAX_PROCESS_BYTES = 448 * 1024 * 1024
/** Both are less in a container whose limit is below about 1.25 GiB: the process gets this share of it. */
const CONTAINER_SHARE = 0.35
/** Times the limit, while answers are on their way and no query is to blame. */
const PATIENT_SHARE = 1.25
const MIB = 1024 * 1024
/** CPU time that one turn of a query may take, ms; a turn that keeps to its time takes 8. */
const MAX_TURN_CPU_MS = 2_000
/** Time that one turn may take on a machine with no CPU to spare, ms. */
const MAX_TURN_MS = 10_000
/** A turn that lasts so long is itself what takes the memory, ms. */
const LONG_TURN_MS = 100
/** A process that has just been started may be silent for so many times as long. */
const START_PATIENCE = 6
/** Niceness beyond the store's own: taking records in comes first. */
const NICENESS = 2
const LAST_NICENESS = 19
const STOP_MS = 1_000
const SAID_CHARACTERS = 2_000
const MS_PER_TICK = 10
const PAGE_BYTES = 4096

/**
 * Garbage is marked and swept on other threads: on the queries' own, each large collection held all queries for 50 to 90 ms of CPU. Short
 * collections stay there, since the other threads may have to wait for a core. How far the heap may grow is up to the process (`memory-guard.ts`).
 * None of these flags counts for compiled code: Node reads none of its own where others are set (`process/README.md`).
 */
const FLAGS = [
  `--max-old-space-size=${MAX_HEAP_MB}`,
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
  '--disable-warning=ExperimentalWarning',
]
/** Buffers from this size on go back to the system once they are free, bytes. The allocator would raise it with the first large one, and keep them. */
const MMAP_FROM_BYTES = 64 * 1024
/** Environment variables that the process gets: none that holds a secret. */
const PASSED_ENVIRONMENT = /^(NODE_.*|MALLOC_.*|PATH|HOME|TMPDIR|TZ|LANG|LD_LIBRARY_PATH)$/

export class QueryProcess {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #link: Link<ToProcess>
  readonly #pulseFd: number
  readonly #lifeSigns: LifeSigns
  readonly #startedMs = performance.now()
  readonly #limits = memoryLimits()
  #said = ''
  #ending: { readonly reason: EndReason; readonly culprit: number } | undefined
  #last: Pulse = NO_PULSE
  #lastMs = 0
  #lastCpuMs = 0
  #lastBytes = 0

  /** `onEnd` is called once, when nothing more comes. */
  constructor(
    { dir, entry, cacheBytes, maxSilentLooks }: QueryProcessConfig,
    onMessage: (message: FromProcess, bytes: Buffer) => void,
    onEnd: (end: ProcessEnd) => void,
  ) {
    this.#pulseFd = openPulse(dir)
    const { heapBytes, processBytes } = this.#limits
    const heap = `--max-old-space-size=${Math.floor(heapBytes / MIB)}`
    const figures = [cacheBytes, heapBytes, processBytes, process.pid].map(String)
    this.#child = spawn(process.execPath, [...FLAGS, heap, fileURLToPath(entry), ...figures], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', this.#pulseFd],
      env: {
        MALLOC_MMAP_THRESHOLD_: String(MMAP_FROM_BYTES),
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ENVIRONMENT.test(name))),
      },
    })
    this.pid = this.#child.pid ?? 0
    lowerPriority(this.pid)
    const limits = { maxSilent: maxSilentLooks, maxSilentAtStart: maxSilentLooks * START_PATIENCE }
    this.#lifeSigns = createLifeSigns(limits, () => void this.send({ kind: 'areYouThere' }))
    this.#link = createLink<ToProcess, FromProcess>(this.#child.stdio[3] as Socket, (message, bytes) => {
      this.#lifeSigns.heard()
      onMessage(message, bytes)
    })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-SAID_CHARACTERS)
    })
    this.#child.once('error', error => {
      this.#said = error.message
    })
    this.#child.once('close', (code, signal) => {
      const { reason, culprit } = this.#ending ?? this.#endedItself(code, signal)
      closeSync(this.#pulseFd)
      onEnd({ reason, culprit, said: this.#said, livedMs: performance.now() - this.#startedMs })
    })
  }

  send(message: ToProcess, bytes?: readonly Uint8Array[]): boolean {
    return this.#link.send(message, bytes)
  }

  drained(): Promise<void> {
    return this.#link.drained()
  }

  /**
   * Ends it when it holds too much memory, a query does not let go of its thread, or nothing comes of it. To be called some times a second. `isAnswering`: an
   * answer has begun, whose work would be done again.
   */
  look(isAnswering: boolean): void {
    if (this.#ending !== undefined) return
    const pulse = readPulse(this.#pulseFd)
    const nowMs = performance.now()
    const bytes = residentBytes(this.pid) - pulse.heldBytes
    if (pulse.turn !== this.#last.turn) {
      this.#lastBytes = bytes
      this.#lastMs = nowMs
      this.#lastCpuMs = cpuMs(this.pid)
    }
    this.#last = pulse
    const turnMs = nowMs - this.#lastMs
    const isStuck = pulse.query !== 0 && (turnMs > MAX_TURN_MS || cpuMs(this.pid) - this.#lastCpuMs > MAX_TURN_CPU_MS)
    const culprit = this.#blamed(pulse, turnMs)
    // Memory that the allocator has not given back can wait for a while.
    const isPatient = culprit === 0 && isAnswering
    if (bytes > this.#limits.processBytes * (isPatient ? PATIENT_SHARE : 1)) this.#kill('memory', culprit)
    // A heap that is nearly full is gone through again and again.
    else if (isStuck) this.#kill(this.#isFull(bytes) ? 'memory' : 'stuck', pulse.query)
    else if (!this.#lifeSigns.look()) this.#kill('stuck', pulse.query)
  }

  /** The turn itself has taken much of the heap, or all of it is taken. */
  #isFull(bytes: number): boolean {
    const { heapBytes } = this.#limits
    return bytes > heapBytes || bytes - this.#lastBytes > heapBytes / 4
  }

  /** The query to blame; 0 where little is in use: the rest is memory that the allocator has not given back. */
  #blamed({ query, heaviest, usedBytes, heldBytes }: Pulse, turnMs: number): number {
    if (turnMs > LONG_TURN_MS && query !== 0) return query
    return usedBytes - heldBytes > this.#limits.processBytes / 2 ? heaviest || query : 0
  }

  #kill(reason: EndReason, culprit: number): void {
    this.#ending = { reason, culprit }
    this.#child.kill('SIGKILL')
  }

  /** A heap that is full ends the process with an abort. */
  #endedItself(code: number | null, signal: NodeJS.Signals | null): { readonly reason: EndReason; readonly culprit: number } {
    if (signal === 'SIGKILL') return { reason: 'killed', culprit: 0 }
    const isMemory = /heap|memory|allocation/i.test(this.#said) && (signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134)
    return { reason: isMemory ? 'memory' : 'crashed', culprit: readPulse(this.#pulseFd).query }
  }

  /** Resolves when it is gone; `onEnd` has been called then. */
  async stop(): Promise<void> {
    this.#ending = { reason: 'stopped', culprit: 0 }
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = new Promise<void>(resolve => this.#child.once('close', () => resolve()))
    this.#link.close()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    await gone
    clearTimeout(timer)
  }
}

function memoryLimits(): MemoryLimits {
  // 0 where it is not known, beyond any memory where there is no limit.
  const container = process.constrainedMemory() || Number.POSITIVE_INFINITY
  const share = Math.min(1, (container * CONTAINER_SHARE) / MAX_PROCESS_BYTES)
  return { heapBytes: share * MAX_HEAP_MB * MIB, processBytes: share * MAX_PROCESS_BYTES }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(LAST_NICENESS, getPriority() + NICENESS))
  } catch {
    // Already gone, or not ours to change: it runs as it is.
  }
}

/** CPU time so far; 0 where there is no /proc. */
function cpuMs(pid: number): number {
  const stat = readProc(pid, 'stat')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK
}

/** 0 where there is no /proc. */
function residentBytes(pid: number): number {
  return Number(readProc(pid, 'statm').split(' ')[1] ?? 0) * PAGE_BYTES
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
