/** Costs of the gateway beside a direct request to the collector: the same load by turns at either, in one standalone. */
import { loadavg } from 'node:os'
import { startStandalone } from '../../e2e/testing/standalone-process.ts'
import type { LoadConfig, LoadResult } from './load.ts'
import type { Protocol, Target } from './load-connection.ts'
import { cpuSeconds } from './process-usage.ts'
import { runChild } from './run-child.ts'
import { fetchText } from './subject.ts'

const RECORDS_PER_REQUEST = 500
const DISTINCT_RECORDS = 20_000
const SETTLE_LIMIT_MS = 120_000

export interface GatewayOverheadOptions {
  readonly protocols: readonly Protocol[]
  /** Requests in flight. */
  readonly lanes: readonly number[]
  /** Each of a turn at the collector and one at the gateway, in changing order. */
  readonly rounds: number
  readonly turnMs: number
}

/** Medians of the rounds. */
export interface GatewayOverheadResult {
  readonly protocol: Protocol
  readonly lanes: number
  readonly direct: Figures
  readonly gateway: Figures
  /** Of the pairs of each round. */
  readonly throughputRatio: number
  readonly load1: number
}

interface Figures {
  readonly recordsPerSecond: number
  readonly p50Ms: number
  /** Of the standalone, until all was searchable. */
  readonly cpuSecondsPerMillion: number
}

export async function measureGatewayOverhead(options: GatewayOverheadOptions): Promise<readonly GatewayOverheadResult[]> {
  const standalone = await startStandalone()
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
  const turn = async (target: Target, lanes: number): Promise<Figures> => {
    const limits = { durationMs: options.turnMs, distinctRecords: DISTINCT_RECORDS, seed: ++seed }
    const config: LoadConfig = { target, lanes, recordsPerRequest: RECORDS_PER_REQUEST, ...limits }
    const cpuBefore = cpuSeconds(standalone.pid)
    const { recordsAccepted, seconds, latencyMs } = await runChild<LoadResult>('load.ts', ['--config', JSON.stringify(config)])
    sent += recordsAccepted
    await settle()
    const cpu = cpuSeconds(standalone.pid) - cpuBefore
    return { recordsPerSecond: recordsAccepted / seconds, p50Ms: latencyMs.p50, cpuSecondsPerMillion: (cpu / recordsAccepted) * 1e6 }
  }
  try {
    const { key } = JSON.parse(
      await fetchText(`${standalone.dashboard}/api/admin/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"bench"}',
      }),
    ) as { readonly key: string }
    const targets = (protocol: Protocol) => {
      const direct = new URL(protocol === 'grpc' ? `http://${standalone.grpc}` : standalone.collector)
      const gateway = new URL(standalone.gateway)
      const at = ({ hostname, port }: URL) => ({ protocol, host: hostname, port: Number(port), path: '/v1/logs' })
      return { direct: at(direct), gateway: { ...at(gateway), apiKey: key } }
    }
    const results: GatewayOverheadResult[] = []
    for (const protocol of options.protocols) {
      const { direct, gateway } = targets(protocol)
      // Code that runs often is compiled first.
      await turn(direct, 4)
      await turn(gateway, 4)
      for (const lanes of options.lanes) {
        const rounds: { readonly direct: Figures; readonly gateway: Figures }[] = []
        for (let i = 0; i < options.rounds; i++) {
          const first = await turn(i % 2 === 0 ? direct : gateway, lanes)
          const second = await turn(i % 2 === 0 ? gateway : direct, lanes)
          rounds.push(i % 2 === 0 ? { direct: first, gateway: second } : { direct: second, gateway: first })
        }
        results.push({
          ...{ protocol, lanes, load1: loadavg()[0]! },
          direct: mediansOf(rounds.map(round => round.direct)),
          gateway: mediansOf(rounds.map(round => round.gateway)),
          throughputRatio: median(rounds.map(round => round.gateway.recordsPerSecond / round.direct.recordsPerSecond)),
        })
      }
    }
    return results
  } finally {
    await standalone.remove()
  }
}

function mediansOf(figures: readonly Figures[]): Figures {
  return {
    recordsPerSecond: median(figures.map(each => each.recordsPerSecond)),
    p50Ms: median(figures.map(each => each.p50Ms)),
    cpuSecondsPerMillion: median(figures.map(each => each.cpuSecondsPerMillion)),
  }
}

function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
