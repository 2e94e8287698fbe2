import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createSecretCipher, parseEncryptionKeys, type SecretPlace } from './secret-cipher.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER = Buffer.alloc(32, 2)
const PLACE: SecretPlace = { tenant: 'acme', section: 'platforms', target: 'slack', field: 'webhookUrl' }

describe('Secrets at rest', () => {
  it('are read as they were written, each time with another nonce', () => {
    const cipher = createSecretCipher([KEY])
    const [a, b] = [cipher.seal(PLACE, 'gehöim 🔑'), cipher.seal(PLACE, 'gehöim 🔑')]
    expect(a).not.to.equal(b)
    for (const sealed of [a, b]) expect(cipher.open(PLACE, sealed)).to.deep.equal({ ok: true, secret: 'gehöim 🔑' })
  })

  for (const field of ['tenant', 'target', 'field'] as const)
    it(`are good for no other ${field}`, () => {
      const cipher = createSecretCipher([KEY])
      const opened = cipher.open({ ...PLACE, [field]: 'other' }, cipher.seal(PLACE, 'secret'))
      expect(opened).to.deep.equal({ ok: false, problem: 'cannot be decrypted: it was changed, or belongs elsewhere' })
    })

  it('with any bit changed are refused', () => {
    const cipher = createSecretCipher([KEY])
    const [form, id, text] = cipher.seal(PLACE, 'secret').split(':')
    const bytes = Buffer.from(text!, 'base64')
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i]! ^= 1
      expect(cipher.open(PLACE, `${form}:${id}:${changed.toString('base64')}`).ok).to.equal(false)
    }
  })

  it('are read with any key that is given, and written with the first', () => {
    const old = createSecretCipher([KEY])
    const both = createSecretCipher([OTHER, KEY])
    expect(both.open(PLACE, old.seal(PLACE, 'secret'))).to.deep.equal({ ok: true, secret: 'secret' })
    expect(old.open(PLACE, both.seal(PLACE, 'secret')))
      .to.have.property('problem')
      .that.matches(/^was encrypted with the key [0-9a-f]{8}, which ENCRYPTION_KEY does not hold$/)
  })

  it('that are cut, empty or of another form are refused, and nothing throws', () => {
    const cipher = createSecretCipher([KEY])
    const [form, id] = cipher.seal(PLACE, 'secret').split(':')
    for (const text of ['', 'v1', `${form}:${id}:`, `${form}:${id}:AAAA`, 'v9:x:y', `${form}:${id}:${'A'.repeat(36)}`])
      expect(cipher.open(PLACE, text).ok, text).to.equal(false)
  })

  it('the setting holds one key or several', () => {
    expect(parseEncryptionKeys(undefined)).to.deep.equal([])
    expect(parseEncryptionKeys([OTHER, KEY].map(key => key.toString('base64')).join(','))).to.deep.equal([OTHER, KEY])
  })
})
