/**
 * `npm run fuzz [-- --minutes 60] [--seed 1]`: hostile requests, settings and custom resources for as long as told. A round is ten minutes:
 * each of the suites `hostile*.test.ts` with a seed of its own, and every door of a standalone at once (`e2e/hostile.long.ts`).
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const ROUND_SECONDS = 600
const SEEDS_A_ROUND = 100
/** Requests at each door in a second; in `npm run test:long` there are fewer. */
const RATE = '20'
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } } })
const seconds = Number(values.minutes) * 60
const firstSeed = Number(values.seed)
if (!(seconds > 0) || !Number.isSafeInteger(firstSeed)) {
  console.error('expected --minutes above 0 and --seed as an integer')
  process.exit(2)
}

process.chdir(resolve(import.meta.dirname, '..'))
const suites = [...globSync('{dataplane,operator}/**/hostile*.test.ts').sort(), 'e2e/hostile.long.ts']
const endMs = Date.now() + seconds * 1_000
let passed = 0
let failed = 0
for (let seed = firstSeed; Date.now() < endMs; seed += SEEDS_A_ROUND) {
  const leftSeconds = Math.ceil((endMs - Date.now()) / 1_000)
  const env = {
    ...process.env,
    HOSTILE_SECONDS: String(Math.min(ROUND_SECONDS, leftSeconds)),
    HOSTILE_SEED: String(seed),
    HOSTILE_RATE: RATE,
  }
  for (const suite of suites) {
    const { status } = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', '--spec', suite], { env, stdio: 'inherit' })
    if (status === 0) passed++
    else {
      failed++
      console.log(`${suite} failed with HOSTILE_SEED=${seed}`)
    }
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
