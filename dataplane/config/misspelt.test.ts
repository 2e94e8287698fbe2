import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SETTINGS } from '../contract/env.ts'
import { ROLE_NAMES } from '../contract/roles.ts'
import { findMisspelt, settingsOfOtherRoles } from './misspelt.ts'

/** The settings that names of an environment were taken for. */
const meant = (environment: Readonly<Record<string, string>>) =>
  findMisspelt('standalone', environment).map(line => /perhaps (\w+)/.exec(line)![1])

describe('a misspelt setting', () => {
  for (const [seen, name] of [
    ['BUS_BROKER', 'BUS_BROKERS'],
    ['SEARCH_ENDPOIN', 'SEARCH_ENDPOINT'],
    ['SEARCH_ENPDOINT', 'SEARCH_ENDPOINT'],
    ['search_endpoint', 'SEARCH_ENDPOINT'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['SEARCH_PASSWORT_FILE', 'SEARCH_PASSWORD_FILE'],
  ] as const)
    it(`${seen} is told from a foreign name: ${name}`, () => {
      expect(meant({ [seen]: 'x' })).to.deep.equal([name])
    })

  it('is none while it is empty, or where the setting that is like it is set, too', () => {
    expect(meant({ BUS_BROKER: '' })).to.deep.equal([])
    expect(meant({ BUS_BROKER: 'a:1', BUS_BROKERS: 'a:1' })).to.deep.equal([])
  })

  it('is not seen in names of others, nor in any setting', () => {
    const foreign = ['HOME', 'HOSTS', 'POST', 'PORTS', 'PATH', 'HOSTNAME', 'NODE_ENV', 'TERM', 'SHELL', 'LANG', 'KUBERNETES_PORT']
    expect(meant(Object.fromEntries(foreign.map(name => [name, 'x'])))).to.deep.equal([])
    for (const role of ROLE_NAMES)
      for (const name of Object.keys(SETTINGS)) expect(findMisspelt(role, { [name]: 'x', [`${name}_FILE`]: 'x' })).to.deep.equal([])
  })
})

describe('a setting of other roles', () => {
  it('is named where it is set', () => {
    expect(settingsOfOtherRoles('search', { BUS_BROKERS: 'kafka:9092', DATA_DIR: '/data' })).to.deep.equal(['BUS_BROKERS'])
  })
})
