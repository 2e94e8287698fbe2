/** Hostile requests at each door of a standalone for a while, and what became of a bystander meanwhile. */
import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { countDocuments, type SentRecord, scanLogs } from '../api.ts'
import { eventually, type Standalone } from '../standalone-process.ts'
import type { AttackOrder, AttackReport } from './attacker.ts'
import { BYSTANDER, type BystanderReport, startBystander } from './bystander.ts'

export interface SiegeConfig extends Omit<AttackOrder, 'addresses'> {
  readonly app: Standalone
  readonly seconds: number
}

export interface SiegeReport {
  /** Answers to hostile requests by door and status. */
  readonly answers: Readonly<Record<string, number>>
  /** Hostile requests that were answered as no input may be. */
  readonly offences: readonly string[]
  readonly bystander: BystanderReport
  /** Largest resident memory of the process and its children together, bytes. */
  readonly peakBytes: number
  /** The same of the process alone, and of its children alone. */
  readonly peakParts: { readonly own: number; readonly children: number }
  /** Findings of the oracle: records that are missing, doubled, changed or invented. */
  readonly losses: readonly string[]
}

const ATTACKER = resolve(import.meta.dirname, 'attacker.ts')
const MEMORY_EVERY_MS = 200
const SETTLE_MS = 60_000

export async function laySiege({ app, seconds, ...order }: SiegeConfig): Promise<SiegeReport> {
  const key = await makeKey(app)
  const bystander = startBystander(app)
  const attacker = startAttacker({ addresses: { ...addressesOf(app), key }, ...order })
  let peakBytes = 0
  const peakParts = { own: 0, children: 0 }
  const watch = setInterval(() => {
    const all = residentBytes(app.pid)
    const own = Math.min(all, ownBytes(app.pid))
    peakBytes = Math.max(peakBytes, all)
    peakParts.own = Math.max(peakParts.own, own)
    peakParts.children = Math.max(peakParts.children, all - own)
  }, MEMORY_EVERY_MS)
  try {
    await sleep(seconds * 1_000)
    const { answers, offences } = await attacker.stop()
    const report = await bystander.stop()
    return { answers, offences, bystander: report, peakBytes, peakParts, losses: await compare(app, report.acknowledged) }
  } finally {
    clearInterval(watch)
    attacker.kill()
  }
}

/** Addresses of an application for an attacker; they go to another process as a message. */
function addressesOf(app: Standalone): Omit<AttackOrder['addresses'], 'key'> {
  const { grpc, collector, bridge, ticketing, agent, features, scheduler, search, gateway, dashboard } = app
  return { grpc, collector, bridge, ticketing, agent, features, scheduler, search, gateway, dashboard }
}

/** A key of a tenant that is the attacker's own. */
async function makeKey({ dashboard }: Standalone): Promise<string> {
  const answer = await fetch(`${dashboard}/api/admin/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-tenant-id': 'mallory' },
    body: JSON.stringify({ name: 'attacker' }),
  })
  return ((await answer.json()) as { readonly key: string }).key
}

function startAttacker(order: AttackOrder) {
  const child: ChildProcess = fork(ATTACKER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const offences: string[] = []
  const ended = new Promise<Readonly<Record<string, number>>>((done, fail) => {
    child.on('message', (report: AttackReport) => {
      if (report.kind === 'summary') done(report.answers)
      else offences.push(`${report.door} request ${report.number} (seed ${order.seed}): ${report.title}: ${report.what}`)
    })
    child.once('exit', code => fail(new Error(`the attacker ended by itself (${code})`)))
  })
  ended.catch(() => undefined)
  child.send(order)
  return {
    async stop() {
      child.send('stop')
      return { answers: await ended, offences }
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Memory of a process and its children. */
function residentBytes(pid: number): number {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap(task => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    return children.filter(child => child !== '').reduce((sum, child) => sum + residentBytes(Number(child)), ownBytes(pid))
  } catch {
    return 0 // It has just ended.
  }
}

function ownBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}

/** Every record that was acknowledged is there once, as it was sent; nothing else is. */
async function compare(app: Standalone, acknowledged: readonly SentRecord[]): Promise<readonly string[]> {
  const own = { term: { tenant_id: BYSTANDER } }
  await eventually(
    async () => {
      const found = await countDocuments(app.search, 'service-logs-*', own)
      if (found < acknowledged.length) throw new Error(`${found} of ${acknowledged.length} records are searchable`)
    },
    { timeoutMs: SETTLE_MS, pauseMs: 500 },
  )
  const stored = Map.groupBy(await scanLogs(app.search, own), document => String(document['record.id']))
  const problems: string[] = []
  for (const { id, ...sent } of acknowledged) {
    const found = stored.get(id) ?? []
    if (found.length !== 1) problems.push(`${id} is there ${found.length} times`)
    const [document] = found
    if (document !== undefined && !isAsSent(document, sent)) problems.push(`${id} was changed: ${JSON.stringify(document)}`)
  }
  return problems
}

function isAsSent(document: Readonly<Record<string, unknown>>, sent: Omit<SentRecord, 'id'>): boolean {
  return (
    document['message'] === sent.body &&
    document['service'] === sent.service &&
    document['level'] === sent.severityText &&
    document['time_unix_nano'] === sent.timeUnixNano &&
    document['attempt'] === sent.attempt
  )
}
