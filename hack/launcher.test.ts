/** Settings that `hack/logpipeline` gives to a role. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, describe, it } from 'mocha'

describe('the launcher', () => {
  const root = mkdtempSync(join(tmpdir(), 'logpipeline-launcher-'))
  mkdirSync(join(root, 'hack'))
  const program = join(root, 'hack/logpipeline')
  copyFileSync(join(import.meta.dirname, 'logpipeline'), program)
  // Stands in for Node, and says what it was given.
  writeFileSync(
    join(root, 'hack/node'),
    '#!/bin/sh\necho "$MALLOC_MMAP_THRESHOLD_ $MALLOC_TRIM_THRESHOLD_ $MALLOC_TOP_PAD_ $MALLOC_ARENA_MAX $3"\n',
    { mode: 0o755 },
  )
  after(() => rmSync(root, { recursive: true }))

  const settingsOf = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(program, args, { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' }).stdout.trim()

  it('lets a collector of its own keep larger buffers than other roles, beside fewer young objects', () => {
    expect(settingsOf(['collector'])).to.equal('262144 4194304 131072 2 --max-semi-space-size=4')
    for (const args of [[], ['standalone'], ['bridge', '--help']])
      expect(settingsOf(args)).to.equal('65536 98304 32768 2 --max-semi-space-size=8')
  })

  it('leaves to the user what is set', () => {
    const own = { MALLOC_MMAP_THRESHOLD_: '100000', MALLOC_TRIM_THRESHOLD_: '200000', MALLOC_TOP_PAD_: '0', MALLOC_ARENA_MAX: '1' }
    for (const role of ['collector', 'search']) expect(settingsOf([role], own)).to.match(/^100000 200000 0 1 /)
  })
})
