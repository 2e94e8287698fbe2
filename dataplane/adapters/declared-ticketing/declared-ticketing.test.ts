import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { eventually } from '../../kube/testing/eventually.ts'
import type { DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createDeclaredTicketing } from './declared-ticketing.ts'
import { type ConfigMount, createConfigMount, type Files, writeFiles } from './testing/config-mount.ts'

const ONCE_MS = 5_000

const slack = (webhookUrl: string, minimumScore = 0.9): Files => ({
  'ticketing.json': JSON.stringify({
    anomaly: { minimumScore },
    platforms: { slack: { owner: 'shop/chat', settings: {} } },
    routes: [{ owner: 'shop/chat', platform: 'slack', severities: ['low'], escalation: false }],
  }),
  'slack.webhookUrl': `${webhookUrl}\n`,
})

describe('Declared ticketing configuration', () => {
  let clock: FakeClock
  let mount: ConfigMount
  let source: DeclaredTicketingSource

  beforeEach(() => {
    clock = createFakeClock()
    mount = createConfigMount(slack('https://hooks.example/1'))
    source = createDeclaredTicketing(mount.directory, { clock, log: SILENT })
  })
  afterEach(async () => {
    await source.stop()
    mount.remove()
  })
  const webhookUrl = () => source.current()?.platforms.slack?.fields['webhookUrl']
  /** Lets time pass until the next look has told of it. */
  const passUntil = (what: string, holds: () => boolean) =>
    eventually(what, () => {
      if (!holds() && clock.sleepers > 0) clock.advance(ONCE_MS)
      return holds()
    })

  it('is read at start', async () => {
    await source.start()
    expect(webhookUrl()).to.equal('https://hooks.example/1')
    expect(source.problems()).to.deep.equal([])
  })

  it('is read again when the mount is exchanged: a rotated secret, a change of the file', async () => {
    await source.start()
    mount.write(slack('https://hooks.example/2'))
    await passUntil('the secret is seen', () => webhookUrl() === 'https://hooks.example/2')
    mount.write(slack('https://hooks.example/2', 0.7))
    await passUntil('the change is seen', () => source.current()?.anomaly.minimumScore === 0.7)
  })

  it('keeps the last good layer while a file is bad, and says what is wrong', async () => {
    await source.start()
    mount.write({ ...slack('https://hooks.example/2'), 'ticketing.json': '{' })
    await passUntil('the problem is seen', () => source.problems().length > 0)
    expect(source.problems()[0]).to.match(/^ticketing\.json: expected JSON, seen something else/)
    expect(webhookUrl()).to.equal('https://hooks.example/1')
    mount.write(slack('https://hooks.example/3'))
    await passUntil('it is mended', () => source.problems().length === 0)
    expect(webhookUrl()).to.equal('https://hooks.example/3')
  })

  it('starts with a bad file, as if nothing were declared', async () => {
    mount.write({ 'ticketing.json': '[]' })
    await source.start()
    expect(source.current()).to.equal(undefined)
    expect(source.problems()).to.deep.equal(['ticketing.json: content: expected object, seen an array of 0'])
  })

  it('a directory that is not there declares nothing, until it comes', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'declared-'))
    const late = createDeclaredTicketing(join(parent, 'ticketing'), { clock, log: SILENT })
    await late.start()
    expect([late.current(), late.problems()]).to.deep.equal([undefined, []])
    writeFiles(join(parent, 'ticketing'), slack('https://hooks.example/1'))
    await passUntil('it is seen', () => late.current() !== undefined)
    await late.stop()
    rmSync(parent, { recursive: true })
  })

  it('a file that goes away declares nothing any more', async () => {
    await source.start()
    mount.write({ unrelated: '' })
    await passUntil('it is seen', () => source.current() === undefined)
    expect(source.problems()).to.deep.equal([])
  })

  it('a directory that becomes a file keeps what was declared', async () => {
    await source.start()
    mount.remove()
    writeFileSync(mount.directory, '')
    await passUntil('the problem is seen', () => source.problems().length > 0)
    expect(source.problems()).to.deep.equal(['ticketing.json: expected a readable file, seen ENOTDIR'])
    expect(webhookUrl()).to.equal('https://hooks.example/1')
  })

  it('names a file that cannot be read', async () => {
    mount.write({ 'ticketing.json/inside': '' })
    await source.start()
    expect(source.problems()).to.deep.equal(['ticketing.json: expected a readable file, seen EISDIR'])
  })
})
