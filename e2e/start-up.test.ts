import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const THREADS = ['etl', 'anomaly', 'indexer', 'lifecycle']

describe('a standalone that says that it is up', function () {
  this.timeout(60_000)
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone()
  })
  after(() => standalone.remove())

  it("has the bridge's four threads running by then", () =>
    eventually(async () => {
      const lines = readFileSync(standalone.logFile, 'utf8')
        .split('\n')
        .filter(line => line.startsWith('{'))
        .map(
          line =>
            JSON.parse(line) as {
              readonly message: string
              readonly thread?: string
              readonly state?: string
              readonly starting?: unknown
            },
        )
      const up = lines.findIndex(({ message }) => message === 'logpipeline is up')
      expect(up).to.be.above(0)
      expect(lines[up]!.starting).to.equal(undefined)
      const running = lines.slice(0, up).filter(({ message, state }) => message === 'thread state' && state === 'running')
      expect(running.map(({ thread }) => thread)).to.have.members(THREADS)
    }))
})
