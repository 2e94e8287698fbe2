import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type OnlineStoreSettings, openOnlineStore } from './backends.ts'

/** The words with which the store is asked for access first. */
async function firstWords(settings: Partial<OnlineStoreSettings>): Promise<readonly string[]> {
  const received = Promise.withResolvers<string>()
  const server = createServer(socket => void socket.once('data', data => received.resolve(String(data))).on('error', () => {}))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = (settings.ONLINE_STORE_URL ?? 'redis://HOST').replace('HOST', `127.0.0.1:${(server.address() as AddressInfo).port}`)
  const store = await openOnlineStore({ ...settings, ONLINE_STORE_URL: url, DATA_DIR: '/nowhere' })
  store.version().catch(() => {})
  const text = await received.promise
  await store.close()
  server.close()
  return text.split('\r\n').filter(line => !/^[*$]\d+$/.test(line))
}

describe('a password of the online store', () => {
  it('may stand beside its URL, whatever it is made of', async () => {
    const ONLINE_STORE_PASSWORD = 'p/a:s@s%41#?'
    expect((await firstWords({ ONLINE_STORE_PASSWORD })).slice(0, 2)).to.deep.equal(['AUTH', ONLINE_STORE_PASSWORD])
    const named = await firstWords({ ONLINE_STORE_USERNAME: 'rea der', ONLINE_STORE_PASSWORD })
    expect(named.slice(0, 3)).to.deep.equal(['AUTH', 'rea der', ONLINE_STORE_PASSWORD])
  })

  it('takes the place of the one in the URL', async () => {
    const words = await firstWords({ ONLINE_STORE_URL: 'redis://reader:old@HOST/2', ONLINE_STORE_PASSWORD: 'new' })
    expect(words.slice(0, 3)).to.deep.equal(['AUTH', 'reader', 'new'])
  })
})
