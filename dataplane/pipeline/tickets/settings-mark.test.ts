import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createSettingsMark } from './settings-mark.ts'
import { buildConfig, buildTarget } from './testing/fake-config.ts'

const KEY = new Uint8Array(32)
const configOf = (fields: Readonly<Record<string, string>>, enabled = true) => ({
  ...buildConfig(),
  targets: new Map([['slack' as const, buildTarget('slack', fields, enabled)]]),
})

describe('the mark of the settings of a target', () => {
  const mark = createSettingsMark(KEY)
  const before = mark(configOf({ webhookUrl: 'a' }), 'slack')

  it('is the same in each process with the same key, and with no other', () => {
    expect(createSettingsMark(KEY)(configOf({ webhookUrl: 'a' }), 'slack')).to.equal(before)
    expect(createSettingsMark()(configOf({ webhookUrl: 'a' }), 'slack')).not.to.equal(before)
  })

  it('changes with each setting, with the secret, when the target is switched off, removed or unusable', () => {
    const others = [
      mark(configOf({ webhookUrl: 'b' }), 'slack'),
      mark(configOf({ webhookUrl: 'a', mention: '@here' }), 'slack'),
      mark(configOf({ webhookUrl: 'a' }, false), 'slack'),
      mark({ targets: new Map() }, 'slack'),
      mark({ targets: new Map(), unusable: new Map([['slack', 'cannot be decrypted']]) }, 'slack'),
    ]
    expect(new Set([before, ...others]).size).to.equal(others.length + 1)
  })
})
