import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createCredentials } from './credentials.ts'
import { findClusterAccess, loadClusterAccess } from './find-access.ts'
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

const withUser = (fields: string) => CONFIG.replace(/user: \{ client-certificate.*\} \}/, `user: { ${fields} } }`)

describe('Where the cluster is', () => {
  let dir: string
  const load = (text: string) => {
    const { reread: _, ...access } = loadClusterAccess({ KUBECONFIG: write('config', text) })
    return access
  }
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
    expect(load(CONFIG)).to.deep.equal({
      server: 'https://10.0.0.1:6443',
      tls: { insecure: false, ca: 'CA', serverName: 'kube' },
      auth: { certificate: { cert: 'CERT', key: 'KEY' } },
      namespace: 'shop',
    })
  })

  it('is read again of the same context of the same cluster, with whatever was replaced', () => {
    const { reread } = loadClusterAccess({ KUBECONFIG: write('rotated', CONFIG) })
    write('admin.crt', 'CERT2')
    write('rotated', CONFIG.replace('current-context: prod', 'current-context: token').replace(encode('CA'), encode('CA2')))
    expect(reread?.()).to.deep.include({
      tls: { insecure: false, ca: 'CA2', serverName: 'kube' },
      auth: { certificate: { cert: 'CERT2', key: 'KEY' } },
    })
    write('admin.crt', 'CERT')
  })

  it('acts as somebody else where the user says so', () => {
    const user = 'as: jane, as-uid: "7", as-groups: [dev, ops], as-user-extra: { "acme.com/Team": [red, blue] }, token: t'
    expect(load(withUser(user))).to.deep.include({
      auth: { token: 't' },
      impersonation: { user: 'jane', uid: '7', groups: ['dev', 'ops'], extra: { 'acme.com/Team': ['red', 'blue'] } },
    })
    expect(load(withUser('as: jane'))).to.deep.include({ impersonation: { user: 'jane', groups: [], extra: {} } })
  })

  it('takes the tokens of an OpenID Connect issuer, with its authority beside the file', () => {
    const config = `refresh-token: r, client-id: kubernetes, idp-issuer-url: "https://issuer", idp-certificate-authority: admin.crt`
    expect(load(withUser(`auth-provider: { name: oidc, config: { ${config} } }`))).to.deep.include({
      auth: {
        oidc: {
          'refresh-token': 'r',
          'client-id': 'kubernetes',
          'idp-issuer-url': 'https://issuer',
          'idp-certificate-authority-data': encode('CERT'),
        },
      },
    })
  })

  it('leaves files out that are not there, or empty, and says so when there is none', () => {
    const [gone, empty] = [join(dir, 'gone'), write('empty', '')]
    const access = loadClusterAccess({ KUBECONFIG: `${gone}:${empty}:${write('config', CONFIG)}` })
    expect(access.server).to.equal('https://10.0.0.1:6443')
    expect(() => loadClusterAccess({ KUBECONFIG: `${gone}:${gone}` })).to.throw(
      KubeconfigError,
      /expected a readable file, seen .*gone:.*gone \(ENOENT\)/,
    )
    expect(() => loadClusterAccess({ KUBECONFIG: dir })).to.throw(KubeconfigError, /EISDIR/)
  })

  it('goes through the proxy of the kubeconfig, else through that of the environment', () => {
    const proxies = { HTTPS_PROXY: 'proxy:3128', NO_PROXY: '10.1.0.0/16' }
    expect(loadClusterAccess({ KUBECONFIG: write('config', CONFIG), ...proxies }).proxyUrl).to.equal('http://proxy:3128')
    const named = CONFIG.replace('tls-server-name', 'proxy-url: "http://own:1", tls-server-name')
    expect(loadClusterAccess({ KUBECONFIG: write('config', named), ...proxies }).proxyUrl).to.equal('http://own:1')
    const inPod = (host: string) => loadClusterAccess({ KUBERNETES_SERVICE_HOST: host, ...proxies }, dir).proxyUrl
    write('ca.crt', 'CA')
    expect([inPod('10.96.0.1'), inPod('10.1.0.1')]).to.deep.equal(['http://proxy:3128', undefined])
  })

  it('what names no proxy is told by its name, without what it holds', () => {
    const wrong = 'gopher://u:secret@x'
    const cases = [
      { where: 'HTTPS_PROXY', config: CONFIG },
      { where: 'HTTP_PROXY', config: CONFIG.replace('https:', 'http:') },
      { where: 'kubeconfig: proxy-url', config: CONFIG.replace('tls-server-name', `proxy-url: "${wrong}", tls-server-name`) },
    ]
    for (const { where, config } of cases)
      expect(() => loadClusterAccess({ KUBECONFIG: write('config', config), HTTPS_PROXY: wrong, HTTP_PROXY: wrong }), where).to.throw(
        KubeconfigError,
        new RegExp(`^${where}: expected the URL of a proxy such as (?!.*secret)`),
      )
  })

  describe('with a program that hands out credentials', () => {
    /** The program's input (`KUBERNETES_EXEC_INFO`), which it hands out as its token. */
    const told = async (exec: string, cluster = '') => {
      write(
        'login',
        '#!/bin/sh\nread nothing && exit 9\nprintf \'{"status":{"token":"%s"}}\' "$(printf %s "$KUBERNETES_EXEC_INFO$EXTRA" | base64 | tr -d "\\n")"\n',
      )
      chmodSync(join(dir, 'login'), 0o755)
      const { auth } = load(
        withUser(`exec: { command: ./login, apiVersion: client.authentication.k8s.io/v1, ${exec} }`).replace(
          'tls-server-name',
          `${cluster} tls-server-name`,
        ),
      )
      const { authorization = '' } = await createCredentials(auth, createFakeClock()).current()
      return Buffer.from(authorization.replace('Bearer ', ''), 'base64').toString()
    }

    it('tells it that nobody can be asked, and passes its environment', async () => {
      const text = await told('interactiveMode: IfAvailable, args: null, env: [{ name: EXTRA, value: "!" }]')
      expect(text.endsWith('!')).to.equal(true)
      expect(JSON.parse(text.slice(0, -1))).to.deep.equal({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { interactive: false },
      })
    })

    it('tells it of the cluster where it wants to know', async () => {
      const extensions =
        'extensions: [{ name: other, extension: 1 }, { name: client.authentication.k8s.io/exec, extension: { audience: a } }],'
      const text = await told('provideClusterInfo: true, interactiveMode: Never', `proxy-url: "http://own:1", ${extensions}`)
      expect(JSON.parse(text).spec).to.deep.equal({
        interactive: false,
        cluster: {
          server: 'https://10.0.0.1:6443',
          'tls-server-name': 'kube',
          'certificate-authority-data': encode('CA'),
          'proxy-url': 'http://own:1',
          config: { audience: 'a' },
        },
      })
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
    const { reread, ...access } = loadClusterAccess({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, dir)
    expect(access).to.deep.equal({
      server: 'https://[fd00::1]:443',
      tls: { ca: 'CA', insecure: false },
      auth: { tokenFile: join(dir, 'token') },
      namespace: 'ops',
    })
    write('ca.crt', 'NEW')
    expect(reread?.().tls.ca).to.equal('NEW')
  })

  const refused = [
    { text: '{}', expected: /expected a current-context/ },
    { text: '- 1', expected: /expected a kubeconfig: it is no mapping/ },
    { text: 'current-context: x', expected: /expected an entry named "x" in contexts/ },
    { text: CONFIG.replace('admin.crt', 'gone.crt'), expected: /client-certificate: expected a readable file, seen gone.crt \(ENOENT\)/ },
    {
      text: withUser('auth-provider: { name: gcp }'),
      expected: /users admin: auth-provider gcp: Kubernetes 1.26 removed it: use the exec plugin gke/,
    },
    {
      text: withUser('auth-provider: { name: oidc }'),
      expected: /users admin: auth-provider oidc: expected id-token, or refresh-token, client-id, idp-issuer-url/,
    },
    {
      text: withUser('auth-provider: { name: oidc, config: { id-token: t } }, exec: { command: x }'),
      expected: /users admin: auth-provider oidc: expected either it or exec, seen both/,
    },
    {
      text: withUser('auth-provider: { name: oidc, config: { id-token: 1 } }'),
      expected: /users admin: auth-provider oidc: id-token: expected a text, seen number/,
    },
    { text: withUser('auth-provider: { name: constructor }'), expected: /auth-provider constructor: it is not supported: use exec/ },
    { text: withUser('client-certificate: admin.crt'), expected: /expected client-certificate and client-key together, seen one of them/ },
    { text: withUser('token: 12345'), expected: /users admin: token: expected a text, seen number/ },
    { text: withUser('as-groups: [a]'), expected: /users admin: expected as together with as-uid, as-groups and as-user-extra/ },
    { text: withUser('as: a, as-groups: a'), expected: /users admin: as-groups: expected a list of texts/ },
    { text: withUser('as: a, as-user-extra: { x: y }'), expected: /as-user-extra: x: expected a list of texts/ },
    {
      text: withUser('exec: { command: x, interactiveMode: Always }'),
      expected: /users admin exec: interactiveMode Always: expected Never/,
    },
    {
      text: withUser('exec: { command: x, interactiveMode: never }'),
      expected: /interactiveMode: expected Never or IfAvailable, seen never/,
    },
    { text: withUser('exec: { command: x, args: [1] }'), expected: /users admin exec: args: expected a list of texts/ },
    {
      text: CONFIG.replace('server: "https://10.0.0.1:6443/"', 'server: nowhere'),
      expected: /clusters c1: server: expected a URL, seen nowhere/,
    },
    {
      text: CONFIG.replace('tls-server-name', 'proxy-url: "ftp://x", tls-server-name'),
      expected: /proxy-url: expected the URL of a proxy such as/,
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
    const credentials = createCredentials({ tokenFile: write('rotating', 'one') }, clock)
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
    const credentials = createCredentials({ exec }, clock, run)
    expect(await Promise.all([credentials.current(), credentials.current()])).to.deep.equal(Array(2).fill({ authorization: 'Bearer t1' }))
    clock.advance(569_999)
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer t1' })
    clock.advance(1)
    expect(await credentials.current()).to.deep.equal({ authorization: 'Bearer t2' })
  })
})
