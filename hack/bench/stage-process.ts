/** Measures one stage in a process of its own and prints a `StageResult` as JSON: warm-up, then rounds; the median counts. */
import { parseArgs } from 'node:util'
import { cpuSeconds } from './process-usage.ts'
import { STAGES } from './stages.ts'

export interface StageResult {
  readonly stage: string
  /** The checkout that was measured, once it is told from another one. */
  readonly subject?: string
  readonly recordsPerSecond: number
  readonly cpuSecondsPerMillion: number
  /** Records per second of every round, to see how steady it was. */
  readonly rounds: readonly number[]
}

const { values } = parseArgs({
  options: { stage: { type: 'string' }, rounds: { type: 'string', default: '5' }, 'round-ms': { type: 'string', default: '1000' } },
})
const stage = values.stage ?? ''
const { pass, serverPid, stop } = await STAGES[stage]!()
const roundMs = Number(values['round-ms'])

await round(roundMs)
const rounds = []
for (let i = 0; i < Number(values.rounds); i += 1) rounds.push(await round(roundMs))
const result: StageResult = {
  stage,
  recordsPerSecond: median(rounds.map(one => one.recordsPerSecond)),
  cpuSecondsPerMillion: median(rounds.map(one => one.cpuSecondsPerMillion)),
  rounds: rounds.map(one => Math.round(one.recordsPerSecond)),
}
process.stdout.write(`${JSON.stringify(result)}\n`)
await stop?.()

async function round(minMs: number) {
  const cpuBefore = cpuTime()
  const started = performance.now()
  let records = 0
  while (performance.now() - started < minMs) records += await pass()
  const seconds = (performance.now() - started) / 1000
  return { recordsPerSecond: records / seconds, cpuSecondsPerMillion: ((cpuTime() - cpuBefore) / records) * 1e6 }
}

/** Seconds. */
function cpuTime(): number {
  if (serverPid !== undefined) return cpuSeconds(serverPid)
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
