import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import { makeMemoryDisk } from './memory-disk.ts'

const MODULE = JSON.stringify(new URL('memory-disk.ts', import.meta.url))

/** A process that makes one, and its path; undefined where this machine has none. */
async function start() {
  const code = `import { makeMemoryDisk } from ${MODULE}; console.log(makeMemoryDisk() ?? 'none'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await once(child, 'close')
  }
  return { dir: String(chunk).trim(), end }
}

describe('the disk in memory of unit tests', () => {
  it('is gone when its process is ended, and the next one removes that of a killed one', async function () {
    const { dir, end } = await start()
    if (dir === 'none') {
      await end('SIGKILL')
      skipBecause(this, 'no file system in memory with 4 GiB of room')
    }
    expect(existsSync(dir)).to.equal(true)
    await end('SIGTERM')
    expect(existsSync(dir)).to.equal(false)
    const killed = await start()
    await killed.end('SIGKILL')
    expect(existsSync(killed.dir)).to.equal(true)
    const own = makeMemoryDisk()
    expect(existsSync(killed.dir)).to.equal(false)
    rmSync(own!, { recursive: true })
  }).timeout(20_000)
})
