import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { settingsOfRole } from '../contract/env.ts'
import { ROLE_NAMES } from '../contract/roles.ts'
import { makeSelfSigned } from '../roles/gateway/tls/self-signed.ts'
import { ConfigError, describeSettings, loadSetting, loadSettings, loadSomeSettings } from './environment.ts'
import type { KeyPair } from './pem.ts'

function problemsOf(load: () => unknown): readonly string[] {
  try {
    load()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('settings from the environment', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-config-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  for (const role of ROLE_NAMES) {
    it(`${role} starts with an empty environment, but for what it requires`, () => {
      const required = settingsOfRole(role).filter(([, setting]) => setting.requiredFor?.includes(role))
      expect(problemsOf(() => loadSettings(role, {}))).to.deep.equal(
        required.map(([name, setting]) => `${name}: expected ${setting.value.expected}, seen nothing`),
      )
    })
  }

  it('the agent requires SERVICE_TENANT_ID, and listens on PORT, default 8080', () => {
    expect(problemsOf(() => loadSettings('agent', {}))).to.have.length(1)
    expect(loadSettings('agent', { SERVICE_TENANT_ID: 'shop' })).to.include({ SERVICE_TENANT_ID: 'shop', PORT: 8080 })
    expect(loadSettings('agent', { SERVICE_TENANT_ID: 'shop', PORT: '9090' }).PORT).to.equal(9090)
  })

  it('one alone is read as all are, and other settings do not matter', () => {
    const load = (environment: Record<string, string>) => loadSetting('collector', 'OTLP_HTTP_PORT', environment)
    expect(load({ OTLP_GRPC_PORT: 'no port' })).to.equal(4318)
    expect(load({ OTLP_HTTP_PORT: '4000', OTLP_GRPC_PORT: 'no port' })).to.equal(4000)
    for (const wrong of [
      { OTLP_HTTP_PORT: 'no port' },
      { OTLP_HTTP_PORT_FILE: '/nowhere' },
      { OTLP_HTTP_PORT: '1', OTLP_HTTP_PORT_FILE: 'x' },
    ])
      expect(problemsOf(() => load(wrong)))
        .to.have.length(1)
        .and.to.deep.equal(problemsOf(() => loadSettings('collector', wrong)))
    expect(problemsOf(() => loadSetting('agent', 'SERVICE_TENANT_ID', {}))).to.deep.equal(problemsOf(() => loadSettings('agent', {})))
  })

  it('some are read with those that they need', () => {
    const load = (environment: Record<string, string>) => loadSomeSettings('bridge', ['SEARCH_USERNAME', 'SEARCH_PASSWORD'], environment)
    const wrong = { SEARCH_PASSWORD: 'secret' }
    const user = { SEARCH_USERNAME: 'reader', SEARCH_PASSWORD: 'secret' }
    expect(load({ ...user, LOG_LEVEL: 'loud' })).to.deep.equal(user)
    for (const alone of [wrong, { SEARCH_USERNAME: 'reader' }])
      expect(problemsOf(() => load(alone)))
        .to.have.length(1)
        .and.to.deep.equal(problemsOf(() => loadSettings('bridge', alone)))
  })

  it('has the defaults of the specification', () => {
    expect(loadSettings('standalone', {})).to.include({
      HOST: '127.0.0.1',
      ANOMALY_THRESHOLD: 2.5,
      WINDOW_SIZE: 50,
      RAW_TOPIC: 'raw-logs',
      ENRICHED_TOPIC: 'enriched-logs',
      ANOMALY_TOPIC: 'anomaly-events',
      DEAD_LETTER_TOPIC: 'dead-letter-queue',
      OTLP_GRPC_PORT: 4317,
      OTLP_HTTP_PORT: 4318,
      HEALTH_PORT: 13133,
      BRIDGE_PORT: 8080,
      TICKETING_PORT: 18081,
      SEARCH_PORT: 9200,
      RETENTION_DAYS: 30,
      MAX_REQUEST_BYTES: 67_108_864,
      SERVICE_TENANT_ID: 'default',
      DATA_DIR: './data',
    })
  })

  it('HOST is 127.0.0.1 for standalone and 0.0.0.0 for a single role', () => {
    expect(loadSettings('standalone', {}).HOST).to.equal('127.0.0.1')
    expect(loadSettings('collector', {}).HOST).to.equal('0.0.0.0')
  })

  it('lists all problems, one line each, with setting, expected and seen', () => {
    const environment = { BRIDGE_PORT: '70000', WINDOW_SIZE: '9', ANOMALY_THRESHOLD: '0', LOG_LEVEL: 'loud', RAW_TOPIC: 'a b' }
    expect(problemsOf(() => loadSettings('bridge', environment))).to.deep.equal([
      'LOG_LEVEL: expected one of debug, info, warn, error, silent, seen "loud"',
      'BRIDGE_PORT: expected a port number from 0 to 65535, seen "70000"',
      'RAW_TOPIC: expected a topic name: 1 to 249 of letters, digits, ".", "_" and "-", seen "a b"',
      'ANOMALY_THRESHOLD: expected a number above 0, at most 100, seen "0"',
      'WINDOW_SIZE: expected an integer from 10 to 100000, seen "9"',
    ])
  })

  for (const text of ['1e3', '12.5', '-1', '0x10', ' 50', '٣', 'NaN']) {
    it(`refuses ${JSON.stringify(text)} as an integer`, () => {
      expect(problemsOf(() => loadSettings('bridge', { WINDOW_SIZE: text }))).to.have.length(1)
    })
  }

  it('an empty value counts as unset', () => {
    expect(loadSettings('bridge', { WINDOW_SIZE: '', BUS_BROKERS: '' }).WINDOW_SIZE).to.equal(50)
  })

  it('settings of other roles are not looked at', () => {
    expect(problemsOf(() => loadSettings('ticketing', { WINDOW_SIZE: 'x' }))).to.deep.equal([])
  })

  it('reads NAME_FILE without its last line break', () => {
    const path = join(directory, 'password')
    writeFileSync(path, 'a secret\n')
    expect(loadSettings('ticketing', { SEARCH_PASSWORD_FILE: path, SEARCH_USERNAME: 'admin' }).SEARCH_PASSWORD).to.equal('a secret')
  })

  it('names a NAME_FILE that cannot be read, and a NAME given twice', () => {
    const environment = { SEARCH_PASSWORD_FILE: '/nowhere/at/all', SEARCH_USERNAME: 'a', SEARCH_USERNAME_FILE: '/b' }
    expect(problemsOf(() => loadSettings('ticketing', environment))).to.deep.equal([
      'SEARCH_USERNAME: expected either SEARCH_USERNAME or SEARCH_USERNAME_FILE, seen both',
      'SEARCH_PASSWORD_FILE: expected a readable file, seen "/nowhere/at/all" (ENOENT)',
    ])
  })

  it('takes Kafka brokers with their ports, and refuses them without', () => {
    expect(loadSettings('bridge', { BUS_BROKERS: 'kafka-0.kafka:9092,[::1]:9093' }).BUS_BROKERS).to.equal('kafka-0.kafka:9092,[::1]:9093')
    for (const text of ['kafka', 'kafka:', 'kafka:0', 'kafka:70000', 'a:1,', 'kafka://a:1', 'a:1, b:2'])
      expect(problemsOf(() => loadSettings('bridge', { BUS_BROKERS: text }))[0], text).to.match(/^BUS_BROKERS: expected brokers such as /)
  })

  it('wants a user of Kafka with a password, which it never shows', () => {
    expect(problemsOf(() => loadSettings('collector', { BUS_USERNAME: 'me' }))).to.deep.equal([
      'BUS_USERNAME: expected together with BUS_PASSWORD, seen alone',
    ])
    const settings = loadSettings('collector', { BUS_USERNAME: 'me', BUS_PASSWORD: 'hunter2' })
    expect(settings.BUS_SASL_MECHANISM).to.equal('scram-sha-512')
    expect(describeSettings('collector', settings).join()).not.to.contain('hunter2')
    const asKafkaWritesIt = { BUS_USERNAME: 'me', BUS_PASSWORD: 'hunter2', BUS_SASL_MECHANISM: 'SCRAM-SHA-256' }
    expect(loadSettings('collector', asKafkaWritesIt).BUS_SASL_MECHANISM).to.equal('scram-sha-256')
  })

  it('takes the URL of a Redis with a password, and never shows it', () => {
    const settings = loadSettings('features', { ONLINE_STORE_URL: 'redis://:hunter2@redis:6379/1' })
    expect(settings.ONLINE_STORE_URL).to.equal('redis://:hunter2@redis:6379/1')
    expect(describeSettings('features', settings).join()).not.to.contain('hunter2')
    expect(problemsOf(() => loadSettings('features', { ONLINE_STORE_URL: 'http://:hunter2@redis' })).join()).to.match(
      /^ONLINE_STORE_URL: expected a URL such as redis:(?!.*hunter2)/,
    )
  })

  it('refuses a SERVICE_TENANT_ID that is not a tenant id', () => {
    expect(problemsOf(() => loadSettings('collector', { SERVICE_TENANT_ID: 'Not_Valid' }))).to.have.length(1)
  })

  it('refuses namespaces that are none: the operator would look after nothing, or after all', () => {
    for (const WATCH_NAMESPACES of ['A_b', '*', 'a b', 'shop;billing', ',', ' '])
      expect(
        problemsOf(() => loadSettings('operator', { WATCH_NAMESPACES })),
        WATCH_NAMESPACES,
      ).to.deep.equal([
        `WATCH_NAMESPACES: expected namespaces with commas between, each 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, seen ${JSON.stringify(WATCH_NAMESPACES)}`,
      ])
    for (const WATCH_NAMESPACES of ['', 'shop', 'shop,billing', ' shop , billing,'])
      expect(loadSettings('operator', { WATCH_NAMESPACES }), WATCH_NAMESPACES).to.include({ WATCH_NAMESPACES })
    expect(problemsOf(() => loadSettings('operator', { POD_NAMESPACE: 'Not_Valid' }))).to.have.length(1)
  })

  it('refuses credentials in SEARCH_ENDPOINT without repeating them', () => {
    const [problem] = problemsOf(() => loadSettings('ticketing', { SEARCH_ENDPOINT: 'https://user:hunter2@search:9200' }))
    expect(problem).to.match(/^SEARCH_ENDPOINT: expected a URL/)
    expect(problem).not.to.contain('hunter2')
  })

  it('names settings that clash, one that lacks another, and a file that is not there', () => {
    const environment = { ENRICHED_TOPIC: 'raw-logs', BRIDGE_PORT: '9200', SEARCH_PASSWORD: 'hunter2', SEARCH_CA_FILE: '/nowhere/ca.pem' }
    expect(problemsOf(() => loadSettings('standalone', environment))).to.deep.equal([
      'SEARCH_PASSWORD: expected together with SEARCH_USERNAME, seen alone',
      'SEARCH_CA_FILE: expected a readable file, seen "/nowhere/ca.pem" (ENOENT)',
      'SEARCH_PORT: expected another port than BRIDGE_PORT, seen 9200 for both',
      'ENRICHED_TOPIC: expected another topic than RAW_TOPIC, seen raw-logs for both',
    ])
  })

  it('refuses a file where a directory is expected, and takes one that is not there', () => {
    const path = join(directory, 'no-directory')
    writeFileSync(path, '{}')
    for (const role of ['ticketing', 'bridge', 'standalone'] as const) {
      for (const file of [path, join(path, 'deeper')])
        expect(problemsOf(() => loadSettings(role, { TICKETING_CONFIG_DIR: file }))).to.deep.equal([
          `TICKETING_CONFIG_DIR: expected a directory, seen ${JSON.stringify(file)} (${file === path ? 'a file' : 'a path through a file'})`,
        ])
      for (const there of [directory, join(directory, 'nowhere')])
        expect(problemsOf(() => loadSettings(role, { TICKETING_CONFIG_DIR: there }))).to.deep.equal([])
    }
  })

  it('lists what settings lack of each other beside values that are wrong by themselves', () => {
    const environment = {
      LOG_LEVEL: 'loud',
      ENRICHED_TOPIC: 'raw-logs',
      SEARCH_CA_FILE: '/nowhere/ca.pem',
      TLS_CERT_FILE: '/nowhere/tls.crt',
    }
    expect(problemsOf(() => loadSettings('standalone', environment))).to.deep.equal([
      'LOG_LEVEL: expected one of debug, info, warn, error, silent, seen "loud"',
      'SEARCH_CA_FILE: expected a readable file, seen "/nowhere/ca.pem" (ENOENT)',
      'TLS_CERT_FILE: expected together with TLS_KEY_FILE, seen alone',
      'TLS_CERT_FILE: expected a readable file, seen "/nowhere/tls.crt" (ENOENT)',
      'ENRICHED_TOPIC: expected another topic than RAW_TOPIC, seen raw-logs for both',
    ])
  })

  it('names a setting that is wrong once, and does not say of another that it stands alone', () => {
    expect(problemsOf(() => loadSettings('agent', { SERVICE_TENANT_ID_FILE: '/nowhere' }))).to.deep.equal([
      'SERVICE_TENANT_ID_FILE: expected a readable file, seen "/nowhere" (ENOENT)',
    ])
    expect(problemsOf(() => loadSettings('ticketing', { SEARCH_USERNAME: 'me', SEARCH_PASSWORD_FILE: '/nowhere' }))).to.deep.equal([
      'SEARCH_PASSWORD_FILE: expected a readable file, seen "/nowhere" (ENOENT)',
    ])
  })

  describe('of PEM files', () => {
    const [own, other] = [0, 1].map(() =>
      makeSelfSigned({ commonName: 'test', hosts: ['localhost'], notBeforeMs: Date.now(), notAfterMs: Date.now() + 86_400_000 }),
    ) as [KeyPair, KeyPair]
    const write = (name: string, text: string) => {
      const path = join(directory, name)
      writeFileSync(path, text)
      return path
    }

    it('takes a certificate with its key, and an authority', () => {
      const files = { TLS_CERT_FILE: write('own.crt', own.cert), TLS_KEY_FILE: write('own.key', own.key) }
      expect(
        problemsOf(() => loadSettings('gateway', { ...files, SEARCH_CA_FILE: write('ca.crt', `# ours\n${own.cert}${other.cert}`) })),
      ).to.deep.equal([])
    })

    it('refuses a certificate of another key', () => {
      const files = { BUS_CERT_FILE: write('own.crt', own.cert), BUS_KEY_FILE: write('other.key', other.key) }
      const problems = problemsOf(() => loadSettings('collector', files))
      expect(problems).to.have.length(1)
      expect(problems[0]).to.match(/^BUS_CERT_FILE: expected the certificate of the key in BUS_KEY_FILE, seen another \(.*mismatch\)$/)
    })

    for (const [what, text] of Object.entries({ 'an empty file': '', 'another text': 'no PEM\n', 'a key': own.key })) {
      it(`refuses ${what} where a certificate is expected`, () => {
        const files = { SEARCH_CA_FILE: write('wrong', text), TLS_CERT_FILE: write('wrong', text), TLS_KEY_FILE: write('own.key', own.key) }
        const problems = problemsOf(() => loadSettings('gateway', files))
        expect(problems.map(problem => problem.replace(/ \(.*/, ''))).to.deep.equal(
          ['SEARCH_CA_FILE', 'TLS_CERT_FILE'].map(
            name => `${name}: expected a file with a certificate in PEM, seen "${join(directory, 'wrong')}"`,
          ),
        )
      })
    }

    for (const [what, text] of Object.entries({ 'an empty file': '', 'a certificate': own.cert })) {
      it(`refuses ${what} where a key is expected`, () => {
        const files = { TLS_CERT_FILE: write('own.crt', own.cert), TLS_KEY_FILE: write('wrong', text) }
        const [problem, ...others] = problemsOf(() => loadSettings('gateway', files))
        expect(others).to.deep.equal([])
        expect(problem).to.match(/^TLS_KEY_FILE: expected a file with a key in PEM, seen /)
      })
    }
  })

  it('several ports may be 0: free ones', () => {
    expect(problemsOf(() => loadSettings('standalone', { BRIDGE_PORT: '0', SEARCH_PORT: '0' }))).to.deep.equal([])
  })

  it('masks secrets when it shows the settings', () => {
    const lines = describeSettings('ticketing', loadSettings('ticketing', { SEARCH_PASSWORD: 'hunter2', SEARCH_USERNAME: 'admin' }))
    expect(lines).to.include('SEARCH_PASSWORD=****').and.to.include('SEARCH_USERNAME=admin').and.to.include('LOG_LEVEL=info (default)')
  })

  it('is frozen', () => {
    expect(loadSettings('search', {})).to.be.frozen
  })
})
