/** The store's side of the query process: sends queries, takes answers, and starts the process again when it ends. */
import { backOffMs } from '../../limits/back-off.ts'
import type { Clock } from '../../ports/clock.ts'
import { ApiError } from '../api-error.ts'
import { type ClientCall, mayNamePointInTime, type QueryAnswer, type QueryCounters, type QueryRunner } from '../calls/query-call.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type ResolveOptions, STRICT } from '../catalog/resolve.ts'
import { noRoomForAnswer } from '../http/answer/held-answers.ts'
import { resolveOptions } from '../http/request/index-parameters.ts'
import type { Leases } from '../leases/leases.ts'
import { QUERY_BUDGET_MS } from '../query/budget/pace.ts'
import type { Query } from '../query/parse/query.ts'
import { createDamageLog } from '../storage/damaged-segment.ts'
import type { Damage } from '../storage/index-storage.ts'
import { Turns } from '../turns.ts'
import { type AnswerStream, createAnswerStream } from './answer-stream.ts'
import { awaitedIndices } from './awaited-indices.ts'
import { type Fed, Feeds } from './feeds.ts'
import { tooMuchMemory } from './memory-guard.ts'
import type { FromProcess, Refusal, ToProcess } from './messages.ts'
import { type ProcessEnd, QueryProcess } from './query-process.ts'

export interface ProcessRunnerConfig {
  readonly catalog: Catalog
  readonly leases: Leases
  readonly clock: Clock
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** Where the store may write. */
  readonly dir: string
  /** Memory of the process for parts of log indices that were read lately, bytes. */
  readonly cacheBytes: number
  /** The program of the process; another one in tests. */
  readonly entry?: URL
  /** Bounds of a query's time; shorter ones in tests. */
  readonly times?: QueryTimes
}

/**
 * Queries under way. They take turns, the query with the least time so far first. When a further query comes, the oldest one that has no answer yet
 * makes room, provided that it has run for `MIN_SHARE_MS`.
 */
const MAX_QUERIES = 256
/** A query that has run for less than this does not make room for another, ms. */
const MIN_SHARE_MS = 1_000
/** A query ends itself when its time is over. A query that has not ended so long after is given up, ms. */
const GRACE_MS = 5_000
/** How much later a query is given up whose answer has begun by then, ms. */
const ANSWER_MS = 15_000
/** How often a query is run when the process ends while the query runs. */
const MAX_ATTEMPTS = 3
const LOOK_EVERY_MS = 100
/** How long the process may say nothing while queries are under way, ms. */
const MAX_SILENT_MS = 10_000
/** How often it is looked for indices that were deleted, ms. */
const FORGET_EVERY_MS = 1_000
/** Over many records the process is started so long after the store, ms, and made ready: a store that is opened for a moment starts none. */
const START_AFTER_MS = 1_000
/** A process that no user has asked for so long, ms, is ended once it is idle: it takes some 100 MB. The next query starts another one. */
const USER_AWAY_MS = 15 * 60_000
/** How long it is idle then, ms: what asks in the background asks several times, one after the other. */
const IDLE_MS = 10_000
/** A process that ends sooner than this is not started again at once, ms. */
const QUICK_END_MS = 2_000
const PAUSE = { firstMs: 100, maxMs: 5_000 }
/** How long resolving an expression of many indices may hold the thread, ms. */
const SLICE_MS = 4

/** Runs queries in a process of their own, which is ended and started again when a query does not keep to its bounds. */
export function createProcessRunner(config: ProcessRunnerConfig): QueryRunner {
  return new ProcessRunner(config)
}

/** The first three are counted from the arrival of a query, each beyond the one before, ms. */
export interface QueryTimes {
  readonly budgetMs: number
  readonly graceMs: number
  readonly answerMs: number
  /** How long the process may say nothing. Default 10 s. */
  readonly silentMs?: number
  /** After how long without a user, and without a query, the process is ended. Default 15 min and 10 s. */
  readonly userAwayMs?: number
  readonly idleMs?: number
}

const TIMES: QueryTimes = { budgetMs: QUERY_BUDGET_MS, graceMs: GRACE_MS, answerMs: ANSWER_MS }

interface Life {
  readonly process: QueryProcess
  readonly feeds: Feeds
  /** When a query was last under way, and one that a user waits for. */
  busyMs: number
  userMs: number
  /** Whether it has been told to make itself ready for queries of users. */
  isReadied: boolean
}

interface Pending {
  readonly id: number
  readonly call: ClientCall
  readonly resolve: (answer: QueryAnswer) => void
  readonly reject: (error: unknown) => void
  readonly forgetSignal: () => void
  readonly arrivedMs: number
  attempts: number
  /** The process that runs the query. */
  life: Life | undefined
  /** An answer that has begun and that the client reads as it is made. */
  stream: AnswerStream | undefined
  /** When `stream` last grew or was last read. */
  movedMs: number
  /** The pieces so far of any other answer. The client gets such an answer as a whole. */
  gathered: { readonly answer: Omit<QueryAnswer, 'pieces'>; readonly pieces: Uint8Array[] } | undefined
}

class ProcessRunner implements QueryRunner {
  readonly #config: ProcessRunnerConfig
  readonly #times: QueryTimes
  readonly #pending = new Map<number, Pending>()
  readonly #logDamage: (damage: string) => void
  readonly #ended: Record<string, number> = { stuck: 0, memory: 0, crashed: 0, killed: 0 }
  readonly #watch: NodeJS.Timeout
  #life: Life | undefined
  #restart: NodeJS.Timeout | undefined
  /** Resolves once the process that was ended last because it was idle is gone. */
  #retirement: Promise<void> | undefined
  #quickEnds = 0
  #isStopped = false
  #lastId = 0
  #forgottenMs = Number.NEGATIVE_INFINITY
  #cancelled = 0
  #refused = 0

  constructor(config: ProcessRunnerConfig) {
    this.#config = config
    this.#logDamage = createDamageLog(config.log)
    this.#times = config.times ?? TIMES
    this.#watch = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#watch.unref()
    this.#restart = setTimeout(() => this.#startReady(), START_AFTER_MS)
    this.#restart.unref()
  }

  get counters(): QueryCounters {
    return { running: this.#pending.size, cancelled: this.#cancelled, refused: this.#refused, ended: { ...this.#ended } }
  }

  async run(call: ClientCall, signal: AbortSignal): Promise<QueryAnswer> {
    if (this.#isStopped) throw stopping()
    signal.throwIfAborted()
    this.#makeRoom()
    return new Promise((resolve, reject) => {
      const id = this.#newId()
      const gone = () => {
        this.#cancelled++
        this.#giveUp(pending, signal.reason)
      }
      const pending: Pending = {
        id,
        // A copy, as the body's memory is given back once there is an answer, and an answer may come before the process has read the body.
        call: { ...call, body: Buffer.from(call.body) },
        resolve,
        reject,
        forgetSignal: () => signal.removeEventListener('abort', gone),
        arrivedMs: performance.now(),
        attempts: 0,
        life: undefined,
        stream: undefined,
        movedMs: 0,
        gathered: undefined,
      }
      this.#pending.set(id, pending)
      signal.addEventListener('abort', gone, { once: true })
      if (this.#life !== undefined) this.#give(pending, this.#life)
      else if (this.#quickEnds === 0) this.#start()
    })
  }

  /** Never 0, and below 2³². */
  #newId(): number {
    this.#lastId = (this.#lastId % 0x7fff_ffff) + 1
    return this.#lastId
  }

  #makeRoom(): void {
    if (this.#pending.size < MAX_QUERIES) return
    this.#refused++
    // The map is in order of arrival.
    const [longest] = [...this.#pending.values()].filter(pending => !isAnswering(pending))
    if (longest === undefined || performance.now() - longest.arrivedMs < MIN_SHARE_MS) throw tooManyQueries()
    this.#giveUp(longest, tooManyQueries())
  }

  /** A user who comes to a store that has just been started again finds the process ready. */
  #startReady(): void {
    if (awaitedIndices(this.#config.catalog.indices).length > 0) this.expectUser()
  }

  expectUser(): void {
    // A process that has ended too soon waits for its next start.
    if (this.#isStopped || (this.#life === undefined && this.#quickEnds > 0)) return
    if (this.#life === undefined) this.#start()
    if (this.#life !== undefined) this.#noteUser(this.#life)
  }

  /** Starts the process, and gives it the queries that wait. */
  #start(): void {
    clearTimeout(this.#restart)
    const process = new QueryProcess(
      {
        dir: this.#config.dir,
        entry: this.#config.entry ?? new URL('./query-process-entry.ts', import.meta.url),
        cacheBytes: this.#config.cacheBytes,
        maxSilentLooks: (this.#times.silentMs ?? MAX_SILENT_MS) / LOOK_EVERY_MS,
      },
      (message, bytes) => this.#take(life, message, bytes),
      end => this.#onEnd(life, end),
    )
    const busyMs = performance.now()
    const life: Life = { process, feeds: new Feeds(process), busyMs, userMs: Number.NEGATIVE_INFINITY, isReadied: false }
    this.#life = life
    for (const pending of this.#pending.values()) if (pending.life === undefined) this.#give(pending, life)
  }

  /** The first user who comes to a process has it made ready for what is asked next, unless the one before ended soon. */
  #noteUser(life: Life): void {
    life.userMs = performance.now()
    if (life.isReadied) return
    life.isReadied = true
    // A process that ends meanwhile is started again, and says why.
    if (this.#quickEnds === 0) life.feeds.warmUp(awaitedIndices(this.#config.catalog.indices)).catch(() => undefined)
  }

  #give(pending: Pending, life: Life): void {
    this.#dispatch(pending, life)
    this.#noteUse(pending, life)
  }

  #noteUse({ call }: Pending, life: Life): void {
    life.busyMs = performance.now()
    if (call.isBackground !== true) this.#noteUser(life)
  }

  #dispatch(pending: Pending, life: Life): void {
    const { id, call } = pending
    pending.attempts++
    pending.life = life
    const { operation, index, parameters, acceptsGzip, isBackground = false, body, page, indices } = call
    const nowMs = this.#config.clock.nowMs()
    const leftMs = pending.arrivedMs + this.#times.budgetMs - performance.now()
    const query = { operation, index, parameters: parameters.toString(), acceptsGzip, isBackground, page }
    life.process.send({ kind: 'query', id, ...query, nowMs, leftMs }, [body])
    if (operation === 'multiSearch' || mayNamePointInTime(call)) return
    const { catalog } = this.#config
    void this.#tellOf(life, id, 0, () => indices ?? namedBy(catalog, index ?? '_all', optionsOf(parameters)))
  }

  /** Tells the process what is committed in the indices of a query, and then which indices these are. */
  async #tellOf(life: Life, id: number, ask: number, find: () => readonly Asked[]): Promise<void> {
    const answer = (targets: Extract<ToProcess, { kind: 'resolved' }>['targets']) =>
      void life.process.send({ kind: 'resolved', id, ask, targets })
    try {
      this.#forgetGone(life)
      const turns = new Turns(SLICE_MS)
      const targets: (readonly [number, Query | undefined])[] = []
      for (const { storage, filter } of find()) {
        const { handle, telling } = life.feeds.bringUp(storage, this.#pending.get(id)?.call.isBackground)
        if (telling !== undefined) await telling
        if (turns.isDue()) await turns.next()
        targets.push([handle, filter])
      }
      answer(targets)
    } catch (error) {
      if (error instanceof ApiError) answer(refusalOf(error))
      else this.#giveUpId(id, error)
    }
  }

  #forgetGone({ feeds }: Life): void {
    const { catalog, leases } = this.#config
    feeds.forgetOthers([...catalog.indices.map(({ storage }) => storage), ...leases.storages])
  }

  #take(life: Life, message: FromProcess, bytes: Buffer): void {
    const pending = this.#pending.get(message.id)
    // The query was given up.
    if (pending === undefined || pending.life !== life) return
    switch (message.kind) {
      case 'ask':
        for (const handle of message.gone) life.feeds.reset(handle)
        void this.#tellOf(life, message.id, message.ask, () => this.#asked(pending, message))
        break
      case 'answer':
        this.#answer(pending, message, bytes, life)
        break
      case 'piece':
        this.#takePiece(pending, bytes, life)
        break
      case 'end':
        this.#finish(pending)
        break
      case 'damage':
        this.#noteDamage(message.damage)
        break
      case 'failed':
        this.#quickEnds = 0
        this.#giveUp(pending, errorOf(message.error))
    }
  }

  #noteDamage({ text, uuid, segment }: Damage): void {
    this.#logDamage(text)
    if (segment === undefined) return
    const index = this.#config.catalog.indices.find(each => each.uuid === uuid)
    index?.storage.noteDamage?.(segment)
  }

  #asked({ call }: Pending, { pointInTime, expression, options }: Extract<FromProcess, { kind: 'ask' }>): readonly Asked[] {
    const { catalog, leases } = this.#config
    if (pointInTime !== undefined) return leases.pointInTime(pointInTime)
    return call.indices ?? namedBy(catalog, expression, options)
  }

  #answer(
    pending: Pending,
    { status, headers, length, isWhole, cursor }: Extract<FromProcess, { kind: 'answer' }>,
    bytes: Buffer,
    life: Life,
  ): void {
    const answer = { status, headers, length, ...(cursor !== undefined && { cursor }) }
    if (length === undefined) {
      pending.movedMs = performance.now()
      pending.stream = this.#streamOf(pending, life)
      pending.resolve({ ...answer, pieces: pending.stream })
    } else if (isWhole) {
      pending.resolve({ ...answer, pieces: listOf([bytes]), whole: bytes })
      this.#finish(pending)
    } else if (pending.call.answerMemory.take(length)) pending.gathered = { answer, pieces: [] }
    else this.#giveUp(pending, noRoomForAnswer())
  }

  #takePiece(pending: Pending, bytes: Buffer, life: Life): void {
    const { id, stream, gathered } = pending
    pending.movedMs = performance.now()
    stream?.push(bytes)
    if (gathered === undefined) return
    gathered.pieces.push(bytes)
    life.process.send({ kind: 'taken', id, bytes: bytes.length })
  }

  #finish(pending: Pending): void {
    this.#quickEnds = 0
    this.#forget(pending)
    pending.stream?.end()
    if (pending.gathered !== undefined) pending.resolve({ ...pending.gathered.answer, pieces: listOf(pending.gathered.pieces) })
  }

  #streamOf(pending: Pending, life: Life): AnswerStream {
    return createAnswerStream({
      onTaken: bytes => {
        pending.movedMs = performance.now()
        if (this.#life === life && this.#pending.has(pending.id)) life.process.send({ kind: 'taken', id: pending.id, bytes })
      },
      onGivenUp: () => this.#giveUp(pending, undefined),
    })
  }

  #forget(pending: Pending): void {
    this.#pending.delete(pending.id)
    pending.forgetSignal()
  }

  #giveUpId(id: number, error: unknown): void {
    const pending = this.#pending.get(id)
    if (pending !== undefined) this.#giveUp(pending, error)
  }

  /** Answers with the error, and lets the process forget the query. */
  #giveUp(pending: Pending, error: unknown): void {
    if (!this.#pending.has(pending.id)) return
    this.#forget(pending)
    if (pending.life !== undefined && pending.life === this.#life) pending.life.process.send({ kind: 'cancel', id: pending.id })
    pending.reject(error)
    pending.stream?.fail(error)
  }

  #look(): void {
    if (this.#life !== undefined) this.#lookAtIndices(this.#life)
    if (this.#life !== undefined) this.#lookForIdleness(this.#life)
    if (this.#pending.size === 0) return
    this.#life?.process.look([...this.#pending.values()].some(isAnswering))
    const nowMs = performance.now()
    for (const pending of this.#pending.values()) if (nowMs > this.#endOf(pending)) this.#giveUp(pending, tookTooLong())
  }

  /** Indices that were deleted are forgotten without a query, too: their files take room on disk as long as the process has them open. */
  #lookAtIndices(life: Life): void {
    const nowMs = performance.now()
    if (life.feeds.hasFollowed || nowMs - this.#forgottenMs > FORGET_EVERY_MS) {
      this.#forgottenMs = nowMs
      this.#forgetGone(life)
    }
    if (life.feeds.hasFollowed) life.feeds.follow()
  }

  #lookForIdleness(life: Life): void {
    for (const pending of this.#pending.values()) this.#noteUse(pending, life)
    const { userAwayMs = USER_AWAY_MS, idleMs = IDLE_MS } = this.#times
    const nowMs = performance.now()
    if (nowMs - life.busyMs < idleMs || nowMs - life.userMs < userAwayMs) return
    this.#life = undefined
    life.feeds.close()
    this.#retirement = life.process.stop()
  }

  /** When the query is given up. An answer that is read as it is made may take any time, as long as it goes on. */
  #endOf({ arrivedMs, stream, movedMs, gathered }: Pending): number {
    const { budgetMs, graceMs, answerMs } = this.#times
    if (stream !== undefined) return movedMs + budgetMs + graceMs
    return arrivedMs + budgetMs + graceMs + (gathered === undefined ? 0 : answerMs)
  }

  #onEnd(life: Life, end: ProcessEnd): void {
    life.feeds.close()
    if (this.#life === life) this.#life = undefined
    if (this.#isStopped || end.reason === 'stopped') return
    this.#ended[end.reason] = (this.#ended[end.reason] ?? 0) + 1
    const { reason, culprit, said } = end
    this.#config.log.warn(
      { reason, query: describe(this.#pending.get(culprit)), ...(said !== '' && { said }) },
      'query process ended and is started again',
    )
    for (const pending of this.#pending.values()) if (pending.life === life) this.#survive(pending, end)
    if (end.livedMs > QUICK_END_MS) this.#quickEnds = 0
    const pauseMs = this.#quickEnds === 0 ? 0 : backOffMs(PAUSE, this.#quickEnds)
    this.#quickEnds++
    if (pauseMs === 0) this.#start()
    else this.#restart = setTimeout(() => this.#start(), pauseMs)
  }

  /** A query that ended the process is refused. Any other query is run again, unless a part of its answer was read. */
  #survive(pending: Pending, { reason, culprit }: ProcessEnd): void {
    if (pending.id === culprit) this.#giveUp(pending, reason === 'stuck' ? heldUp() : tooMuchMemory())
    else if (pending.stream !== undefined) this.#giveUp(pending, brokenOff())
    else if (pending.attempts >= MAX_ATTEMPTS) this.#giveUp(pending, endedTooOften())
    else {
      pending.call.answerMemory.giveBack(pending.gathered?.answer.length ?? 0)
      pending.gathered = undefined
      pending.life = undefined
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#watch)
    clearTimeout(this.#restart)
    for (const pending of this.#pending.values()) this.#giveUp(pending, stopping())
    await Promise.all([this.#life?.process.stop(), this.#retirement])
  }
}

const isAnswering = ({ stream, gathered }: Pending): boolean => stream !== undefined || gathered !== undefined

async function* listOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces
}

interface Asked {
  readonly storage: Fed
  readonly filter: Query | undefined
}

const namedBy = (catalog: Catalog, expression: string, options: ResolveOptions): readonly Asked[] =>
  catalog.resolve(expression, options).map(({ index, filter }) => ({ storage: index.storage, filter }))

/** Options that are not valid are refused by the process. */
function optionsOf(parameters: URLSearchParams): ResolveOptions {
  try {
    return resolveOptions(parameters)
  } catch (error) {
    if (error instanceof ApiError) return STRICT
    throw error
  }
}

function describe(pending: Pending | undefined): object | undefined {
  if (pending === undefined) return undefined
  const { operation, index, body } = pending.call
  return { operation, index, body: body.toString('utf8', 0, 500) }
}

function refusalOf({ status, type, message: reason, options }: ApiError): Refusal {
  return { status, type, reason, options }
}

function errorOf(error: Extract<FromProcess, { kind: 'failed' }>['error']): Error {
  if ('stack' in error) return new Error(`a query failed in its process: ${error.stack}`)
  return new ApiError(error.status, error.type, error.reason, error.options)
}

const RETRY_SOON = { headers: { 'retry-after': '1' } }

const tooManyQueries = (): ApiError =>
  new ApiError(429, 'rejected_execution_exception', `${MAX_QUERIES} queries are under way: too many to take one more`, RETRY_SOON)
const endedTooOften = (): ApiError =>
  new ApiError(429, 'circuit_breaking_exception', `the query's process ended ${MAX_ATTEMPTS} times before it was answered`, RETRY_SOON)
const heldUp = (): ApiError => new ApiError(408, 'timeout_exception', 'the query held up its process and was ended')
const brokenOff = (): ApiError =>
  new ApiError(503, 'search_phase_execution_exception', 'the query process ended before the answer did; send the request again', RETRY_SOON)
const tookTooLong = (): ApiError => new ApiError(408, 'timeout_exception', 'the query was not answered in time')
const stopping = (): ApiError => new ApiError(503, 'node_closed_exception', 'the search store is stopping')
