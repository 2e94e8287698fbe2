/** `npm run fuzz [-- --minutes 60] [--seed 1]`: the suite of hostile requests for as long as told, with another seed every ten minutes. */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const ROUND_SECONDS = 600
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } } })
const seconds = Number(values.minutes) * 60
const firstSeed = Number(values.seed)
if (!(seconds > 0) || !Number.isSafeInteger(firstSeed)) {
  console.error('expected --minutes above 0 and --seed as an integer')
  process.exit(2)
}

process.chdir(resolve(import.meta.dirname, '..'))
const rounds = Math.ceil(seconds / ROUND_SECONDS)
let failed = 0
for (let round = 0; round < rounds; round++) {
  const env = { ...process.env, HOSTILE_SECONDS: String(Math.min(ROUND_SECONDS, seconds)), HOSTILE_SEED: String(firstSeed + round * 100) }
  const { status } = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', '--spec', 'e2e/hostile.test.ts'], {
    env,
    stdio: 'inherit',
  })
  if (status !== 0) failed++
}
console.log(`${rounds - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
