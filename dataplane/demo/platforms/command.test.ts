import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { runDemoPlatforms } from './command.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../hack/logpipeline')

async function run(...args: readonly string[]) {
  let out = ''
  let problems = ''
  const stdout = { write: (text: string) => (out += text) }
  const stderr = { write: (text: string) => (problems += text) }
  return { code: await runDemoPlatforms(args, { stdout, stderr, clock: systemClock }), out, problems }
}

describe('logpipeline demo platforms', function () {
  this.timeout(20_000)

  it('--help says what it starts', async () => {
    const { code, out } = await run('--help')
    expect(code).to.equal(0)
    expect(out).to.contain('--port-base N').and.to.contain('default 18100')
  })

  for (const { args, problem } of [
    { args: ['--port-base', 'x'], problem: '--port-base: expected a whole number from 0 to 65528, seen "x"' },
    { args: ['--port-base', '65529'], problem: '--port-base: expected a whole number from 0 to 65528, seen "65529"' },
    { args: ['--port'], problem: "Unknown option '--port'" },
    { args: ['jira'], problem: "Unexpected argument 'jira'" },
  ])
    it(`${args.join(' ')} is refused`, async () => {
      const { code, problems } = await run(...args)
      expect(code).to.equal(64)
      expect(problems).to.contain(`logpipeline demo platforms: ${problem}`)
    })

  it('an address that is not of this machine is refused with the option', async () => {
    const { code, problems } = await run('--host', '192.0.2.1', '--port-base', '0')
    expect(code).to.equal(1)
    expect(problems).to.equal(
      'logpipeline demo platforms: --port-base: cannot listen on 192.0.2.1:0: this machine has no such address (--host)\n',
    )
  })

  it('prints where everything is and what to paste, to the port of the ticketing agent, and ends at a signal', async () => {
    const child = spawn(PROGRAM, ['demo', 'platforms', '--port-base', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TICKETING_PORT: '21401' },
    })
    const exited = once(child, 'exit')
    try {
      let out = ''
      for await (const piece of child.stdout) {
        out += piece
        if (out.includes('Ctrl-C')) break
      }
      const index = /All of them +(\S+)/.exec(out)![1]!
      const page = await (await fetch(index)).text()
      expect(page).to.contain('Send tickets here').and.to.contain('PATCH http://127.0.0.1:21401/api/v1/config/platforms')
      expect(out).to.contain(`curl -s ${index}settings/platforms | curl -s -X PATCH http://127.0.0.1:21401/api/v1/config/platforms`)
      expect((await fetch(`${index}settings/routing`)).status).to.equal(200)
      child.kill('SIGTERM')
      expect(await exited).to.deep.equal([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })
})
