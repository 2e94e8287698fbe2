/** The HTTP/2 server against h2spec, the conformance suite of HTTP/2 and HPACK, with its strict tests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findTool, run } from '../../testing/real/go-tools.ts'
import { Unavailable } from '../../testing/real/unavailable.ts'
import { skipBecause } from '../../testing/skip-because.ts'
import { startHttp2Harness } from './testing/http2-harness.ts'

/** h2spec 2.2.1 is of 2019, and goes by RFC 7540. */
const EXPECTED_DIFFERENCES = {
  'http2/5.3.1: Sends HEADERS frame that depend on itself':
    'RFC 9113, 5.3.1 and 5.3.2: priorities are deprecated, and their content is passed over',
  'http2/5.3.1: Sends PRIORITY frame that depend on itself': 'as above; only the length of such a frame is checked (RFC 9113, 6.3)',
} as const

/** Compiled once, which takes half a minute. */
const BUILD_LIMIT_MS = 180_000
const RUN_LIMIT_MS = 120_000
/** Time that h2spec waits for each frame. */
const FRAME_LIMIT_S = 2
/** h2spec 2.2.1 has so many tests. */
const TESTS = 146

interface TestCase {
  readonly name: string
  readonly hasPassed: boolean
}

/** Reads a report in JUnit's form, as h2spec writes it. */
function readReport(report: string): readonly TestCase[] {
  const cases = report.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g)
  return [...cases].map(([, section, title, outcome]) => ({
    name: `${section}: ${title!.replaceAll('&#34;', '"')}`,
    hasPassed: outcome!.trim() === '',
  }))
}

describe('The HTTP/2 server', () => {
  it('passes h2spec, strict, but for what RFC 9113 has dropped', async function () {
    this.timeout(BUILD_LIMIT_MS + RUN_LIMIT_MS)
    const h2spec = await findTool('h2spec', BUILD_LIMIT_MS).catch((error: Error) => {
      if (error instanceof Unavailable) return skipBecause(this, error.message)
      throw error
    })
    const directory = mkdtempSync(join(tmpdir(), 'h2spec-'))
    const harness = await startHttp2Harness()
    try {
      const report = join(directory, 'report.xml')
      const args = [
        '--strict',
        '--host',
        '127.0.0.1',
        '--port',
        `${harness.port}`,
        '--timeout',
        `${FRAME_LIMIT_S}`,
        '--junit-report',
        report,
      ]
      // It exits with 1 when a test fails; the report says which.
      await run(h2spec, args, { limitMs: RUN_LIMIT_MS }).catch(() => undefined)
      const cases = readReport(readFileSync(report, 'utf8'))
      expect(cases.filter(({ hasPassed }) => !hasPassed).map(({ name }) => name)).to.have.members(Object.keys(EXPECTED_DIFFERENCES))
      expect(cases).to.have.length(TESTS)
    } finally {
      await harness.stop()
      rmSync(directory, { recursive: true })
    }
  })
})
