import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { SETTINGS, settingsOfRole } from '../contract/env.ts'
import { ROLE_NAMES } from '../contract/roles.ts'
import type { Setting } from '../contract/setting.ts'
import { SeededRandom } from '../testing/hostile/seeded-random.ts'
import { ConfigError, describeSettings, type Environment, loadSettings } from './environment.ts'

const SECRET = 'correct horse battery staple'
const TEXTS = [
  '',
  ' ',
  '-1',
  '0',
  '1e3',
  '٣',
  '9'.repeat(400),
  'x'.repeat(100_000),
  'a,b,,c',
  ',',
  'http://',
  'http://[::1',
  'redis://',
  '__proto__',
  '../..',
  '\ud800',
  SECRET,
]
const SLOW_MS = 500
const SEED = Number(process.env['HOSTILE_SEED'] ?? 1)

describe('settings that nobody should give', () => {
  let directory: string
  let paths: readonly string[]
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-hostile-settings-'))
    const at = (name: string) => join(directory, name)
    mkdirSync(at('directory'))
    writeFileSync(at('empty'), '')
    writeFileSync(at('zeros'), Buffer.alloc(100))
    writeFileSync(at('large'), 'x'.repeat(2 * 1024 * 1024))
    writeFileSync(at('sound'), '127.0.0.1:9092\n')
    paths = [
      ...['directory', 'empty', 'zeros', 'large', 'sound', 'missing', 'sound/below'].map(at),
      '/dev/zero',
      '/proc/self/mem',
      'x'.repeat(10_000),
    ]
  })
  after(() => rmSync(directory, { recursive: true }))

  function oddEnvironment(random: SeededRandom): Environment {
    const entries = Object.keys(SETTINGS).flatMap((name): [string, string][] => {
      if (random.chance(0.8)) return []
      return random.chance(0.3) ? [[`${name}_FILE`, random.pick(paths)]] : [[name, random.pick(TEXTS)]]
    })
    return Object.fromEntries(entries)
  }

  for (const role of ROLE_NAMES) {
    it(`${role}: are refused with one short line for each problem, at once, and without telling secrets`, () => {
      const random = new SeededRandom(SEED + ROLE_NAMES.indexOf(role))
      for (let round = 0; round < 200; round++) {
        const environment = oddEnvironment(random)
        const start = performance.now()
        const lines = outcome(environment)
        expect(performance.now() - start, JSON.stringify(environment).slice(0, 500)).to.be.below(SLOW_MS)
        for (const line of lines) {
          expect(line.length, line.slice(0, 200)).to.be.below(110_000)
          expect(line).to.match(/^[A-Z_]+(=| \(unset\)|: expected )/)
        }
        const secrets = settingsOfRole(role).filter(([name, setting]) => (setting as Setting).secret && environment[name] === SECRET)
        for (const [name] of secrets) expect(lines.filter(line => line.startsWith(name)).join()).to.not.contain(SECRET)
      }
    })

    function outcome(environment: Environment): readonly string[] {
      try {
        return describeSettings(role, loadSettings(role, environment))
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        for (const problem of error.problems) expect(problem.length, problem.slice(0, 300)).to.be.below(1_200)
        return error.problems
      }
    }
  }
})
