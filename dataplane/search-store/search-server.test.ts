import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createLocalRunner } from './testing/local-runner.ts'
import { startTestStore } from './testing/test-store.ts'

const PROCESS = fileURLToPath(new URL('./testing/store-process.ts', import.meta.url))

interface StoreProcess {
  readonly child: ChildProcess
  readonly url: string
}

function startProcess(dir: string): Promise<StoreProcess> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROCESS, dir], { stdio: ['ignore', 'pipe', 'pipe'] })
  return new Promise((resolve, reject) => {
    let errors = ''
    child.stderr!.on('data', chunk => {
      errors += chunk
    })
    child.stdout!.once('data', chunk => resolve({ child, url: `http://127.0.0.1:${String(chunk).trim()}` }))
    child.once('exit', code => reject(new Error(`exit ${code}: ${errors}`)))
  })
}

function kill({ child }: StoreProcess): Promise<void> {
  return new Promise(resolve => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

async function send(url: string, method: string, path: string, body?: string): Promise<Response> {
  return fetch(url + path, { method, ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }) })
}

describe('a search store that is killed', () => {
  let dir: string
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'killed-store-'))
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  /** Acknowledged documents: `index/id` → text of the document. */
  const acknowledged = new Map<string, string>()
  const created = new Set<string>()
  const deleted = new Set<string>()
  /** Perhaps carried out, perhaps not: killed before the answer. */
  const doubtful = new Set<string>()

  async function remove(store: StoreProcess, name: string): Promise<void> {
    doubtful.add(name)
    if ((await send(store.url, 'DELETE', `/${name}`)).status === 200) deleted.add(name)
    doubtful.delete(name)
  }

  async function writeUntilKilled(store: StoreProcess, round: number): Promise<void> {
    let count = 0
    const writer = async (number: number): Promise<void> => {
      for (let at = 0; ; at++) {
        const id = `r${round}-w${number}-${at}`
        const source = JSON.stringify({ timestamp: '2026-11-21T00:00:00Z', round, number, at, text: 'x'.repeat(at % 500) })
        const index = number === 0 ? 'service-logs-2026.11.21' : 'notes'
        const bulk = await send(store.url, 'POST', `/${index}/_bulk`, `{"create":{"_id":"${id}"}}\n${source}\n`)
        const { items } = (await bulk.json()) as { items: { create: { status: number } }[] }
        expect(items[0]!.create.status).to.equal(201)
        acknowledged.set(`${index}/${id}`, source)
        if (number === 1) {
          const name = `made-${round}-${at}`
          expect((await send(store.url, 'PUT', `/${name}`, '{"aliases":{"all-made":{}}}')).status).to.equal(200)
          created.add(name)
          if (at % 2 === 1) await remove(store, name)
        }
        if (++count >= 40 + round * 7) return
      }
    }
    const writers = [0, 1, 2].map(number => writer(number))
    await Promise.race(writers)
    await kill(store)
    await Promise.allSettled(writers)
  }

  it('still has everything that it acknowledged', async () => {
    for (let round = 0; round < 3; round++) {
      const store = await startProcess(dir)
      try {
        await writeUntilKilled(store, round)
      } finally {
        store.child.kill('SIGKILL')
      }
    }
    const store = await startProcess(dir)
    try {
      for (const [place, source] of acknowledged) {
        const [index, id] = place.split('/')
        const answer = await send(store.url, 'GET', `/${index}/_source/${id}`)
        expect(await answer.text(), place).to.equal(source)
      }
      const { count } = (await (await send(store.url, 'GET', '/notes,service-logs-*/_count')).json()) as { count: number }
      // Those under way when it was killed may be there or not.
      expect(count).to.be.within(acknowledged.size, acknowledged.size + 9)
      const aliases = Object.keys((await (await send(store.url, 'GET', '/_alias/all-made')).json()) as object)
      for (const name of created) if (!doubtful.has(name)) expect(aliases.includes(name), name).to.equal(!deleted.has(name))
    } finally {
      await kill(store)
    }
  }).timeout(20_000)

  it('refuses a second process on the same directory', async () => {
    const first = await startProcess(dir)
    try {
      const refused = await startProcess(dir).then(
        () => 'started',
        (error: Error) => error.message,
      )
      expect(refused).to.contain('is in use by another process')
    } finally {
      await kill(first)
    }
  })
})

describe('a search store', () => {
  it('names the setting when its port is taken', async () => {
    const store = await startTestStore()
    const port = new URL(store.url).port
    const dir = mkdtempSync(join(tmpdir(), 'second-store-'))
    const second = await startTestStore({ port: Number(port), dir }).catch((error: Error) => error.message)
    rmSync(dir, { recursive: true })
    expect(second).to.equal(`SEARCH_PORT: cannot listen on 127.0.0.1:${port}: another program listens there`)
    await store.stop()
  })

  it('exposes Prometheus metrics on GET /metrics', async () => {
    const store = await startTestStore()
    await store.request('PUT', '/notes/_doc/1', { text: 'a' })
    const { status, text, headers } = await store.request('GET', '/metrics')
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/plain; version=0.0.4; charset=utf-8'])
    expect(text)
      .to.match(/^service_search_indices 1$/m)
      .and.match(/^service_search_documents 1$/m)
      .and.match(/^process_resident_memory_bytes \d/m)
    await store.stop()
  })

  it('stops with the answer under way, though the client would keep the connection', async () => {
    const store = await startTestStore()
    const socket = connect(Number(new URL(store.url).port), '127.0.0.1')
    await new Promise<void>(resolve =>
      socket.write(
        'PUT /notes/_doc/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n{"text":',
        () => socket.once('data', () => resolve()),
      ),
    )
    const answer = once(socket, 'data')
    const beganMs = Date.now()
    const stopped = store.stop()
    socket.write('"a"}')
    await stopped
    expect(String((await answer)[0])).to.match(/^HTTP\/1.1 201 /)
    expect(Date.now() - beganMs, 'ms, of 10,000 that requests under way have').to.be.below(5_000)
  })

  it('answers other requests while a long query runs', async () => {
    const store = await startTestStore()
    try {
      const body = Array.from(
        { length: 4000 },
        (_none, at) => `{"index":{"_index":"many"}}\n{"n":${at},"text":"${'word '.repeat(40)}${at}"}\n`,
      ).join('')
      await store.request('POST', '/_bulk', body)
      const long = store.request('POST', '/many/_search', { query: { wildcard: { text: '*w*o*r*d*x' } }, track_total_hits: true })
      let isDone = false
      void long.then(() => {
        isDone = true
      })
      const quick = await store.request('GET', '/health')
      expect(quick.status).to.equal(200)
      expect(isDone, 'the long query came first').to.equal(false)
      expect((await long).body.hits.total.value).to.equal(0)
    } finally {
      await store.stop()
    }
  })

  it('says timed_out when a query may not run on', async () => {
    let nowMs = 0
    const clock = {
      nowMs: () => (nowMs += 10_000),
      sleep: (_ms: number, signal?: AbortSignal) => new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve())),
    }
    const store = await startTestStore({ clock, createQueryRunner: createLocalRunner })
    try {
      const body = Array.from({ length: 4000 }, (_none, at) => `{"index":{"_index":"many"}}\n{"text":"${'word '.repeat(40)}${at}"}\n`).join(
        '',
      )
      await store.request('POST', '/_bulk', body)
      const answer = await store.request('POST', '/many/_search', { query: { wildcard: { text: '*w*o*r*d*x' } }, timeout: '5s' })
      expect(answer.status).to.equal(200)
      expect(answer.body.timed_out).to.equal(true)
    } finally {
      await store.stop()
    }
  })
})

describe('a search store whose file cannot be opened', () => {
  it('does not start, and names it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'unopened-store-'))
    mkdirSync(join(dir, 'store.db'))
    const refusal = await startTestStore({ dir }).catch((error: Error) => error)
    expect(refusal)
      .to.be.an('error')
      .with.property(
        'message',
        `cannot open ${join(dir, 'store.db')}: unable to open database file: ${dir} and what is in it must be readable and writable for this user`,
      )
    rmSync(dir, { recursive: true })
  })
})
