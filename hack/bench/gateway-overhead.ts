/**
 * Costs of the gateway beside a direct request to the collector: the same load by turns at the collector of a standalone, at the gateway in it,
 * and at a gateway in a process of its own before the same collector.
 */
import { spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { freePort } from '../../dataplane/testing/free-port.ts'
import { eventually, PROGRAM, type Standalone, startStandalone } from '../../e2e/testing/standalone-process.ts'
import type { LoadConfig, LoadResult } from './load.ts'
import type { Protocol, Target } from './load-connection.ts'
import { cpuSeconds } from './process-usage.ts'
import { runChild } from './run-child.ts'
import { fetchText } from './subject.ts'

const RECORDS_PER_REQUEST = 500
const DISTINCT_RECORDS = 5_000
const SETTLE_LIMIT_MS = 60_000

export const WAYS = ['direct', 'standalone', 'apart'] as const
/** `standalone`: the gateway in the collector's process. `apart`: one of its own. Both speak TLS, the collector does not. */
export type Way = (typeof WAYS)[number]

export interface GatewayOverheadOptions {
  readonly protocols: readonly Protocol[]
  /** Requests in flight. */
  readonly lanes: readonly number[]
  readonly turnMs: number
  /** For all turns together: shared by protocols and lanes, each of which has a round at least. */
  readonly budgetMs: number
}

/** Medians of the rounds. */
export interface GatewayOverheadResult {
  readonly protocol: Protocol
  readonly lanes: number
  readonly rounds: number
  readonly figures: Readonly<Record<Way, Figures>>
  /** Throughput of each way as a share of the direct way's in the same round. */
  readonly throughputRatios: Readonly<Record<Way, number>>
  readonly load1: number
}

export interface Figures {
  readonly recordsPerSecond: number
  readonly p50Ms: number
  /** CPU of the standalone and of the gateway apart, until all was searchable. */
  readonly cpuSecondsPerMillion: number
}

type Round = Readonly<Record<Way, Figures>>

export async function measureGatewayOverhead(options: GatewayOverheadOptions): Promise<readonly GatewayOverheadResult[]> {
  const standalone = await startStandalone()
  const apart = await startGatewayApart(standalone).catch(async error => {
    await standalone.remove()
    throw error
  })
  const targetsOf = await createTargets(standalone, apart.port)
  const turn = createTurn(standalone, apart.pid, options.turnMs)
  const startedMs = performance.now()
  const shares = options.protocols.length * options.lanes.length
  const results: GatewayOverheadResult[] = []
  try {
    for (const protocol of options.protocols) {
      const targets = targetsOf(protocol)
      // Code that runs often is compiled first.
      for (const way of WAYS) await turn(targets[way], 4)
      for (const lanes of options.lanes) {
        const untilMs = startedMs + (options.budgetMs * (results.length + 1)) / shares
        const rounds: Round[] = []
        do {
          const round: Partial<Record<Way, Figures>> = {}
          for (let i = 0; i < WAYS.length; i++) {
            const way = WAYS[(i + rounds.length) % WAYS.length]!
            round[way] = await turn(targets[way], lanes)
          }
          rounds.push(round as Round)
        } while (performance.now() < untilMs)
        results.push({ protocol, lanes, rounds: rounds.length, load1: loadavg()[0]!, ...summary(rounds) })
      }
    }
    return results
  } finally {
    apart.stop()
    await standalone.remove()
  }
}

async function createTargets(standalone: Standalone, portApart: number): Promise<(protocol: Protocol) => Readonly<Record<Way, Target>>> {
  const { key } = JSON.parse(
    await fetchText(`${standalone.dashboard}/api/admin/api-keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"bench"}',
    }),
  ) as { readonly key: string }
  return protocol => {
    const at = (url: string) => ({ protocol, host: '127.0.0.1', port: Number(new URL(url).port), path: '/v1/logs' })
    return {
      direct: at(protocol === 'grpc' ? `http://${standalone.grpc}` : standalone.collector),
      standalone: { ...at(standalone.gateway), apiKey: key },
      apart: { ...at(`https://127.0.0.1:${portApart}`), apiKey: key },
    }
  }
}

function createTurn(standalone: Standalone, pidApart: number, turnMs: number) {
  let sent = 0
  let seed = 0
  const settle = async () => {
    const untilMs = performance.now() + SETTLE_LIMIT_MS
    for (;;) {
      const { count } = JSON.parse(await fetchText(`${standalone.search}/service-logs-*/_count`)) as { readonly count: number }
      if (count >= sent) return
      if (performance.now() > untilMs) throw new Error(`${sent} records were sent, ${count} can be found`)
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
  const cpuOfAll = () => cpuSeconds(standalone.pid) + cpuSeconds(pidApart)
  return async (target: Target, lanes: number): Promise<Figures> => {
    const limits = { durationMs: turnMs, distinctRecords: DISTINCT_RECORDS, seed: ++seed }
    const config: LoadConfig = { target, lanes, recordsPerRequest: RECORDS_PER_REQUEST, ...limits }
    const cpuBefore = cpuOfAll()
    const { recordsAccepted, seconds, latencyMs } = await runChild<LoadResult>('load.ts', ['--config', JSON.stringify(config)])
    sent += recordsAccepted
    await settle()
    const cpuSecondsPerMillion = ((cpuOfAll() - cpuBefore) / recordsAccepted) * 1e6
    return { recordsPerSecond: recordsAccepted / seconds, p50Ms: latencyMs.p50, cpuSecondsPerMillion }
  }
}

/** The role alone, before the collector and the search store of a standalone. */
async function startGatewayApart(standalone: Standalone) {
  const [port, healthPort] = [await freePort(), await freePort()]
  const env = {
    PATH: process.env['PATH'],
    ...{ HOST: '127.0.0.1', GATEWAY_PORT: String(port), HEALTH_PORT: String(healthPort), SEARCH_ENDPOINT: standalone.search },
    ...{ COLLECTOR_ENDPOINT: standalone.collector, COLLECTOR_GRPC_ENDPOINT: `http://${standalone.grpc}` },
  }
  const child = spawn(PROGRAM, ['gateway'], { env, stdio: 'ignore' })
  try {
    await eventually(() => fetchText(`http://127.0.0.1:${healthPort}/health`), { timeoutMs: 60_000 })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return { port, pid: child.pid!, stop: () => void child.kill('SIGKILL') }
}

function summary(rounds: readonly Round[]): Pick<GatewayOverheadResult, 'figures' | 'throughputRatios'> {
  const byWay = <T>(of: (way: Way) => T) => Object.fromEntries(WAYS.map(way => [way, of(way)])) as Record<Way, T>
  const medianOf = (of: (round: Round) => number) => median(rounds.map(of))
  return {
    figures: byWay(way => ({
      recordsPerSecond: medianOf(round => round[way].recordsPerSecond),
      p50Ms: medianOf(round => round[way].p50Ms),
      cpuSecondsPerMillion: medianOf(round => round[way].cpuSecondsPerMillion),
    })),
    throughputRatios: byWay(way => medianOf(round => round[way].recordsPerSecond / round.direct.recordsPerSecond)),
  }
}

function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
