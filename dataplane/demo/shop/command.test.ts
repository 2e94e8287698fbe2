import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { runDemo } from './command.ts'
import { FAULT_NAMES } from './faults.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../hack/logpipeline')

async function run(...args: readonly string[]) {
  let out = ''
  let problems = ''
  const stdout = { write: (text: string) => (out += text) }
  const stderr = { write: (text: string) => (problems += text) }
  return { code: await runDemo(args, { stdout, stderr }), out, problems }
}

/** Answers as a console without incidents, and as a collector. */
async function withServer(answer: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const CALM: RequestListener = (request, response) => {
  request.resume()
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    const body = request.url!.includes('/api/search/')
      ? '{"hits":{"hits":[]}}'
      : request.url!.includes('/api/ticketing/')
        ? '[]'
        : '{"partialSuccess":{}}'
    response.end(body)
  })
}

describe('the command logpipeline demo', function () {
  this.timeout(20_000)

  it('--help and --list say what there is', async () => {
    expect((await run('--help')).out)
      .to.contain('--at-once')
      .and.to.contain('demo platforms')
    const { code, out } = await run('--list')
    expect(code).to.equal(0)
    expect(
      out
        .trim()
        .split('\n')
        .map(line => line.split(' ')[0]),
    ).to.deep.equal(FAULT_NAMES)
  })

  it('--help and --list do not look at settings, and a shop looks at its tenant alone', async () => {
    const program = (...args: readonly string[]) =>
      spawnSync(PROGRAM, ['demo', ...args], {
        env: { ...process.env, SERVICE_TENANT_ID: 'Not A Tenant', OTLP_GRPC_PORT: 'no port' },
        encoding: 'utf8',
      })
    for (const word of ['--help', '--list']) expect(program(word)).to.include({ status: 0, stderr: '' })
    const { status, stderr } = program()
    expect(status).to.equal(78)
    expect(stderr).to.match(/^SERVICE_TENANT_ID: expected [^\n]*\n$/)
  })

  it('a wrong command line is refused with 64, each problem on a line', async () => {
    const { code, problems } = await run('--fault', 'x', '--seed', 'y')
    expect(code).to.equal(64)
    expect(problems.trim().split('\n')).to.have.length(2)
  })

  it('says what to do when there is no standalone, or something else', async () => {
    const silent = await run('--console', 'http://127.0.0.1:1', '--endpoint', 'http://127.0.0.1:1')
    expect(silent.code).to.equal(1)
    expect(silent.problems).to.contain('no console answers at http://127.0.0.1:1').and.to.contain('npm start')
    await withServer(CALM, async console => {
      const { code, problems } = await run('--console', console, '--endpoint', 'http://127.0.0.1:1')
      expect(code).to.equal(1)
      expect(problems).to.contain('no logpipeline answers at http://127.0.0.1:1/v1/logs').and.to.contain('--endpoint')
    })
    const other: RequestListener = (_, response) => response.writeHead(404).end()
    await withServer(other, async console => {
      expect((await run('--console', console)).problems).to.contain('answered 404: is this the console of a logpipeline?')
    })
  })

  it('shows a console the user name and password of its address, and says how where one is asked for', async () => {
    const asked: unknown[] = []
    const guarded: RequestListener = (request, response) => {
      asked.push(request.headers.authorization)
      if (request.headers.authorization === undefined) response.statusCode = 401
      CALM(request, response)
    }
    await withServer(guarded, async url => {
      const refused = await run('--console', url)
      expect(refused.problems).to.contain(`${url} asks for a password: expected user name and password in the address`)
      await run('--console', url.replace('//', '//admin:correct%20h%C3%B6rse@'), '--endpoint', 'http://127.0.0.1:1')
    })
    expect(asked[0]).to.equal(undefined)
    expect(asked.slice(1)).to.include(`Basic ${Buffer.from('admin:correct hörse').toString('base64')}`)
  })

  it('sends and asks for its own tenant alone, that of the collector where none is given', async () => {
    const searches: unknown[] = []
    let sent = ''
    const noting: RequestListener = (request, response) => {
      if (request.url!.startsWith('/api/')) searches.push(request.headers['x-service-tenant-id'])
      if (request.url === '/v1/logs') request.on('data', piece => (sent += piece))
      if (request.url === '/v1/logs') response.statusCode = 400
      CALM(request, response)
    }
    await withServer(noting, async url => {
      await run('--history', '15', '--endpoint', url, '--console', url)
      await run('--history', '15', '--endpoint', url, '--console', url, '--tenant', 'acme')
    })
    expect(searches).to.deep.equal(['default', 'default', 'acme', 'acme'])
    expect(new Set(sent.match(/"tenant_id","value":\{"stringValue":"\w+"/g)?.map(text => text.slice(36, -1)))).to.have.all.keys(
      'default',
      'acme',
    )
  })

  it('ends at Ctrl-C, and says what it sent', async () => {
    await withServer(CALM, async url => {
      const args = ['demo', '--fault', 'bad-deploy', '--history', '15', '--endpoint', url, '--console', url]
      const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const exited = once(child, 'exit')
      let out = ''
      try {
        for await (const piece of child.stdout) {
          out += piece
          if (out.includes('records are sent') && !child.killed) child.kill('SIGINT')
        }
        expect(await exited).to.deep.equal([0, null])
        expect(out).to.match(/Stopped after \d+ records/)
      } finally {
        child.kill('SIGKILL')
      }
    })
  })
})
