/** `npm run bench:operator`: prints tables and writes all figures as JSON to hack/bench/out/. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../machine.ts'
import { startBenchCluster } from './cluster.ts'
import { type ModeResult, measureMode, type OnPhase } from './phases.ts'
import { MODES } from './pipelines.ts'
import { operatorTables } from './tables.ts'

const USAGE = `Usage: npm run bench:operator -- [options]

  --pipelines N   LogPipelines that are applied at once (default 1000)
  --mode LIST     of AllInOne, Distributed (default: both, each in a cluster of its own)
  --namespaces N  that they are spread over; a Secret is shared by all of one (default 10)
  --nodes N       fake nodes, 110 pods each (default 100)
  --idle SECONDS  how long nothing happens (default 300)
  --alone         without leader election: on a very busy machine the operator loses its Lease, and ends as it should

Starts a real control plane with fake nodes (KWOK) and the operator beside it. With the default rate limit of the operator, 1,000 pipelines take
5 minutes in mode AllInOne and 8 in mode Distributed, rotation and idle time not counted.
BACKENDS_RUN and BACKENDS_KUBERNETES_PORT give it another place, where a cluster for tests is up already.`

const { values } = parseArgs({
  options: {
    pipelines: { type: 'string', default: '1000' },
    mode: { type: 'string', default: MODES.join() },
    namespaces: { type: 'string', default: '10' },
    nodes: { type: 'string', default: '100' },
    idle: { type: 'string', default: '300' },
    alone: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) console.log(USAGE)
else
  await main().catch(error => {
    console.error(error)
    process.exit(1)
  })

async function main(): Promise<void> {
  // The servers are processes of their own: they have to be ended after errors too.
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(`ended by ${signal}`)))
  })
  interrupted.catch(() => {})
  const machine = describeMachine(['operator', 'dataplane/kube'])
  for (const [name, value] of Object.entries(machine)) console.log(`${name}: ${value}`)
  const directory = join(import.meta.dirname, '../out')
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `operator-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`)
  const report = { machine, phases: [] as object[], results: [] as ModeResult[] }
  const save = () => writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`)
  for (const mode of MODES.filter(one => values.mode.split(',').includes(one))) {
    const cluster = await startBenchCluster(Number(values.nodes))
    try {
      const set = { mode, count: Number(values.pipelines), namespaces: Number(values.namespaces) }
      const onPhase: OnPhase = (phase, figures) => {
        console.error(`  ${mode}: ${phase} done`)
        report.phases.push({ mode, phase, figures })
        save()
        return figures
      }
      const options = { idleSeconds: Number(values.idle), elects: !values.alone, onPhase }
      report.results.push(await Promise.race([measureMode(cluster, set, options), interrupted]))
    } finally {
      await cluster.stop()
    }
  }
  save()
  console.log(`\n${operatorTables(report.results)}\n\nAll figures: ${file}`)
}
