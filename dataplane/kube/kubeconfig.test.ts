import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createFakeClock } from '../testing/fake-clock.ts'
import { findClusterAccess, loadClusterAccess } from './cluster-access.ts'
import { createCredentials } from './credentials.ts'
import { KubeconfigError } from './kubeconfig.ts'

const encode = (text: string) => Buffer.from(text).toString('base64')

const CONFIG = `
apiVersion: v1
kind: Config
current-context: prod
contexts:
  - { name: prod, context: { cluster: c1, user: admin, namespace: shop } }
  - { name: token, context: { cluster: c1, user: robot } }
clusters:
  - { name: c1, cluster: { server: "https://10.0.0.1:6443/", certificate-authority-data: ${encode('CA')}, tls-server-name: kube } }
users:
  - { name: admin, user: { client-certificate: admin.crt, client-key-data: ${encode('KEY')} } }
  - { name: robot, user: { tokenFile: token } }
`

describe('Where the cluster is', () => {
  let dir: string
  const write = (name: string, text: string) => {
    const path = join(dir, name)
    writeFileSync(path, text)
    return path
  }
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
    write('admin.crt', 'CERT')
    write('token', 'secret\n')
  })
  after(() => rmSync(dir, { recursive: true }))

  it('is read from KUBECONFIG: its current context, inline data and files beside it', () => {
    expect(loadClusterAccess({ KUBECONFIG: write('config', CONFIG) })).to.deep.equal({
      server: 'https://10.0.0.1:6443',
      tls: { insecure: false, ca: 'CA', serverName: 'kube' },
      auth: { certificate: { cert: 'CERT', key: 'KEY' } },
      namespace: 'shop',
    })
  })

  it('merges several files, the first to name something wins', () => {
    const first = write('first', 'current-context: token\n')
    const access = loadClusterAccess({ KUBECONFIG: `${first}:${write('config', CONFIG)}` })
    expect(access).to.deep.include({ auth: { tokenFile: join(dir, 'token') }, namespace: 'default' })
  })

  it('is the API server of the pod where there is a service account', () => {
    write('ca.crt', 'CA')
    write('namespace', 'ops')
    expect(loadClusterAccess({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, dir)).to.deep.equal({
      server: 'https://[fd00::1]:443',
      tls: { ca: 'CA', insecure: false },
      auth: { tokenFile: join(dir, 'token') },
      namespace: 'ops',
    })
  })

  const refused = [
    { text: '{}', expected: /expected a current-context/ },
    { text: '- 1', expected: /expected a kubeconfig: it is no mapping/ },
    { text: 'current-context: x', expected: /expected an entry named "x" in contexts/ },
    { text: CONFIG.replace('admin.crt', 'gone.crt'), expected: /client-certificate: expected a readable file, seen gone.crt \(ENOENT\)/ },
    {
      text: CONFIG.replace('client-certificate: admin.crt', 'auth-provider: { name: gcp }'),
      expected: /auth-provider is no longer supported/,
    },
  ]
  for (const { text, expected } of refused)
    it(`says what is wrong: ${expected.source}`, () => {
      expect(() => loadClusterAccess({ KUBECONFIG: write('bad', text) })).to.throw(KubeconfigError, expected)
    })

  it('says where it looked when there is nothing', () => {
    expect(() => loadClusterAccess({ HOME: dir }, join(dir, 'none'))).to.throw(/expected KUBECONFIG, a service account/)
  })

  it('finds no cluster outside a pod without KUBECONFIG, whatever the home directory holds', () => {
    expect(findClusterAccess({ HOME: dir }, join(dir, 'none'))).to.equal(undefined)
    expect(findClusterAccess({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, join(dir, 'none')), 'a pod without a token').to.equal(undefined)
  })

  it('reads a token file again after a minute, and when the token is refused', async () => {
    const clock = createFakeClock()
    const credentials = createCredentials({ tokenFile: write('rotating', 'one') }, '', clock)
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer one' })
    write('rotating', 'two')
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer one' })
    clock.advance(60_000)
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer two' })
    write('rotating', 'three')
    credentials.reject()
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer three' })
  })

  it('asks an exec plugin once, and again before its token ends', async () => {
    const clock = createFakeClock()
    let asked = 0
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', args: [], env: {} }
    const run = async () => {
      asked += 1
      const expirationTimestamp = new Date(clock.nowMs() + 600_000).toISOString()
      return JSON.stringify({ kind: 'ExecCredential', status: { token: `t${asked}`, expirationTimestamp } })
    }
    const credentials = createCredentials({ exec }, 'https://a', clock, run)
    expect(await Promise.all([credentials.current(), credentials.current()])).to.deep.equal(Array(2).fill({ authorization: 'Bearer t1' }))
    clock.advance(569_999)
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer t1' })
    clock.advance(1)
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer t2' })
  })
})
