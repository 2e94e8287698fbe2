import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const THREADS = ['etl', 'anomaly', 'indexer', 'lifecycle']
/** Words of the code of main thread, search thread, bridge, query process. */
const ONE_OF_EACH = ['runUntilSignal', 'search-thread-entry', 'openTenantRooms', 'ORPHAN_GUARD']
/** The flags of V8 that count for compiled code, as a number: those for which Node comes with compiled code of its own. */
const FLAGS = cachedDataVersionTag().toString(16)

describe('a standalone that says that it is up', function () {
  this.timeout(60_000)
  const compiled = mkdtempSync(join(tmpdir(), 'logpipeline-compiled-'))
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone({ NODE_COMPILE_CACHE: compiled, NODE_DEBUG_NATIVE: 'CODE_CACHE,COMPILE_CACHE' })
  })
  after(async () => {
    await standalone.remove()
    rmSync(compiled, { recursive: true })
  })

  it("has the bridge's four threads running by then, those apart that it names after ten seconds", () =>
    eventually(async () => {
      const lines = readFileSync(standalone.logFile, 'utf8')
        .split('\n')
        .filter(line => line.startsWith('{'))
        .map(
          line =>
            JSON.parse(line) as {
              readonly message: string
              readonly time: string
              readonly thread?: string
              readonly state?: string
              readonly starting?: readonly string[]
            },
        )
      const up = lines.findIndex(({ message }) => message === 'logpipeline is up')
      expect(up).to.be.above(0)
      const { starting = [] } = lines[up]!
      const listens = lines.findIndex(({ message }) => message === 'bridge listens')
      if (starting.length > 0) expect(Date.parse(lines[up]!.time) - Date.parse(lines[listens]!.time)).to.be.at.least(10_000)
      const running = lines.slice(0, up).filter(({ message, state }) => message === 'thread state' && state === 'running')
      expect([...new Set([...running.map(({ thread }) => thread), ...starting])]).to.have.members(THREADS)
    }))

  // Node does that by itself at an orderly end alone.
  it('has kept what it compiled by then, that of its threads and of the query process, too', () =>
    eventually(async () => {
      const files = globSync(join(compiled, `*-${FLAGS}-*/*`)).map(file => readFileSync(file))
      const keeps = (text: string) => files.some(bytes => bytes.includes(text))
      expect(ONE_OF_EACH.filter(text => !keeps(text))).to.deep.equal([])
    }))

  it("reads what was compiled before, Node's own code too, when it starts again", async () => {
    await standalone.stop()
    const before = readFileSync(standalone.logFile).length
    await standalone.restart()
    const told = readFileSync(standalone.logFile).subarray(before).toString()
    const [start = ''] = told.split('"logpipeline is up"', 1)
    expect(start.match(/code cache .* (was|is) accepted/gi)?.length).to.be.above(1_000)
    // Code that one thread reads just while another has set a flag of V8: a busy machine makes that moment longer.
    expect(start.match(/code cache .* (was|is) rejected/gi) ?? []).to.have.length.below(100)
  })
})
