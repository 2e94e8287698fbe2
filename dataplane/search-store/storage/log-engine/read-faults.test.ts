/** A disk that fails to read: each answer is the right one or an error, and all is as before once the disk reads again. */
import { basename } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DamagedSegment } from '../damaged-segment.ts'
import type { WriteOp } from '../index-storage.ts'
import type { LogIndex } from './log-index.ts'
import { createFailingFiles, type FailingFiles } from './testing/failing-files.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, numberedDocument } from './testing/numbered-documents.ts'
import { openIndex, withDirectory } from './testing/temporary-index.ts'

const idOf = (n: number): string => numberedDocument(n).id
const PARTIAL = Buffer.from('{"changed":true}')
/** Two sealed segments, one with deletions, and a tail. */
const NUMBERS = [5, 250, 350, 599, 602] as const
const DELETED = 7

async function written(dir: string, files: FailingFiles): Promise<LogIndex> {
  const index = await openIndex(dir, LOG_MAPPING, files)
  for (const from of [0, 300]) {
    await index.apply(creates(from, 300))
    await index.seal()
  }
  await index.apply([{ action: 'delete', id: idOf(DELETED) }])
  await index.apply(creates(600, 5))
  await index.close()
  return openIndex(dir, LOG_MAPPING, files)
}

/** The answer of the index, or `failed`. */
async function said(ask: () => unknown): Promise<string> {
  try {
    const answer = await ask()
    if (Array.isArray(answer))
      return JSON.stringify(answer.map(each => ('error' in Object(each) && each.error.status >= 429 ? 'failed' : each)))
    return JSON.stringify(answer)
  } catch (error) {
    // A fault of the program would be another.
    if (!/EIO/.test(`${(error as Error).message} ${String((error as Error).cause)}`)) throw error
    return 'failed'
  }
}

const READS: Readonly<Record<string, (index: LogIndex) => unknown>> = {
  'documents by id': index => NUMBERS.map(n => Buffer.from(index.get(idOf(n))?.source ?? []).toString()),
  'many documents by id': index => index.getMany!([...NUMBERS, DELETED].map(idOf), ({ id }) => id),
  'documents of a term': index => index.segments().map(each => [...(each.postings('level', 'ERROR') ?? [])]),
  'documents of a rare term': index => index.segments().map(each => [...(each.postings('message', '250') ?? [])]),
  'documents with ids': index => index.segments().map(each => [...(each.docsOf?.(NUMBERS.map(idOf)) ?? [])]),
  columns: index =>
    index
      .segments()
      .map(each => each.column('timestamp')?.kind === 'number' && [...(each.column('timestamp') as { values: Float64Array }).values]),
  'counts by minute': index => index.segments().map(each => each.counts()),
  sources: index => index.segments().map(each => Array.from({ length: each.size }, (_, doc) => Buffer.from(each.source(doc)).toString())),
  ids: index => index.segments().map(each => Array.from({ length: each.size }, (_, doc) => each.id(doc))),
}

const WRITES: Readonly<Record<string, readonly WriteOp[]>> = {
  'documents that are there already': NUMBERS.map(n => ({ action: 'create', ...numberedDocument(n) })),
  updates: NUMBERS.map(n => ({ action: 'update', id: idOf(n), partial: PARTIAL })),
  deletions: NUMBERS.map(n => ({ action: 'delete', id: idOf(n) })),
}

describe('an index whose disk fails to read', function () {
  this.timeout(60_000)

  for (const [what, read] of Object.entries(READS))
    it(`gives ${what} as they are, or an error`, () =>
      withDirectory(async dir => {
        const files = createFailingFiles()
        let index = await written(dir, files)
        const sound = await said(() => read(index))
        expect(sound).to.not.equal('failed')
        let failures = 0
        for (let failing = 0; failing < 12; failing++) {
          await index.close()
          index = await openIndex(dir, LOG_MAPPING, files)
          let count = 0
          files.fault = operation => (operation === 'read' && count++ === failing ? 'EIO' : undefined)
          const first = await said(() => read(index))
          files.fault = undefined
          if (first === 'failed') failures++
          else expect(first, `read ${failing}`).to.equal(sound)
          expect(await said(() => read(index)), `after read ${failing}`).to.equal(sound)
        }
        expect(failures).to.be.above(0)
        await index.close()
      }))

  for (const [what, ops] of Object.entries(WRITES))
    it(`answers writes (${what}) as they are due, or with an error, and does nothing else`, () =>
      withDirectory(async dir => {
        let refused = 0
        for (let failing = 0; failing < 6; failing++) {
          const files = createFailingFiles()
          const own = `${dir}/${failing}`
          const index = await written(own, files)
          let count = 0
          files.fault = (operation, path) =>
            operation === 'read' && basename(path).endsWith('.seg') && count++ >= failing ? 'EIO' : undefined
          // One commit takes both; the others need nothing that cannot be read.
          const [outcomes, others] = await Promise.all([index.apply(ops), index.apply(creates(2000, 3))])
          files.fault = undefined
          expect(others.map(each => ('result' in each ? each.result : each))).to.deep.equal(['created', 'created', 'created'])
          let deleted = 0
          for (const [k, outcome] of outcomes.entries()) {
            const { action } = ops[k]!
            const told = 'error' in outcome ? outcome.error.status : outcome.result
            expect(told, `${action} after read ${failing}`).to.be.oneOf(
              action === 'create' ? [409, 503] : action === 'update' ? ['updated', 503] : ['deleted', 503],
            )
            if (told === 'deleted') deleted++
            if (told === 503) refused++
          }
          expect(index.docCount).to.equal(607 - deleted)
          expect((await index.apply(creates(1000, 1)))[0]).to.have.property('result', 'created')
          await index.close()
          const again = await openIndex(own, LOG_MAPPING, files)
          expect(again.docCount).to.equal(608 - deleted)
          await again.close()
        }
        expect(refused).to.be.above(0)
      }))

  it('says of a document that was not sealed yet, too, which part of which segment it is', () =>
    withDirectory(async dir => {
      const files = createFailingFiles()
      const index = await written(dir, files)
      const tail = index.segments().at(-1)!
      expect(tail.size).to.equal(5)
      files.fault = (operation, path) => (operation === 'read' && path.endsWith('00000003.seg') ? 'EIO' : undefined)
      for (const read of [() => tail.source(0), () => tail.bareSource?.(0), () => tail.text?.('message', 0)])
        expect(read)
          .to.throw(DamagedSegment, /00000003\.seg is damaged at byte \d+ \(EIO/)
          .with.property('segment', tail)
      files.fault = undefined
      await index.close()
    }))
})
