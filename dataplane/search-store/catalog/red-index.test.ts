import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../testing/test-store.ts'

const RED = 'service-logs-2026.11.20'
const GREEN = 'service-logs-2026.11.21'

describe('an index that cannot be opened', () => {
  let dir: string
  let store: TestStore

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'red-index-'))
    store = await startTestStore({ dir })
    for (const index of [RED, GREEN])
      expect((await store.request('POST', `/${index}/_bulk`, '{"create":{}}\n{"n":1}\n'.repeat(8300))).body.errors).to.equal(false)
  })
  afterEach(async () => {
    await store.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Damages a file of the index while the store is closed. */
  async function damage(ending: string, change: (bytes: Buffer) => Buffer): Promise<void> {
    const { body } = await store.request('GET', `/${RED}/_settings?flat_settings=true`)
    const folder = join(dir, 'indices', body[RED].settings['index.uuid'])
    await store.restart()
    const path = join(folder, readdirSync(folder).find(name => name.endsWith(ending))!)
    writeFileSync(path, change(readFileSync(path)))
    await store.restart()
  }

  const flipLast = (bytes: Buffer): Buffer => {
    bytes[bytes.length - 1]! ^= 0xff
    return bytes
  }

  it('is red and says why; the others are served', async () => {
    await store.request('POST', `/${RED}/_delete_by_query`, { query: { match_all: {} }, max_docs: 3 })
    const { body } = await store.request('GET', `/${RED}/_search?size=1`)
    const id = body.hits.hits[0]._id
    // Another index's seal would keep the deletions in the tail's frames: enough documents make this one seal its own.
    await store.request('POST', `/${RED}/_bulk`, '{"create":{}}\n{"n":1}\n'.repeat(8300))
    await damage('.del', flipLast)

    const health = await store.request('GET', '/_cluster/health?level=indices')
    expect(health.body).to.include({ status: 'red', active_shards: 1, unassigned_shards: 1, active_shards_percent_as_number: 50 })
    expect(health.body.indices[RED].status).to.equal('red')
    expect(health.body.indices[GREEN].status).to.equal('green')
    expect((await store.request('GET', '/_cat/indices?format=json&h=index,health,docs.count')).body).to.have.deep.members([
      { index: RED, health: 'red', 'docs.count': null },
      { index: GREEN, health: 'green', 'docs.count': '8300' },
    ])
    expect((await store.request('GET', '/_cat/indices?health=red&h=index')).text.trim()).to.equal(RED)
    expect((await store.request('GET', '/_cat/shards?h=index,state')).text).to.match(/20 +UNASSIGNED/)
    expect((await store.request('GET', '/health')).status).to.equal(200)

    const all = await store.request('GET', '/service-logs-*/_search?size=0')
    expect(all.status).to.equal(200)
    expect(all.body.hits.total.value).to.equal(8300)
    expect(all.body._shards).to.include({ total: 2, successful: 1, failed: 1 })
    expect(all.body._shards.failures[0]).to.nested.include({ index: RED, 'reason.type': 'no_shard_available_action_exception' })
    expect(all.body._shards.failures[0].reason.reason).to.match(/\.del is damaged: its checksum does not fit/)

    const field = { properties: { added: { type: 'keyword' } } }
    expect((await store.request('PUT', '/service-logs-*/_mapping', field)).status).to.equal(200)
    expect((await store.request('PUT', `/${RED}/_mapping`, field)).status).to.equal(503)

    const refused: readonly (readonly [string, string, unknown?])[] = [
      ['GET', `/${RED}/_search`],
      ['GET', `/${RED}/_count`],
      ['GET', `/${RED}/_doc/${id}`],
      ['PUT', `/${RED}/_doc/1`, { a: 1 }],
      ['POST', `/${RED}/_update/1`, { doc: { a: 1 } }],
      ['DELETE', `/${RED}/_doc/1`],
      ['PUT', `/${RED}/_mapping`, { properties: { x: { type: 'keyword' } } }],
      ['POST', `/${RED}/_delete_by_query`, { query: { match_all: {} } }],
    ]
    for (const [method, path, content] of refused) {
      const answer = await store.request(method, path, content)
      expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(503)
      expect(answer.text, path).to.contain('is damaged')
    }
    const bulk = await store.request(
      'POST',
      '/_bulk',
      `{"create":{"_index":"${RED}"}}\n{"a":1}\n{"create":{"_index":"${GREEN}"}}\n{"a":1}\n`,
    )
    expect(bulk.body.items.map((item: { create: { status: number } }) => item.create.status)).to.deep.equal([503, 201])
    const many = await store.request('POST', '/_mget', {
      docs: [
        { _index: RED, _id: id },
        { _index: GREEN, _id: 'none' },
      ],
    })
    expect(many.body.docs[0].error.type).to.equal('no_shard_available_action_exception')
    expect(many.body.docs[1].found).to.equal(false)
    for (const path of [`/${RED}`, `/${RED}/_mapping`, '/_stats', '/_cluster/stats', '/_nodes', '/metrics', '/_refresh', '/_cat/count'])
      expect((await store.request(path === '/_refresh' ? 'POST' : 'GET', path)).status, path).to.equal(200)
    expect(JSON.stringify(store.logged)).to.contain('.del is damaged').and.to.contain(RED)

    expect((await store.request('DELETE', `/${RED}`)).status).to.equal(200)
    expect((await store.request('GET', '/_cluster/health')).body.status).to.equal('green')
    expect(readdirSync(join(dir, 'indices'))).to.have.lengthOf(1)
    expect((await store.request('PUT', `/${RED}/_doc/1`, { a: 1 })).status).to.equal(201)
  })
})

describe('an index of which an older segment was cut', () => {
  it('is red: only the newest one may end with a commit that is torn', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'red-index-'))
    const store = await startTestStore({ dir })
    // A segment each.
    for (let i = 0; i < 2; i++) {
      expect((await store.request('POST', `/${GREEN}/_bulk`, '{"create":{}}\n{"n":1}\n'.repeat(8300))).body.errors).to.equal(false)
      await store.restart()
    }
    const settings = await store.request('GET', `/${GREEN}/_settings?flat_settings=true`)
    const folder = join(dir, 'indices', settings.body[GREEN].settings['index.uuid'])
    await store.stop()
    const [path] = readdirSync(folder)
      .filter(name => name.endsWith('.seg'))
      .toSorted()
      .map(name => join(folder, name))
    truncateSync(path!, 20_000)
    const again = await startTestStore({ dir })
    const answer = await again.request('GET', `/${GREEN}/_count`)
    expect([answer.status, answer.body.count]).to.deep.equal([503, undefined])
    expect(answer.text).to.contain(`${path} is damaged at byte `)
    await again.stop()
    rmSync(dir, { recursive: true })
  })
})

describe('an index that has lost files', () => {
  for (const [what, lose, told] of [
    ['a segment', (folder: string) => rmSync(join(folder, '00000001.seg')), '00000001.seg is missing: it had at least '],
    ['what a segment held', (folder: string) => truncateSync(join(folder, '00000001.seg')), '00000001.seg is damaged at byte 0: '],
    ['index.json', (folder: string) => rmSync(join(folder, 'index.json')), 'index.json is missing: '],
    ['its directory', (folder: string) => rmSync(folder, { recursive: true }), ' is missing: it held all of'],
  ] as const)
    it(`is red, and the others go on (${what})`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'red-index-'))
      const store = await startTestStore({ dir })
      for (const index of [RED, GREEN])
        expect((await store.request('POST', `/${index}/_bulk`, '{"create":{}}\n{"n":1}\n'.repeat(50))).body.errors).to.equal(false)
      const settings = await store.request('GET', `/${RED}/_settings?flat_settings=true`)
      await store.stop()
      lose(join(dir, 'indices', settings.body[RED].settings['index.uuid']))
      const again = await startTestStore({ dir })
      expect((await again.request('GET', '/_cluster/health')).body.status).to.equal('red')
      const alone = await again.request('GET', `/${RED}/_search`)
      expect(alone.status).to.equal(503)
      expect(alone.text).to.contain(told)
      const all = await again.request('GET', '/service-logs-*/_search?size=0')
      expect([all.status, all.body.hits.total.value]).to.deep.equal([200, 50])
      expect(all.body._shards).to.include({ total: 2, successful: 1, failed: 1 })
      expect(all.body._shards.failures[0].reason.reason).to.contain(told)
      expect(JSON.stringify(again.logged)).to.contain(told)
      expect((await again.request('PUT', `/${GREEN}/_doc/more`, { n: 1 })).status).to.equal(201)
      expect((await again.request('PUT', `/${RED}/_doc/more`, { n: 1 })).status).to.equal(503)
      expect((await again.request('DELETE', `/${RED}`)).status).to.equal(200)
      expect((await again.request('GET', '/_cluster/health')).body.status).to.equal('green')
      await again.stop()
      rmSync(dir, { recursive: true })
    })
})

describe('a directory beside those of the indices', () => {
  let dir: string
  let store: TestStore
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'index-directories-'))
    store = await startTestStore({ dir })
    await store.request('PUT', `/${RED}/_doc/1`, { a: 1 })
  })
  afterEach(async () => {
    await store.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const folderOf = async (index: string) =>
    join(dir, 'indices', (await store.request('GET', `/${index}/_settings?flat_settings=true`)).body[index].settings['index.uuid'])
  const startAgain = async () => {
    store = await startTestStore({ dir })
  }
  const count = async (index: string) => (await store.request('GET', `/${index}/_count`)).body.count

  it('that was moved away is not made anew: it can be moved back', async () => {
    const folder = await folderOf(RED)
    await store.stop()
    renameSync(folder, join(dir, 'kept'))
    await startAgain()
    expect((await store.request('GET', `/${RED}/_count`)).text).to.contain(`${folder} is missing`)
    expect(existsSync(folder)).to.equal(false)
    await store.stop()
    renameSync(join(dir, 'kept'), folder)
    await startAgain()
    expect(await count(RED)).to.equal(1)
  })

  it('in another of its name is told', async () => {
    const folder = await folderOf(RED)
    await store.stop()
    renameSync(folder, join(dir, 'kept'))
    mkdirSync(folder)
    renameSync(join(dir, 'kept'), join(folder, 'kept'))
    await startAgain()
    expect((await store.request('GET', `/${RED}/_count`)).text).to.contain(
      `one level too deep, in ${join(folder, 'kept')}; move them to ${folder}`,
    )
  })

  it('is a copy that somebody made, and stays', async () => {
    const folder = await folderOf(RED)
    await store.stop()
    for (const ending of ['.bak', '-2026.11.21']) cpSync(folder, `${folder}${ending}`, { recursive: true })
    await startAgain()
    expect(readdirSync(join(dir, 'indices'))).to.have.length(3)
    expect(store.logged).to.deep.equal([])
  })

  it('with documents that an older store.db does not name stays, and is told', async () => {
    await store.stop()
    cpSync(join(dir, 'store.db'), join(dir, 'older.db'))
    await startAgain()
    await store.request('PUT', `/${GREEN}/_doc/1`, { a: 1 })
    const folder = await folderOf(GREEN)
    await store.stop()
    renameSync(join(dir, 'store.db'), join(dir, 'newer.db'))
    renameSync(join(dir, 'older.db'), join(dir, 'store.db'))
    await startAgain()
    expect(store.logged).to.deep.equal([{ directory: folder, catalogue: join(dir, 'store.db') }])
    expect(await count(RED)).to.equal(1)
    expect((await store.request('GET', `/${GREEN}/_count`)).status).to.equal(404)
    await store.stop()
    renameSync(join(dir, 'newer.db'), join(dir, 'store.db'))
    await startAgain()
    expect([await count(RED), await count(GREEN)]).to.deep.equal([1, 1])
  })

  it('of an index whose deletion was interrupted goes at the start', async () => {
    await store.request('PUT', `/${GREEN}/_doc/1`, { a: 1 })
    const folder = await folderOf(GREEN)
    cpSync(folder, join(dir, 'kept'), { recursive: true })
    expect((await store.request('DELETE', `/${GREEN}`)).status).to.equal(200)
    await store.stop()
    renameSync(join(dir, 'kept'), folder)
    await startAgain()
    expect([existsSync(folder), store.logged]).to.deep.equal([false, []])
  })
})

describe('an index with commits behind damage', () => {
  for (const [what, place] of [
    ['the length of a commit', 4],
    ['a commit', 40],
  ] as const)
    it(`is red, and loses none of them by itself (${what})`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'red-index-'))
      const store = await startTestStore({ dir })
      const write = async (from: number) => {
        const lines = Array.from({ length: 5 }, (_, i) => `{"create":{"_id":"${from + i}"}}\n{"n":${from + i}}\n`)
        expect((await store.request('POST', `/${GREEN}/_bulk`, lines.join(''))).body.errors).to.equal(false)
      }
      const count = async () => (await store.request('GET', `/${GREEN}/_count`)).body.count
      const { body } = await store.request('PUT', `/${GREEN}`)
      expect(body.acknowledged).to.equal(true)
      const settings = await store.request('GET', `/${GREEN}/_settings?flat_settings=true`)
      const folder = join(dir, 'indices', settings.body[GREEN].settings['index.uuid'])
      await write(0)
      const path = join(folder, readdirSync(folder).find(name => name.endsWith('.seg'))!)
      const end = statSync(path).size
      await write(5)
      await write(10)
      const sound = readFileSync(path)
      const damaged = Buffer.from(sound)
      damaged[end + place]! ^= 0x10
      writeFileSync(path, damaged)
      await store.restart()
      const answer = await store.request('GET', `/${GREEN}/_count`)
      expect(answer.status).to.equal(503)
      expect(answer.text).to.contain(`${path} is damaged at byte ${end}`)
      expect(JSON.stringify(store.logged)).to.contain(`truncate -s ${end} ${path} && touch ${path.replace(/seg$/, 'lost')}`)
      expect(readFileSync(path).equals(damaged)).to.equal(true)
      // Both ways out.
      writeFileSync(path, sound)
      await store.restart()
      expect(await count()).to.equal(15)
      truncateSync(path, end)
      writeFileSync(path.replace(/seg$/, 'lost'), '')
      await store.restart()
      expect(await count()).to.equal(5)
      // A loss is accepted once.
      expect(readdirSync(folder).filter(name => name.endsWith('.lost'))).to.deep.equal([])
      await store.stop()
      rmSync(dir, { recursive: true })
    })
})

describe('an index with a damaged part of a segment', () => {
  it('is a failed shard where a search needs that part; the others are served, and the log names file and byte once', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'red-index-'))
    const store = await startTestStore({ dir })
    const lines = Array.from({ length: 8300 }, (_, i) => `{"create":{"_id":"${i}"}}\n{"n":${i},"service":"s${i % 7}"}\n`).join('')
    for (const index of [RED, GREEN]) expect((await store.request('POST', `/${index}/_bulk`, lines)).body.errors).to.equal(false)
    const settings = await store.request('GET', `/${RED}/_settings?flat_settings=true`)
    const folder = join(dir, 'indices', settings.body[RED].settings['index.uuid'])
    await store.restart()
    const path = join(folder, readdirSync(folder).find(name => name.endsWith('.seg'))!)
    const bytes = readFileSync(path)
    // The packed documents of the first block.
    const packed = bytes.indexOf(Buffer.of(0x28, 0xb5, 0x2f, 0xfd))
    bytes.fill(0, packed + 12, packed + 200)
    await store.stop()
    writeFileSync(path, bytes)
    const again = await startTestStore({ dir })
    const all = await again.request('GET', '/service-logs-*/_search?size=10&sort=n&track_total_hits=true')
    expect([all.status, all.body.hits.hits.length]).to.deep.equal([200, 10])
    expect(all.body.hits.hits.every((hit: { _index: string }) => hit._index === GREEN)).to.equal(true)
    expect(all.body.hits.total.value).to.equal(8300)
    expect(all.body._shards).to.include({ total: 2, successful: 1, failed: 1 })
    expect(all.body._shards.failures[0]).to.nested.include({ index: RED, 'reason.type': 'no_shard_available_action_exception' })
    expect(all.body._shards.failures[0].reason.reason).to.match(/00000001\.seg is damaged at byte \d+/)
    for (const [method, place] of [
      ['GET', `/${RED}/_search?sort=n`],
      ['GET', `/${RED}/_doc/1`],
      ['POST', `/${RED}/_mget`],
    ] as const) {
      const answer = await again.request(method, place, method === 'POST' ? { ids: ['1'] } : undefined)
      expect(answer.status, answer.text).to.equal(503)
      expect(answer.text).to.match(/00000001\.seg is damaged at byte \d+/)
    }
    // Parts that are sound answer.
    expect((await again.request('GET', `/${RED}/_count`)).body.count).to.equal(8300)
    expect((await again.request('GET', `/${RED}/_doc/8299`)).body._source.n).to.equal(8299)
    const told = again.logged.filter(each => JSON.stringify(each).includes('is damaged at byte'))
    expect(told.length).to.be.within(1, 2)
    await again.stop()
    rmSync(dir, { recursive: true })
  })
})

describe('a store whose store.db was lost', () => {
  for (const [what, lose] of [
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => truncateSync(path)],
  ] as const)
    it(`(${what}) does not start, and removes no documents: without it nothing tells whose they are`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'lost-catalogue-'))
      const store = await startTestStore({ dir })
      await store.request('PUT', `/${GREEN}/_doc/1`, { a: 1 })
      await store.stop()
      const path = join(dir, 'store.db')
      const kept = readFileSync(path)
      lose(path)
      const problem = await startTestStore({ dir }).then(
        () => 'it started',
        error => String(error.message),
      )
      expect(problem).to.contain(`${path} is missing or empty`).and.contain(join(dir, 'indices')).and.contain('from a backup')
      writeFileSync(path, kept)
      const again = await startTestStore({ dir })
      expect((await again.request('GET', `/${GREEN}/_count`)).body.count).to.equal(1)
      await again.stop()
      rmSync(dir, { recursive: true })
    })
})

describe('a store whose store.db is damaged', () => {
  it('does not start, and says what to do, wherever the file was cut', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'cut-catalogue-'))
    const store = await startTestStore({ dir })
    for (let at = 0; at < 20; at++) await store.request('PUT', `/table-${at}/_doc/1`, { a: 'text '.repeat(300) })
    await store.request('PUT', `/${GREEN}/_doc/1`, { a: 1 })
    await store.stop()
    const path = join(dir, 'store.db')
    const sound = readFileSync(path)
    for (const length of [1, 100, 2000, 4096, 5000, 8192, sound.length >> 1, sound.length - 4096]) {
      writeFileSync(path, sound.subarray(0, length))
      const problem = await startTestStore({ dir }).then(
        async started => {
          await started.stop()
          return 'it started'
        },
        error => String(error.message),
      )
      expect(problem, `cut at ${length}`).to.contain(path).and.to.contain(`put ${dir} back from a backup`)
    }
    rmSync(dir, { recursive: true })
  })
})

describe('settings that an index could not be opened with', () => {
  it('are refused, and a lower limit of fields leaves those that are there', async () => {
    const store = await startTestStore()
    for (const index of ['service-logs-a', 'table-a']) {
      await store.request('PUT', `/${index}/_doc/1`, { a: 1, b: 2, c: 3 })
      const refused = await store.request('PUT', `/${index}/_settings`, { 'index.mapping.total_fields.limit': 'many' })
      expect(refused.status).to.equal(400)
      expect((await store.request('PUT', `/${index}/_settings`, { 'index.mapping.total_fields.limit': 2 })).status).to.equal(200)
    }
    await store.restart()
    expect((await store.request('GET', '/_cluster/health')).body.status).to.equal('green')
    expect((await store.request('GET', '/_search')).body.hits.total.value).to.equal(2)
    expect((await store.request('PUT', '/table-a/_doc/2', { d: 1 })).status).to.equal(400)
    expect(store.logged).to.deep.equal([])
    await store.stop()
  })
})

describe('names beyond ASCII', () => {
  it('are refused before anything is stored', async () => {
    const store = await startTestStore()
    for (const [method, path] of [
      ['PUT', '/caf%C3%A9/_doc/1'],
      ['PUT', '/caf%C3%A9'],
      ['POST', '/%F0%9F%98%80/_doc'],
      ['PUT', '/plain/_alias/%C3%A9'],
    ] as const) {
      if (path.startsWith('/plain')) await store.request('PUT', '/plain')
      const answer = await store.request(method, path, path.includes('_doc') ? { a: 1 } : undefined)
      expect(answer.status, answer.text).to.equal(400)
    }
    const bulk = await store.request('POST', '/_bulk', '{"index":{"_index":"café","_id":"1"}}\n{"a":1}\n')
    expect(bulk.body.items[0].index.status).to.equal(400)
    expect((await store.request('GET', '/_cat/indices?h=index')).text.trim()).to.equal('plain')
    await store.stop()
  })
})
