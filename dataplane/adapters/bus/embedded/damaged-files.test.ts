/** Damages the files of a bus in every way that disks know. Each record is given as it was sent, or its loss is told with the file. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import { rounds } from '../../../testing/rounds.ts'
import { type BusDirectory, createBusDirectory, drain, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'

const SMALL = { segmentBytes: 700 }
const SENT = 24
const PAGE = 4096
const GROUP = 'the group'

interface Said {
  readonly file: string
  readonly position: number
}

describe('embedded bus: damaged files', function () {
  this.timeout(120_000)
  let directory: BusDirectory
  let said: Said[]
  /** Contents by path within the directory. */
  let sound: ReadonlyMap<string, Buffer>
  beforeEach(() => {
    directory = createBusDirectory()
    said = []
  })
  afterEach(() => directory.remove())

  const note = (fields: object) => {
    const { file, position = 0 } = fields as Partial<Said>
    if (file !== undefined) said.push({ file, position })
  }
  const open = () => directory.open({ ...SMALL, log: { info: () => undefined, warn: note, error: note } })
  const place = (name: string) => join(directory.path, name)
  const keyOf = ({ partition, offset }: ConsumedRecord) => `${partition}/${offset}`
  const idOf = (record: ConsumedRecord) => `${keyOf(record)} ${record.key} ${textOf(record)}`

  /** Frames of three records; about five in each segment. The group has read some of them. */
  const fill = async (padding = 0): Promise<readonly string[]> => {
    const bus = await open()
    for (let at = 0; at < SENT; at += 3)
      await bus.send(
        TOPIC.name,
        [0, 1, 2].map(k => textRecord(`key ${k}`, `value ${at + k}`.padEnd(padding, `${at + k} `))),
      )
    const subscription = await bus.subscribe({ groupId: GROUP, topics: [TOPIC.name] })
    const [first] = await subscription.poll({ maxRecords: 1, maxBytes: 1, waitMs: 0 })
    await subscription.commit([{ topic: TOPIC.name, partition: first!.partition, offset: first!.offset + 1 }])
    const ids = (await readAll(bus)).map(idOf)
    await bus.stop()
    const names = readdirSync(directory.path, { recursive: true, withFileTypes: true })
    sound = new Map(
      names
        .filter(each => each.isFile())
        .map(({ parentPath, name }) => {
          const path = join(parentPath, name)
          return [path.slice(directory.path.length + 1), readFileSync(path)] as const
        }),
    )
    return ids
  }
  const restore = (changes: ReadonlyMap<string, Buffer | undefined>) => {
    for (const name of readdirSync(directory.path)) rmSync(place(name), { recursive: true })
    for (const [name, bytes] of new Map<string, Buffer | undefined>([...sound, ...changes])) {
      mkdirSync(join(place(name), '..'), { recursive: true })
      if (bytes !== undefined) writeFileSync(place(name), bytes)
    }
    said = []
  }
  const segmentsOf = () => [...sound.keys()].filter(name => name.startsWith(`${TOPIC.name}/`)).toSorted()

  /** Starts on the damaged files, reads all, sends on, starts again. */
  const check = async (ids: readonly string[], changes: ReadonlyMap<string, Buffer | undefined>, what: string) => {
    restore(changes)
    const bus = await open()
    const read = await readAll(bus)
    const readIds = read.map(idOf)
    expect(readIds, what).to.deep.equal(ids.filter(id => readIds.includes(id)))
    if (readIds.length < ids.length)
      expect(
        said.map(({ file }) => file),
        `${what}: lost in silence`,
      ).to.include.members([...changes.keys()].slice(0, 1).map(place))
    await bus.send(
      TOPIC.name,
      [0, 1, 2].map(k => textRecord(`key ${k}`, 'new')),
    )
    const news = (await readAll(bus)).slice(read.length)
    expect(news.map(textOf), what).to.deep.equal(['new', 'new', 'new'])
    const taken = new Set(ids.map(id => id.split(' ')[0]))
    expect(
      news.map(keyOf).filter(key => taken.has(key)),
      `${what}: offsets given twice`,
    ).to.deep.equal([])
    const ofGroup = await drain(await bus.subscribe({ groupId: GROUP, topics: [TOPIC.name] }))
    expect(ofGroup.map(idOf), what).to.include.members(news.map(idOf))
    await bus.stop()
    const again = await open()
    expect((await readAll(again)).map(idOf), what).to.deep.equal([...readIds, ...news.map(idOf)])
    await again.stop()
  }
  const sampled = <T>(all: readonly T[]) => {
    const every = Math.ceil(all.length / Math.min(all.length, rounds(all.length)))
    return all.filter((_, at) => at % every === 0)
  }
  const each = (name: string, change: (bytes: Buffer, at: number) => Buffer | undefined) =>
    Array.from({ length: sound.get(name)!.length }, (_, at) => [at, change(Buffer.from(sound.get(name)!), at)] as const)

  it('a flipped bit anywhere', async () => {
    const ids = await fill()
    for (const name of [...segmentsOf(), 'groups.journal'])
      for (const [at, bytes] of sampled(
        each(name, (copy, k) => {
          copy[k]! ^= 1 << (k % 8)
          return copy
        }),
      ))
        await check(ids, new Map([[name, bytes]]), `${name}, bit at ${at}`)
  })

  it('a file that is cut at any length', async () => {
    const ids = await fill()
    for (const name of [...segmentsOf(), 'groups.journal'])
      for (const [at, bytes] of sampled(each(name, (copy, k) => copy.subarray(0, k))))
        await check(ids, new Map([[name, bytes]]), `${name}, cut at ${at}`)
  })

  it('a file that is missing, empty, or has its tail twice', async () => {
    const ids = await fill()
    for (const name of [...segmentsOf(), 'groups.journal']) {
      const bytes = sound.get(name)!
      for (const [what, change] of [
        ['missing', undefined],
        ['empty', Buffer.alloc(0)],
        ['zeros', Buffer.alloc(bytes.length)],
        ['tail twice', Buffer.concat([bytes, bytes.subarray(bytes.length / 2)])],
        ['all twice', Buffer.concat([bytes, bytes])],
      ] as const)
        await check(ids, new Map([[name, change]]), `${name} ${what}`)
    }
  })

  it('two segments that have changed places, and one that is there twice', async () => {
    const ids = await fill()
    const names = segmentsOf()
    for (const a of names)
      for (const b of names.filter(name => name > a)) {
        await check(
          ids,
          new Map([
            [a, sound.get(b)],
            [b, sound.get(a)],
          ]),
          `${a} and ${b}`,
        )
        await check(ids, new Map([[a, sound.get(b)]]), `${b} as ${a}`)
        await check(ids, new Map([[b, sound.get(a)]]), `${a} as ${b}`)
      }
    await check(ids, new Map([[names.at(-1)!.replace(basename(names.at(-1)!), '0000000099.log'), sound.get(names[0]!)]]), 'a copy')
  })

  it('a page of zeros', async () => {
    const ids = await fill(1500)
    for (const name of segmentsOf())
      for (let at = 0; at < sound.get(name)!.length; at += PAGE / 4)
        await check(
          ids,
          new Map([[name, Buffer.from(sound.get(name)!).fill(0, at, Math.min(at + PAGE, sound.get(name)!.length))]]),
          `${name}, zeros at ${at}`,
        )
  })
})
