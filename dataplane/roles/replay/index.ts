/** `logpipeline replay FILE…`: sends recorded OTLP JSON lines to a collector (Decisions 2). */
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { EXIT, refusalsOf } from '../../command-line/command.ts'
import { obey } from '../../command-line/words.ts'
import { type Environment, loadSetting } from '../../config/environment.ts'
import { PORTS } from '../../contract/roles.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import { type CollectorClient, createCollectorClient } from './collector-client.ts'
import { parseExportRequest, shiftTimes } from './export-request.ts'
import { findUnreadable, type Input, inputSize, readInputs } from './inputs.ts'
import { type ProgressDisplay, type ProgressStream, showProgress } from './progress-display.ts'
import { parseReplayOptions, REPLAY_USAGE, type ReplayConfig } from './replay-options.ts'
import { countOutcome, emptyTally, formatProgress, formatSummary, isComplete, type ReplayTally } from './replay-tally.ts'

export interface ReplayDeps {
  /** Takes the summary. */
  readonly stdout: { write(text: string): unknown }
  /** Takes progress and problems. */
  readonly stderr: ProgressStream
  readonly clock: Clock
  /** Default: that of the process. */
  readonly environment?: Environment
}

const PROCESS: ReplayDeps = { stdout: process.stdout, stderr: process.stderr, clock: systemClock }

const refuse = refusalsOf('replay')

/** Runs the command and returns its exit code. */
export function runReplay(args: readonly string[], deps: ReplayDeps = PROCESS): Promise<number> {
  const words = parseReplayOptions(args, () => collectorAddress(deps.environment))
  return obey(words, { usage: REPLAY_USAGE, refuse }, deps, async config => {
    const problems = await findUnreadable(config.files, config.shiftToNow)
    if (problems.length > 0) return refuse(deps, problems, EXIT.usage)
    const interrupt = new AbortController()
    const stop = () => interrupt.abort()
    process.once('SIGINT', stop)
    try {
      return await replay(config, deps, interrupt.signal)
    } finally {
      process.off('SIGINT', stop)
    }
  })
}

/** Where the collector is unless `--endpoint` says so: as for the gateway, else on this machine. */
function collectorAddress(environment: Environment = process.env): string {
  const isNamed = environment['COLLECTOR_ENDPOINT'] !== undefined || environment['COLLECTOR_ENDPOINT_FILE'] !== undefined
  if (isNamed) return loadSetting('gateway', 'COLLECTOR_ENDPOINT', environment)
  return `http://127.0.0.1:${loadSetting('collector', 'OTLP_HTTP_PORT', environment) || PORTS.otlpHttp}`
}

async function replay(config: ReplayConfig, deps: ReplayDeps, signal: AbortSignal): Promise<number> {
  const { clock } = deps
  const tally = emptyTally()
  const shiftNanos = config.shiftToNow ? await nanosToNow(config.files, clock, signal) : 0n
  const startedMs = monotonicMs(clock)
  const elapsedMs = () => monotonicMs(clock) - startedMs
  const inputs = readInputs(config.files)
  const totalBytes = await inputSize(config.files)
  const display = showProgress(deps.stderr, () =>
    formatProgress(tally, elapsedMs(), totalBytes === undefined ? undefined : inputs.bytesRead() / totalBytes),
  )
  // Attempts go on for most of a minute: a wrong address is to be seen at once.
  const client = createCollectorClient(config, clock, reason =>
    display.note(`${config.url.href}: ${reason}; a request is sent again, up to ${config.retries} times`),
  )
  const pace = createPace(config.rate, clock)
  const lane = { lines: inputs.lines, client, pace, tally, display, shiftNanos, signal }
  await Promise.all(Array.from({ length: config.concurrency }, () => runLane(lane)))
  await inputs.lines.return(undefined)
  await client.close()
  display.stop()
  deps.stdout.write(`${formatSummary(tally, elapsedMs())}\n`)
  if (signal.aborted) return EXIT.interrupted
  return isComplete(tally) ? EXIT.done : EXIT.failed
}

interface Lane {
  readonly lines: AsyncGenerator<Input>
  readonly client: CollectorClient
  readonly pace: Pace
  readonly tally: ReplayTally
  readonly display: ProgressDisplay
  readonly shiftNanos: bigint
  readonly signal: AbortSignal
}

/** Sends one line after the other; lanes share the lines. */
async function runLane({ lines, client, pace, tally, display, shiftNanos, signal }: Lane): Promise<void> {
  while (!signal.aborted) {
    const next = await lines.next()
    if (next.done === true) return
    const input = next.value
    if ('unreadable' in input) {
      tally.unreadableFiles += 1
      display.note(`${input.place}: ${input.unreadable}`)
      continue
    }
    const text = input.bytes?.toString('utf8')
    const parsed = text === undefined ? { problem: 'longer than a request may be' } : parseExportRequest(text)
    if (text === undefined || 'problem' in parsed) {
      tally.malformedLines += 1
      display.note(`${input.place}: ${'problem' in parsed ? parsed.problem : ''}`)
      continue
    }
    await pace.take(parsed.records, signal)
    if (signal.aborted) return
    const note = countOutcome(tally, parsed.records, await client.send(shiftNanos === 0n ? text : shiftTimes(text, shiftNanos), signal))
    if (note !== undefined) display.note(`${input.place}: ${note}`)
  }
}

/** Nanoseconds to add to every time so that the newest record of all files is now. */
async function nanosToNow(files: readonly string[], clock: Clock, signal: AbortSignal): Promise<bigint> {
  let newest = 0n
  for await (const input of readInputs(files).lines) {
    if (signal.aborted) break
    if ('unreadable' in input || input.bytes === undefined) continue
    const parsed = parseExportRequest(input.bytes.toString('utf8'))
    if ('newest' in parsed && parsed.newest > newest) newest = parsed.newest
  }
  return newest === 0n ? 0n : BigInt(clock.nowMs()) * 1_000_000n - newest
}

interface Pace {
  /** Resolves when `records` may be sent, or at once when `signal` aborts. */
  take(records: number, signal: AbortSignal): Promise<void>
}

/** Spaces requests so that no more than `recordsPerSecond` are sent over any stretch; a late start is not made up for by a burst. */
function createPace(recordsPerSecond: number, clock: Clock): Pace {
  let nextMs = Number.NEGATIVE_INFINITY
  return {
    async take(records, signal) {
      if (recordsPerSecond === Number.POSITIVE_INFINITY) return
      const nowMs = monotonicMs(clock)
      const atMs = Math.max(nowMs, nextMs)
      nextMs = atMs + (records * 1000) / recordsPerSecond
      if (atMs > nowMs) await clock.sleep(atMs - nowMs, signal)
    },
  }
}
