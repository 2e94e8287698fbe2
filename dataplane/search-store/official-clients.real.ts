/** Official clients run one script on OpenSearch and on the embedded store, and the requests of tools that read and write logs are sent to both: the answers are the same. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { backendAddress } from '../testing/real/address.ts'
import { Unavailable } from '../testing/real/unavailable.ts'
import { runJavaScriptClient } from './testing/official-clients/client.ts'
import { unknownDifferences } from './testing/official-clients/known-differences.ts'
import { runGoClient, runJavaClient, runPythonClient } from './testing/official-clients/other-languages.ts'
import { loadDocuments, RECORDED_TOOLS, removeDocuments, sendRecorded } from './testing/official-clients/recorded-requests.ts'
import { differencesOf, type Step } from './testing/official-clients/steps.ts'
import { startTestStore, type TestStore } from './testing/test-store.ts'

export const needs = ['opensearch']

type Script = (url: string) => Promise<readonly Step[]>

const CLIENTS: Readonly<Record<string, Script>> = {
  JavaScript: runJavaScriptClient,
  Python: runPythonClient,
  Java: runJavaClient,
  Go: runGoClient,
}

describe('official clients and tools get the same answers from OpenSearch and the embedded store', function () {
  this.timeout(300_000)
  const real = backendAddress('opensearch')
  let embedded: TestStore

  before(async () => {
    embedded = await startTestStore({ clock: systemClock })
    await clear()
  })
  after(async () => {
    await clear()
    await embedded?.stop()
  })

  async function clear(): Promise<void> {
    await removeDocuments(real)
    for (const path of ['/_data_stream/clients-*', '/clients-*', '/_index_template/clients*'])
      await fetch(real + path, { method: 'DELETE' })
  }

  async function expectSame(name: string, script: Script): Promise<void> {
    const differences = unknownDifferences(name, differencesOf(await script(real), await script(embedded.url)))
    expect(differences, differences.join('\n')).to.deep.equal([])
  }

  for (const [language, script] of Object.entries(CLIENTS))
    it(`the client in ${language}`, async function () {
      try {
        await expectSame(language, script)
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        process.stdout.write(`      ${error.message}\n`)
        this.skip()
      }
    })

  describe('requests of tools', () => {
    before(async () => {
      for (const url of [real, embedded.url]) await loadDocuments(url)
    })

    for (const tool of RECORDED_TOOLS) it(tool.tool, () => expectSame(tool.tool, url => sendRecorded(url, tool)))
  })
})
