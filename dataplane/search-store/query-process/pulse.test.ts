import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { skipBecause } from '../../testing/skip-because.ts'
import { mountSmallDisk, type SmallDisk } from '../../testing/small-disk.ts'
import { createPulseWriter, NO_PULSE, openPulse, readPulse } from './pulse.ts'

const PULSE = { turn: 3, query: 7, heaviest: 5, heldBytes: 1e12, usedBytes: 2e12 }

describe('the pulse of the query process', () => {
  it('is read as it was written, from a file without a name', () => {
    const dir = mkdtempSync(join(tmpdir(), 'logpipeline-pulse-'))
    const fd = openPulse(dir)
    expect(readdirSync(dir)).to.deep.equal([])
    expect(readPulse(fd)).to.deep.equal(NO_PULSE)
    createPulseWriter(fd)(PULSE)
    expect(readPulse(fd)).to.deep.equal(PULSE)
    closeSync(fd)
    rmSync(dir, { recursive: true })
  })

  describe('on a full disk', () => {
    let disk: SmallDisk | undefined
    beforeEach(function () {
      disk = mountSmallDisk('64k')
      if (disk === undefined) skipBecause(this, 'mounting a small disk needs root')
    })
    afterEach(() => disk?.remove())

    const readBack = (fd: number) => {
      createPulseWriter(fd)(PULSE)
      const seen = readPulse(fd)
      closeSync(fd)
      return seen
    }

    it('is written as before where the disk fills up later', () => {
      const fd = openPulse(disk!.path)
      disk!.fill()
      expect(readBack(fd)).to.deep.equal(PULSE)
    })

    it('lies among the temporary files', () => {
      disk!.fill()
      expect(readBack(openPulse(disk!.path))).to.deep.equal(PULSE)
    })

    it('is missing where these take nothing either, and fails nothing', () => {
      disk!.fill()
      expect(readBack(openPulse(disk!.path, disk!.path))).to.deep.equal(NO_PULSE)
    })
  })
})
