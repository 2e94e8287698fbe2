/** Stops an index between any two changes of its files, in every way in which a disk may keep what was not synced. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Contents, PowerCutDisk, type Stop } from '../../../testing/power-cut-disk.ts'
import { rounds } from '../../../testing/rounds.ts'
import type { WriteOp } from '../index-storage.ts'
import type { LogIndex } from './log-index.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, deletes, numberedDocument } from './testing/numbered-documents.ts'
import { powerCutFiles } from './testing/power-cut-files.ts'
import { openIndex } from './testing/temporary-index.ts'

const DIRECTORY = '/data'
/** Hardly an id stays in memory: the ids of each segment go into a run on disk, and runs are merged. */
const MAX_IDS_IN_MEMORY = 6
const open = (disk: PowerCutDisk) => openIndex(DIRECTORY, LOG_MAPPING, powerCutFiles(disk), undefined, MAX_IDS_IN_MEMORY)

/** Sources of the living documents by id, as one text. */
function documentsOf(index: LogIndex): string {
  const documents: string[] = []
  for (const segment of index.segments())
    for (let doc = 0; doc < segment.size; doc++)
      if (segment.isLive(doc)) documents.push(`${segment.id(doc)} ${Buffer.from(segment.source(doc)).toString()}`)
  return documents.sort().join('\n')
}

/** Positions of the documents that could be created again, though they are there. */
async function createdTwice(index: LogIndex): Promise<readonly string[]> {
  const documents = documentsOf(index)
    .split('\n')
    .map(line => line.split(' ', 1)[0]!)
  const ops = documents.filter(id => id !== '').map((id): WriteOp => ({ action: 'create', id, source: numberedDocument(1).source }))
  const outcomes = await index.apply(ops)
  return ops.flatMap(({ id }, k) => ('error' in outcomes[k]! ? [] : [id]))
}

interface Moment {
  readonly what: string
  readonly contents: ReadonlyMap<Stop, Contents>
  /** Documents that were acknowledged, and the same with the commit that is under way. */
  readonly allowed: readonly string[]
}

/** An index whose disk is looked at before each of its changes. */
async function watchedIndex() {
  const disk = new PowerCutDisk()
  const moments: Moment[] = []
  const index = await open(disk)
  let allowed: readonly string[] = ['']
  let what = ''
  disk.onChange = () => void moments.push({ what, contents: disk.afterAll(), allowed })
  /** Writes to an index in memory first, which tells what the commit makes of the documents. */
  const shadow = await open(new PowerCutDisk())
  return {
    index,
    moments,
    async apply(ops: readonly WriteOp[]) {
      await shadow.apply(ops)
      const after = documentsOf(shadow)
      what = `commit of ${ops.length}`
      allowed = [...allowed, after]
      await index.apply(ops)
      allowed = [after]
      what = `after the ${what}`
    },
    async run(name: string, work: () => Promise<void>) {
      what = name
      await work()
      what = `after the ${name}`
    },
  }
}

const isMergedRun = ([path, bytes]: readonly [path: string, bytes: Buffer]) =>
  path.endsWith('.ids') && /"replaces":\[\d/.test(bytes.toString('latin1'))

const flags = (from: number, count: number): WriteOp[] =>
  Array.from({ length: count }, (_, k) => ({
    action: 'update',
    id: numberedDocument(from + k).id,
    partial: Buffer.from('{"is_anomaly":true}'),
  }))

/** Each segment is made of one commit, which stays as it is when sealed, or of several, which are written anew then. */
async function writeSegments({ index, apply, run }: Awaited<ReturnType<typeof watchedIndex>>): Promise<void> {
  for (let round = 0; round < 9; round++) {
    const from = round * 100
    await apply(creates(from, 8))
    if (round % 2 === 1) await apply([...creates(from + 8, 4), ...flags(from, 2), ...deletes(from + 9, 1)])
    if (round > 0) await apply([...deletes(from - 100, 2), ...flags(from - 97, 1)])
    await run('seal', () => index.seal())
  }
  await apply(creates(2_000, 3))
  await run('merge', () => index.maintain())
  await apply(flags(300, 3))
  await run('mapping', () => index.putMapping({ added: { type: 'keyword' } }))
  await apply(deletes(2_000, 3))
  await apply(creates(3_000, 2))
  await run('seal', () => index.seal())
  await apply(creates(4_000, 4))
  await run('seal', () => index.seal())
  // The last of a sealed segment: it goes.
  await apply(deletes(3_000, 2))
  await apply(creates(5_000, 2))
  await run('stop', () => index.close())
}

/** Without its segment of this name, in a disk that is otherwise as it was left. */
async function withoutSegment(left: Contents, path: string, is: 'missing' | 'empty'): Promise<string | undefined> {
  const others = new Map(left)
  if (is === 'missing') others.delete(path)
  else others.set(path, Buffer.alloc(0))
  return open(PowerCutDisk.with(others)).then(documentsOf, () => undefined)
}

/** The segment that was written to last may be longer than the list of segments says. */
function sealedBefore(left: Contents): readonly string[] {
  const segments = [...left].filter(([path, { length }]) => path.endsWith('.seg') && length > 0).map(([path]) => path)
  const listed = JSON.parse(left.get(`${DIRECTORY}/index/index.json`)?.toString() ?? '{}').segments ?? []
  const numbers = new Set(listed.map(([number]: readonly [number]) => number))
  return segments.filter(path => numbers.has(Number.parseInt(path.slice(`${DIRECTORY}/index/`.length), 10)))
}

describe('a power cut', function () {
  this.timeout(240_000)

  it('at any moment leaves every acknowledged document, once, and an index that can be written on', async () => {
    const watched = await watchedIndex()
    await writeSegments(watched)
    const { moments } = watched
    expect(moments.length).to.be.above(150)
    const every = Math.ceil(moments.length / rounds(moments.length))
    let looks = 0
    let mergedRuns = 0
    for (const [at, { what, contents, allowed }] of moments.entries()) {
      if (at % every !== 0) continue
      for (const [stop, left] of contents) {
        looks++
        if ([...left].some(isMergedRun)) mergedRuns++
        const disk = PowerCutDisk.with(left)
        const index = await open(disk)
        const found = documentsOf(index)
        expect(allowed, `${stop}, change ${at}: ${what}`).to.include(found)
        expect(await createdTwice(index), `${stop}, change ${at}: ${what}`).to.deep.equal([])
        await index.apply(creates(9_000, 8))
        await index.seal()
        await index.maintain()
        await index.apply(creates(9_100, 1))
        const again = await open(PowerCutDisk.with(disk.after('data lost')))
        expect(documentsOf(again), `written after ${stop}, change ${at}: ${what}`).to.equal(documentsOf(index))
        expect(await createdTwice(again), `written after ${stop}, change ${at}: ${what}`).to.deep.equal([])
      }
    }
    expect(looks).to.be.above(100)
    expect(mergedRuns).to.be.above(10)
  })

  it('at any moment leaves a list by which a segment that is lost then is told, or no document is lost', async () => {
    const watched = await watchedIndex()
    await writeSegments(watched)
    const { moments } = watched
    const every = Math.ceil(moments.length / rounds(moments.length))
    let told = 0
    for (const [at, { what, contents, allowed }] of moments.entries()) {
      if (at % every !== 0) continue
      for (const [stop, left] of contents)
        for (const path of sealedBefore(left))
          for (const is of ['missing', 'empty'] as const) {
            const found = await withoutSegment(left, path, is)
            if (found === undefined) told++
            // A tail is listed as it was at the last stop or merge; the others were sealed.
            else expect(allowed, `${path} ${is}, ${stop}, change ${at}: ${what}`).to.include(found)
          }
    }
    expect(told).to.be.above(100)
  })
})
