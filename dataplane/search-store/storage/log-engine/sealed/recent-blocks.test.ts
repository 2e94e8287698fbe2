import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { mappingConfigOf } from '../../../mapping/mapping-config.ts'
import { type LogIndex, openLogIndex } from '../log-index.ts'
import { createByteCache } from './byte-cache.ts'

const DOCUMENTS = 250
const FILLER = 'x'.repeat(300)

describe('blocks just written', () => {
  let dir: string
  let index: LogIndex
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'recent-blocks-'))
    index = await openLogIndex(
      { dir, name: 'logs', mapping: mappingConfigOf({ properties: { message: { type: 'text' } } }, 100) },
      { clock: { nowMs: () => 0 }, cache: createByteCache(1 << 20), newUuid: randomUUID },
    )
  })
  after(async () => {
    await index.close()
    rmSync(dir, { recursive: true })
  })

  const sourceOf = (id: string, hasMessage: boolean) =>
    Buffer.from(JSON.stringify({ id, ...(hasMessage && { message: `said ${id} ${FILLER}` }), other: FILLER }))

  /** Fills one block. */
  const write = (batch: number) =>
    index.apply(
      Array.from({ length: DOCUMENTS }, (_, k) => ({
        action: 'create',
        id: `${batch}-${k}`,
        source: sourceOf(`${batch}-${k}`, k % 2 === 0),
      })),
    )

  it('give their memory back later without taking from anyone what was read of them', async () => {
    await write(0)
    const [view] = index.segments()
    const read = [index.get('0-0')!.source, index.get('0-1')!.source, view!.source(2), view!.source(3)]
    const message = view!.text!('message', 4)!
    const bare = [view!.bareSource!(4), view!.bareSource!(5)]
    for (let batch = 1; batch < 60; batch++) await write(batch)
    for (const [k, source] of read.entries()) expect(Buffer.from(source)).to.deep.equal(sourceOf(`0-${k}`, k % 2 === 0))
    expect(Buffer.from(message).toString()).to.equal(`said 0-4 ${FILLER}`)
    for (const each of [bare, [view!.bareSource!(4), view!.bareSource!(5)]]) {
      expect(JSON.parse(Buffer.from(each[0]!).toString())).to.deep.equal({ id: '0-4', message: '', other: FILLER })
      expect(Buffer.from(each[1]!).toString()).to.equal(sourceOf('0-5', false).toString())
    }
    expect(Buffer.from(view!.source(2)).toString()).to.equal(sourceOf('0-2', true).toString())
    expect(Buffer.from(view!.source(3)).toString()).to.equal(sourceOf('0-3', false).toString())
    expect(Buffer.from(view!.text!('message', 4)!).toString()).to.equal(`said 0-4 ${FILLER}`)
  })
})
