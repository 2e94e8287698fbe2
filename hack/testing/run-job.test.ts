import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Job } from './jobs.ts'
import { runJob } from './run-job.ts'

/** A process that ended while nobody waits for it stays in the table for a while. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a job of npm test', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'run-job-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  function tests(code: string): Job {
    const file = join(directory, `${Math.random()}.test.ts`)
    writeFileSync(file, code)
    return { kind: 'tests', name: 'job', files: [file] }
  }

  it('counts what passed, failed and was skipped', async () => {
    const result = await runJob(tests(`it('a', () => {}); it('b', () => { throw new Error('no') }); it.skip('c'); it('d', () => {})`))
    expect(result.passed).to.equal(2)
    expect(result.failures.map(({ title, error }) => [title, error.split('\n')[0]])).to.deep.equal([['b', 'Error: no']])
    expect(result.skipped).to.deep.equal(['c'])
  })

  it('compares deeply as chai does: what differs fails, and what chai takes for equal passes', async () => {
    const result = await runJob(
      tests(`import { expect } from '${import.meta.resolve('chai')}'
        it('differs', () => expect({ a: [1, new Map([['b', 2]])] }).to.deep.equal({ a: [1, new Map([['b', 3]])] }))
        it('negative zero', () => expect([-0]).to.deep.equal([0]))
        it('is equal to chai', () => expect(Object.create({ a: 1 })).to.deep.equal({ a: 1 }))
        it('is equal', () => expect({ a: [1, new Map([['b', 2]])] }).to.deep.equal({ a: [1, new Map([['b', 2]])] }))`),
    )
    expect(result.failures.map(({ title }) => title)).to.deep.equal(['differs', 'negative zero'])
    expect(result.passed).to.equal(2)
  })

  it('counts a crash as a failure, with the output', async () => {
    const result = await runJob(tests(`it('a', () => {}); it('b', () => { console.log('so far'); process.exit(0) })`))
    expect(result.passed).to.equal(1)
    expect(result.failures).to.have.length(1)
    expect(result.failures[0]!.error).to.contain('ended before its tests did').and.to.contain('so far')
  })

  it('counts a file that cannot be loaded as a failure', async () => {
    const result = await runJob(tests(`import './missing.ts'`))
    expect(result.failures).to.have.length(1)
    expect(result.failures[0]!.error).to.contain('ERR_MODULE_NOT_FOUND')
  })

  it('counts the CPU time of its process and of those that it started', async () => {
    const busy =
      'const start = process.cpuUsage(); for (let used = { user: 0, system: 0 }; used.user + used.system < 500_000; used = process.cpuUsage(start));'
    const idle = await runJob(tests(`it('a', () => {})`))
    const own = await runJob(tests(`it('a', () => { ${busy} })`))
    const started = await runJob(
      tests(`import { spawnSync } from 'node:child_process'; it('a', () => { spawnSync(process.execPath, ['-e', '${busy}']) })`),
    )
    expect(own.cpuMs! - idle.cpuMs!).to.be.within(250, 2_000)
    expect(started.cpuMs! - idle.cpuMs!).to.be.within(250, 2_000)
  }).timeout(60_000)

  for (const [end, rest] of [
    ['done', ''],
    ['killed, as it did not end in time', 'for (;;) {}'],
  ] as const)
    it(`leaves no process behind when it is ${end}`, async () => {
      const started = join(directory, `${Math.random()}`)
      const job = tests(`import { spawn } from 'node:child_process'
        import { writeFileSync } from 'node:fs'
        it('a', () => {
          const child = spawn('sleep', ['60'], { stdio: 'ignore' })
          child.unref()
          writeFileSync('${started}', String(child.pid))
          ${rest}
        })`)
      await runJob({ ...job, ...(rest !== '' && { limitMs: 3_000 }) } as Job)
      const pid = Number(readFileSync(started, 'utf8'))
      for (let tries = 0; tries < 40 && isAlive(pid); tries++) await new Promise(done => setTimeout(done, 25))
      expect(isAlive(pid)).to.equal(false)
    }).timeout(20_000)

  it('counts a static check as one', async () => {
    const check = (script: string): Job => ({ kind: 'check', name: 'check', command: [process.execPath, '-e', script] })
    expect(await runJob(check(''))).to.include({ passed: 1 })
    const failed = await runJob(check(`console.log('why'); process.exit(3)`))
    expect(failed).to.include({ passed: 0 })
    expect(failed.failures[0]!.error).to.equal('exit code 3\nwhy')
  })
})
