import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { ApiAnswer, ApiFailure } from '../../dataplane/kube/api-failure.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { ObjectName } from '../../dataplane/kube/resource.ts'
import type { WantedSecrets } from '../observed/references.ts'
import { MAX_KEPT_CHARACTERS } from './kept-secret.ts'
import { createSecretContents, type SecretContents } from './secret-contents.ts'

const PASSWORD: WantedSecrets = new Map([['search', new Set(['password'])]])
const FORBIDDEN: ApiFailure = { status: 403, reason: 'Forbidden', message: 'cannot get secrets search', advice: 'grant it' }
const AWAY: ApiFailure = { status: 503, reason: 'ServiceUnavailable', message: 'cannot get secrets search: away' }

describe('The content of Secrets', () => {
  let contents: SecretContents
  let asked: string[]
  /** Metadata that the watch has told. */
  let told: Map<string, KubernetesObject>
  /** Objects of the API server. */
  let stored: Map<string, KubernetesObject>
  let failure: ApiFailure | undefined

  beforeEach(() => {
    asked = []
    told = new Map()
    stored = new Map()
    failure = undefined
    const get = async (_: unknown, { name }: ObjectName): Promise<ApiAnswer<KubernetesObject>> => {
      asked.push(name)
      const found = stored.get(name)
      if (failure !== undefined) return { ok: false, failure }
      return found === undefined ? { ok: false, failure: { status: 404, reason: 'NotFound', message: '' } } : { ok: true, value: found }
    }
    contents = createSecretContents({ client: { get }, metadataOf: (_, name) => told.get(name) })
  })

  const store = (name: string, version: string, data: Readonly<Record<string, string>>) => {
    const metadata = { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: version, annotations: { a: 'x'.repeat(9999) } }
    stored.set(name, { apiVersion: 'v1', kind: 'Secret', metadata, data })
    return { tell: () => void told.set(name, { apiVersion: 'v1', kind: 'Secret', metadata }) }
  }
  const read = async (owner = 'a', wanted = PASSWORD) => (await contents.read(owner, 'shop', wanted)).secrets['search']?.data

  it('is asked for once, and again when the watch tells of another version', async () => {
    store('search', '1', { password: 'cA==' }).tell()
    expect(await Promise.all([read('a'), read('b'), read('c')])).to.deep.equal(Array(3).fill({ password: 'cA==' }))
    await read('a')
    expect(asked).to.have.length(1)
    const rotated = store('search', '2', { password: 'cQ==' })
    expect(await read(), 'nobody told').to.deep.equal({ password: 'cA==' })
    rotated.tell()
    expect(await read()).to.deep.equal({ password: 'cQ==' })
    expect(await read('b')).to.deep.equal({ password: 'cQ==' })
    expect(asked).to.have.length(2)
  })

  it('is whole where every key is wanted, also after a reader of one key alone', async () => {
    store('search', '1', { password: 'cA==', other: 'bw==' }).tell()
    await read('a')
    expect(await read('b', new Map([['search', new Set(['*'])]]))).to.deep.equal({ password: 'cA==', other: 'bw==' })
    contents.forget('b')
    store('search', '2', { password: 'cQ==', other: 'bw==' }).tell()
    expect(await read('a'), 'no value that nobody wants is kept').to.deep.equal({ password: 'cQ==', other: '' })
  })

  it('is asked for again when its version is lower, as after a restore of etcd', async () => {
    store('search', '9', { password: 'bmV3' }).tell()
    await read()
    store('search', '3', { password: 'b2xk' }).tell()
    expect(await read()).to.deep.equal({ password: 'b2xk' })
  })

  it('is not asked for twice when the answer is ahead of the watch', async () => {
    store('search', '1', { password: 'cA==' }).tell()
    const ahead = store('search', '2', { password: 'cQ==' })
    expect(await read()).to.deep.equal({ password: 'cQ==' })
    ahead.tell()
    await read()
    expect(asked).to.have.length(1)
  })

  it('is not there when the watch says so, or the API server', async () => {
    expect(await read()).to.equal(undefined)
    expect(asked).to.deep.equal([])
    store('search', '1', {}).tell()
    stored.clear()
    expect(await contents.read('a', 'shop', PASSWORD)).to.deep.equal({ secrets: {}, unreadSecrets: {} })
    expect(asked).to.have.length(1)
  })

  it('is kept as far as it is referred to, and as long', async () => {
    store('search', '1', { password: 'cA==', username: 'dQ==', other: 'x'.repeat(1_000_000) }).tell()
    expect(await read('a')).to.deep.equal({ password: 'cA==', username: '', other: '' })
    expect(await read('b', new Map([['search', new Set(['username'])]]))).to.deep.equal({ password: 'cA==', username: 'dQ==', other: '' })
    expect(asked, 'again for what was not kept').to.have.length(2)
    contents.forget('a')
    expect(contents.size).to.equal(1)
    await contents.read('b', 'shop', new Map())
    expect(contents.size).to.equal(0)
  })

  it('is kept as a digest where it is long, PEM or not', async () => {
    const long = (text: string) => Buffer.from(text.padEnd(MAX_KEPT_CHARACTERS, 'x')).toString('base64')
    const seen = new Set<string>()
    for (const [n, text] of ['a', 'b', '-----BEGIN CERTIFICATE-----'].entries()) {
      store('search', String(n), { password: long(text) }).tell()
      const { password = '' } = (await read())!
      expect(password.length).to.be.below(200)
      expect(atob(password).includes('-----BEGIN ')).to.equal(text.startsWith('---'))
      seen.add(password)
    }
    expect(seen.size).to.equal(3)
  })

  it('tells of many keys only some', async () => {
    store('search', '1', Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`key${n}`, 'cA==']))).tell()
    expect(Object.keys((await read())!)).to.have.length(9)
  })

  it('that cannot be read is told, unless it is known and this will pass', async () => {
    store('search', '1', { password: 'cA==' }).tell()
    failure = AWAY
    const first = await contents.read('a', 'shop', PASSWORD)
    expect(first).to.deep.equal({
      secrets: {},
      unreadSecrets: { search: { reason: 'SecretNotRead', message: 'cannot get secrets search: away', effect: 'progressing' } },
      failure: AWAY,
    })
    failure = undefined
    await read()
    store('search', '2', { password: 'cQ==' }).tell()
    failure = AWAY
    expect(await contents.read('a', 'shop', PASSWORD)).to.deep.include({ unreadSecrets: {}, failure: AWAY })
    failure = FORBIDDEN
    const refused = await contents.read('a', 'shop', PASSWORD)
    expect(refused.unreadSecrets).to.deep.equal({
      search: { reason: 'Forbidden', message: 'cannot get secrets search; grant it', effect: 'stalled' },
    })
    expect(refused.secrets['search']?.data, 'as it was').to.deep.equal({ password: 'cA==' })
  })

  it('is found under the names of members of every object, too', async () => {
    const wanted: WantedSecrets = new Map([
      ['constructor', new Set(['constructor', '__proto__'])],
      ['toString', new Set(['x'])],
    ])
    store('constructor', '1', JSON.parse('{"constructor":"cA==","__proto__":"cQ=="}')).tell()
    const { secrets } = await contents.read('a', 'shop', wanted)
    expect(Object.keys(secrets)).to.deep.equal(['constructor'])
    expect(Object.entries(secrets['constructor']!.data!)).to.deep.equal([
      ['constructor', 'cA=='],
      ['__proto__', 'cQ=='],
    ])
  })
})
