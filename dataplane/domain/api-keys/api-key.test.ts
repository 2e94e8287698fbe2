import { expect } from 'chai'
import { describe, it } from 'mocha'
import { formatKey, isKeyFormed, KEY_BYTES, maskKey } from './api-key.ts'

const KEY = formatKey(Uint8Array.from({ length: KEY_BYTES }, (_, i) => i))

describe('an API key', () => {
  it('is `svc_proj_` followed by 64 hexadecimal characters', () => {
    expect(KEY).to.match(/^svc_proj_[0-9a-f]{64}$/)
    expect(isKeyFormed(KEY)).to.equal(true)
  })

  for (const text of [
    '',
    'svc_proj_',
    KEY.slice(0, -1),
    `${KEY}0`,
    ` ${KEY}`,
    `${KEY}\n`,
    KEY.replace('svc', 'src'),
    `${KEY.slice(0, -1)}g`,
  ])
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(isKeyFormed(text)).to.equal(false)
    })

  it('is shown as the prefix, the first 4 characters, an ellipsis, the last 4 characters', () => {
    expect(maskKey(KEY)).to.equal('svc_proj_0001…1e1f')
  })
})
