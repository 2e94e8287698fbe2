/** The query process: follows what is committed, and answers queries on it. */
import { threadCpuUsage } from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { ApiError, tryLater } from '../api-error.ts'
import { executeQuery } from '../calls/execute-query.ts'
import { mayNamePointInTime, type QueryAnswer, type QueryCall, type QueryContext } from '../calls/query-call.ts'
import { STRICT } from '../catalog/resolve.ts'
import { createRedCopy, damagedError } from '../catalog/unavailable-storage.ts'
import { createPace } from '../query/budget/pace.ts'
import type { Query } from '../query/parse/query.ts'
import type { SearchTarget } from '../query/run/search-target.ts'
import { DamagedSegment } from '../storage/damaged-segment.ts'
import { createTableCopy } from '../storage/document-table/table-copy.ts'
import { type IndexCopy, type IndexSnapshot, SnapshotGone } from '../storage/index-copy.ts'
import type { ReadableIndex } from '../storage/index-storage.ts'
import { createLogCopy, type LogCopy } from '../storage/log-engine/log-copy.ts'
import { type ByteCache, createByteCache } from '../storage/log-engine/sealed/byte-cache.ts'
import type { Link } from './link.ts'
import { MemoryGuard, type MemoryLimits } from './memory-guard.ts'
import type { FromProcess, Refusal, ToProcess } from './messages.ts'
import type { Pulse } from './pulse.ts'
import { type Reader, RetiredMemory } from './retired-memory.ts'
import { type QueryTurn, TurnQueue } from './turn-queue.ts'
import { warmUp } from './warm-up.ts'

export interface QueryServiceConfig {
  /** Memory for parts of log indices that were read lately, bytes. */
  readonly cacheBytes: number
  readonly limits: MemoryLimits
  readonly setPulse: (pulse: Pulse) => void
  /** Runs a query; `executeQuery` but for tests. */
  readonly execute?: typeof executeQuery
}

/** Bytes of an answer that are on their way and not taken yet. */
const WINDOW_BYTES = 1024 * 1024
/** Bytes of all answers that wait for their clients. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** How often a query begins anew because its files were removed while it ran. */
const MAX_GONE = 8
/** Memory of indices over tails, bytes. Beyond it the one asked for longest ago is dropped, and made again when a query needs it. */
const MAX_TAIL_BYTES = 128 * 1024 * 1024

/** CPU time that is spent before queries come on what the first of them would wait for, ms. */
const WARM_UP_CPU_MS = 2_000
/** Share of the memory for parts of log indices up to which columns are read then. */
const WARM_SHARE = 0.5
/** How often it is looked whether queries are over, ms. */
const WARM_UP_PAUSE_MS = 20

/** In place of a query's id, as the pulse says it. */
const NOBODY = 0

interface Running {
  readonly turn: QueryTurn
  readonly asks: Map<number, (resolved: Resolved) => void>
  untaken: number
  onTaken: (() => void) | undefined
}

type Resolved =
  | readonly { readonly handle: number; readonly snapshot: IndexSnapshot | undefined; readonly filter: Query | undefined }[]
  | Refusal

type Asked = Pick<Extract<FromProcess, { kind: 'ask' }>, 'expression' | 'options' | 'pointInTime'>

export class QueryService {
  readonly #config: QueryServiceConfig
  readonly #cache: ByteCache
  readonly #turns: TurnQueue
  readonly #guard: MemoryGuard
  readonly #copies = new Map<number, IndexCopy>()
  /** In the order in which queries asked for them. */
  readonly #logs = new Map<number, LogCopy>()
  readonly #running = new Map<number, Running>()
  /** Log indices that are brought up for no query. */
  readonly #followed = new Set<number>()
  /** Indices over tails that are sealed by now. */
  readonly #retired = new RetiredMemory()
  #link!: Link<FromProcess>
  #turnCount = 0
  #answerBytes = 0
  #heldBytes = 0

  constructor(config: QueryServiceConfig) {
    this.#config = config
    this.#cache = createByteCache(config.cacheBytes)
    this.#guard = new MemoryGuard(config.limits, () => [...this.#running.values()].map(({ turn }) => turn))
    this.#turns = new TurnQueue({
      began: query => this.#pulse(query),
      ended: (turn, ms) => this.#guard.look(turn, ms, this.#heldBytes),
    })
  }

  /** To be called once, before any message. */
  connect(link: Link<FromProcess>): void {
    this.#link = link
  }

  #pulse(query: number): void {
    const { heaviest, usedBytes } = this.#guard
    this.#config.setPulse({ turn: ++this.#turnCount, query, heaviest: heaviest?.query ?? 0, heldBytes: this.#heldBytes, usedBytes })
  }

  take(message: ToProcess, bytes: Buffer): void {
    switch (message.kind) {
      case 'query': {
        const { id, operation, index, parameters, acceptsGzip, isBackground, page, nowMs, leftMs } = message
        const call = {
          ...{ operation, index, acceptsGzip, isBackground, parameters: new URLSearchParams(parameters), body: Buffer.from(bytes) },
          ...(page !== undefined && { page }),
        }
        void this.#run(id, call, nowMs, leftMs)
        break
      }
      case 'resolved':
        this.#running.get(message.id)?.asks.get(message.ask)?.(this.#resolved(message.targets))
        break
      case 'told':
        this.#told(message, bytes)
        break
      case 'forget':
        this.#forget(message.handle)
        break
      case 'follow':
        void this.#follow(message.handle)
        break
      case 'warmUp':
        void this.#warmUp(message.handles)
        break
      case 'taken':
        this.#noteTaken(message)
        break
      case 'cancel':
        this.#running.get(message.id)?.turn.cancel(new Error('cancelled'))
        break
      case 'areYouThere':
        this.#link.send({ kind: 'here', id: 0 })
    }
  }

  /** In turns that no query wants. Whatever fails here fails the next query as well, which says so or asks for the state anew. */
  async #follow(handle: number): Promise<void> {
    const log = this.#logs.get(handle)
    if (log === undefined || this.#followed.has(handle)) return
    this.#followed.add(handle)
    const turn = this.#turns.begin(NOBODY, true)
    turn.isForAll = true
    const reader = this.#retired.begin()
    try {
      await turn.next()
      await log.follow(createPace({ nowMs: Date.now }, Number.POSITIVE_INFINITY, turn).step)
    } catch {
      return
    } finally {
      this.#followed.delete(handle)
      this.#endReading(reader)
    }
  }

  /** Files that a query may be reading are closed once they are collected as garbage. */
  #forget(handle: number): void {
    if (this.#running.size === 0) this.#logs.get(handle)?.close()
    this.#copies.delete(handle)
    this.#logs.delete(handle)
    this.#countHeld()
  }

  /** In turns that no query wants. What fails here fails queries as well, which say so. */
  async #warmUp(handles: readonly number[]): Promise<void> {
    const turn = this.#turns.begin(NOBODY, true)
    const turns = {
      next: async () => {
        while (this.#running.size > 0) await setTimeout(WARM_UP_PAUSE_MS)
        await turn.next()
      },
    }
    const clock = { nowMs: Date.now }
    const began = threadCpuUsage()
    const reader = this.#retired.begin()
    try {
      await turns.next()
      const { step } = createPace(clock, Number.POSITIVE_INFINITY, turns)
      const logs = handles.flatMap(handle => this.#logs.get(handle) ?? [])
      const indices: ReadableIndex[] = []
      for (const log of logs) indices.push(await log.snapshot().open(step))
      await warmUp(indices, {
        clock,
        turns,
        leftMs() {
          const { user, system } = threadCpuUsage(began)
          return WARM_UP_CPU_MS - (user + system) / 1_000
        },
        hasRoom: () => this.#cache.sizeBytes < WARM_SHARE * this.#config.cacheBytes,
      })
    } catch {
      return
    } finally {
      this.#endReading(reader)
    }
  }

  #noteTaken({ id, bytes }: Extract<ToProcess, { kind: 'taken' }>): void {
    const running = this.#running.get(id)
    if (running === undefined) return
    running.untaken -= bytes
    running.onTaken?.()
  }

  #told({ handle, head }: Extract<ToProcess, { kind: 'told' }>, bytes: Buffer): void {
    let copy = this.#copies.get(handle)
    if (copy === undefined) {
      if (head.kind === 'red') copy = createRedCopy()
      else if (head.kind === 'table') copy = createTableCopy([...this.#copies.values()])
      else {
        const log = createLogCopy(this.#cache, tail => this.#retired.retire(tail))
        this.#logs.set(handle, log)
        copy = log
      }
      this.#copies.set(handle, copy)
    }
    const before = copy.memoryBytes
    copy.apply({ head, bytes })
    this.#heldBytes += copy.memoryBytes - before
  }

  /** Snapshots are taken at once: messages that come next belong to later queries. */
  #resolved(targets: Extract<ToProcess, { kind: 'resolved' }>['targets']): Resolved {
    if (!Array.isArray(targets)) return targets as Refusal
    return targets.map(([handle, filter]) => ({ handle, filter, snapshot: this.#copies.get(handle)?.snapshot() }))
  }

  async #run(id: number, call: QueryCall, nowMs: number, leftMs: number): Promise<void> {
    const turn = this.#turns.begin(id, call.isBackground)
    const running: Running = { turn, asks: new Map(), untaken: 0, onTaken: undefined }
    this.#running.set(id, running)
    const reader = this.#retired.begin()
    try {
      const context = this.#contextOf(id, running, call, nowMs, leftMs)
      await turn.next()
      const answer = await (this.#config.execute ?? executeQuery)(call, context)
      turn.signal.throwIfAborted()
      await this.#send(id, running, answer)
    } catch (error) {
      this.#fail(id, turn.signal.aborted ? turn.signal.reason : error)
    } finally {
      this.#running.delete(id)
      this.#endReading(reader)
    }
  }

  #endReading(reader: Reader): void {
    this.#retired.end(reader)
    // Words that the reader asked for have made indices over tails larger.
    this.#holdTails()
  }

  #fail(id: number, cause: unknown): void {
    const error = cause instanceof SnapshotGone ? gone(cause) : cause instanceof DamagedSegment ? this.#damaged(id, cause) : cause
    if (error instanceof ApiError) {
      const { status, type, message: reason, options } = error
      this.#link.send({ kind: 'failed', id, error: { status, type, reason, options } })
    } else
      this.#link.send({ kind: 'failed', id, error: { stack: error instanceof Error ? (error.stack ?? error.message) : String(error) } })
  }

  #damaged(id: number, { message, segment }: DamagedSegment): ApiError {
    this.#link.send({ kind: 'damage', id, damage: { text: message, segment: segment.number } })
    return damagedError(message)
  }

  #contextOf(id: number, running: Running, call: QueryCall, nowMs: number, leftMs: number): Omit<QueryContext, 'memory'> {
    const startMs = performance.now()
    const clock = { nowMs: () => nowMs + Math.floor(performance.now() - startMs) }
    let asked = 0
    /** The indices that the store names without being asked. */
    let first = call.operation === 'multiSearch' || mayNamePointInTime(call) ? undefined : this.#answerTo(running, 0)
    const ask = (what: Asked, gone: readonly number[]): Promise<Resolved> => {
      const number = ++asked
      const answer = this.#answerTo(running, number)
      this.#link.send({ kind: 'ask', id, ask: number, ...what, gone })
      return answer
    }
    const targetsOf = async (what: Asked, known: Promise<Resolved> | undefined): Promise<readonly SearchTarget[]> => {
      const { step } = createPace(clock, Number.POSITIVE_INFINITY, running.turn)
      let resolved = await (known ?? ask(what, []))
      for (let tries = 0; ; tries++) {
        if (!isList(resolved)) throw new ApiError(resolved.status, resolved.type, resolved.reason, resolved.options)
        // The first query makes the copies that later ones read.
        running.turn.isForAll = true
        const opened = await this.#open(resolved, step).finally(() => {
          running.turn.isForAll = false
        })
        if (!('gone' in opened)) return opened.targets
        if (tries === MAX_GONE) throw gone(opened.gone)
        resolved = await ask(what, [opened.handle])
      }
    }
    return {
      clock,
      leftMs: () => startMs + leftMs - performance.now(),
      turns: running.turn,
      tellDamage: damage => this.#link.send({ kind: 'damage', id, damage }),
      resolve: (expression, options) => {
        const known = first
        first = undefined
        return targetsOf({ expression, options, pointInTime: undefined }, known)
      },
      resolvePointInTime: pointInTime => targetsOf({ expression: '', options: STRICT, pointInTime }, undefined),
    }
  }

  #answerTo({ asks, turn }: Running, number: number): Promise<Resolved> {
    const answer = new Promise<Resolved>((resolve, reject) => {
      asks.set(number, resolve)
      turn.signal.addEventListener('abort', () => reject(turn.signal.reason), { once: true })
    })
    answer.catch(() => undefined)
    return answer
  }

  async #open(
    resolved: Extract<Resolved, readonly unknown[]>,
    step: () => Promise<unknown>,
  ): Promise<{ readonly targets: readonly SearchTarget[] } | { readonly gone: Error; readonly handle: number }> {
    const targets: SearchTarget[] = []
    for (const { handle, snapshot, filter } of resolved) {
      try {
        if (snapshot === undefined) throw new SnapshotGone(`index ${handle}`)
        targets.push({ storage: await this.#openOne(handle, snapshot, step), filter })
      } catch (error) {
        if (error instanceof SnapshotGone) return { gone: error, handle }
        throw error
      }
    }
    return { targets }
  }

  async #openOne(handle: number, snapshot: IndexSnapshot, step: () => Promise<unknown>) {
    const log = this.#logs.get(handle)
    if (log === undefined) return snapshot.open(step)
    this.#logs.delete(handle)
    this.#logs.set(handle, log)
    const before = log.memoryBytes
    const index = await snapshot.open(step)
    if (log.memoryBytes > before) this.#holdTails()
    return index
  }

  #holdTails(): void {
    let tails = 0
    for (const log of [...this.#logs.values()].reverse()) {
      if (tails + log.memoryBytes > MAX_TAIL_BYTES && tails > 0) log.unload()
      tails += log.memoryBytes
    }
    this.#countHeld()
  }

  #countHeld(): void {
    this.#heldBytes = [...this.#copies.values()].reduce((sum, copy) => sum + copy.memoryBytes, 0)
  }

  /** Sends an answer piece by piece, no further ahead of the client than `WINDOW_BYTES`. */
  async #send(id: number, running: Running, { status, headers, length, pieces, whole, cursor }: QueryAnswer): Promise<void> {
    if (whole !== undefined) {
      this.#link.send({ kind: 'answer', id, status, headers, length, cursor, isWhole: true }, [whole])
      return
    }
    const bytes = length ?? 0
    if (this.#answerBytes + bytes > MAX_ANSWER_BYTES && this.#answerBytes > 0) throw tooManyAnswers(this.#answerBytes)
    this.#answerBytes += bytes
    try {
      this.#link.send({ kind: 'answer', id, status, headers, length, cursor, isWhole: false })
      for await (const piece of pieces) {
        while (running.untaken >= WINDOW_BYTES) await this.#taken(running)
        running.untaken += piece.length
        this.#link.send({ kind: 'piece', id }, [piece])
      }
      this.#link.send({ kind: 'end', id })
    } finally {
      this.#answerBytes -= bytes
    }
  }

  #taken(running: Running): Promise<void> {
    const { signal } = running.turn
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const cancelled = () => reject(signal.reason)
      signal.addEventListener('abort', cancelled, { once: true })
      running.onTaken = () => {
        signal.removeEventListener('abort', cancelled)
        running.onTaken = undefined
        resolve()
      }
    })
  }
}

const isList = (resolved: Resolved): resolved is Extract<Resolved, readonly unknown[]> => Array.isArray(resolved)

/** Files of a large index are open only while they are read: a file may be removed under a query. */
const gone = ({ message }: Error): ApiError =>
  new ApiError(503, 'search_phase_execution_exception', message, { headers: { 'retry-after': '1' } })

function tooManyAnswers(bytes: number): ApiError {
  return tryLater('circuit_breaking_exception', `answers that clients have not read yet hold ${bytes} bytes`)
}
