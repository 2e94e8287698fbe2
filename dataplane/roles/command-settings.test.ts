import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { CommandDeps } from '../command-line/command.ts'
import { ConfigError, type Environment } from '../config/environment.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { runBackup, runRestore } from './backup/index.ts'
import { runBusGroups } from './bus-groups/index.ts'
import { runDlq } from './dlq/index.ts'
import { runFeaturesCompute } from './features/compute-command.ts'
import { runKeys } from './keys/index.ts'

const NOT_THERE = join(tmpdir(), 'logpipeline-nowhere', 'data')
const ELSEWHERE = join(tmpdir(), 'logpipeline-nowhere', 'backup')

const COMMANDS: Readonly<Record<string, (deps: CommandDeps) => Promise<number>>> = {
  backup: deps => runBackup([ELSEWHERE], deps),
  restore: deps => runRestore([ELSEWHERE], deps),
  'bus groups': deps => runBusGroups(['list'], deps),
  dlq: deps => runDlq(['list'], { ...deps, print: async () => true }),
  'features compute': deps => runFeaturesCompute([], deps),
  keys: deps => runKeys(['list', '--tenant', 'acme'], deps),
}

describe('settings of commands', () => {
  for (const [name, command] of Object.entries(COMMANDS)) {
    const run = (environment: Environment) => {
      const silent = { write: () => true }
      return command({ stdout: silent, stderr: silent, clock: createFakeClock(), environment })
    }

    it(`${name} minds no setting that it does not use`, async () => {
      const backEnds = { DATA_DIR: NOT_THERE, SEARCH_ENDPOINT: 'http://127.0.0.1:1' }
      // 1: it looked for its data, which are not there.
      expect(await run({ ...backEnds, LOG_LEVEL: 'loud', HOST_FILE: '/nowhere', GATEWAY_PORT: 'none', WINDOW_SIZE: 'wide' })).to.equal(1)
    })

    it(`${name} refuses a wrong value of a setting that it uses`, async () => {
      const error = await run({ DATA_DIR_FILE: '/nowhere' }).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(ConfigError)
      expect((error as ConfigError).problems).to.have.length(1)
    })
  }
})
