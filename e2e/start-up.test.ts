import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const THREADS = ['etl', 'anomaly', 'indexer', 'lifecycle']
/** Words of the code of main thread, search thread, bridge, query process. */
const ONE_OF_EACH = ['runUntilSignal', 'search-thread-entry', 'openTenantRooms', 'ORPHAN_GUARD']

describe('a standalone that says that it is up', function () {
  this.timeout(60_000)
  const compiled = mkdtempSync(join(tmpdir(), 'logpipeline-compiled-'))
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone({ NODE_COMPILE_CACHE: compiled })
  })
  after(async () => {
    await standalone.remove()
    rmSync(compiled, { recursive: true })
  })

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

  // Node does that by itself at an orderly end alone.
  it('has kept what it compiled by then, that of its threads and of the query process, too', () =>
    eventually(async () => {
      const files = globSync(join(compiled, '*/*')).map(file => readFileSync(file))
      const keeps = (text: string) => files.some(bytes => bytes.includes(text))
      expect(ONE_OF_EACH.filter(text => !keeps(text))).to.deep.equal([])
    }))
})
