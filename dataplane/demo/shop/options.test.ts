import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FAULT_NAMES } from './faults.ts'
import { type DemoOptions, parseDemoOptions } from './options.ts'

function optionsOf(...args: readonly string[]): DemoOptions {
  const parsed = parseDemoOptions(args, { tenant: () => 'own', chance: () => 0.4711 })
  if (!('config' in parsed) || parsed.config === 'list') throw new Error(`expected options, seen ${JSON.stringify(parsed)}`)
  return parsed.config
}

describe('the command line of logpipeline demo', () => {
  it('needs nothing: seed and fault come by chance, addresses are those of npm start', () => {
    const { fault, ...others } = optionsOf()
    expect(FAULT_NAMES).to.include(fault)
    expect(others).to.deep.equal({
      ...{ seed: 4711, historyMs: 1_800_000, isAtOnce: false, tenant: 'own' },
      ...{ logsUrl: 'http://127.0.0.1:4318/v1/logs', consoleUrl: 'http://localhost:3000' },
    })
  })

  it('the same seed chooses the same fault, and all faults are chosen', () => {
    expect(optionsOf('--seed', '5')).to.deep.equal(optionsOf('--seed', '5'))
    const chosen = new Set(Array.from({ length: 50 }, (_, seed) => optionsOf('--seed', String(seed)).fault))
    expect(chosen).to.have.all.keys(...FAULT_NAMES)
  })

  it('takes an endpoint as exporters do, with its path or without', () => {
    expect(optionsOf('--endpoint', 'http://logs:4318/').logsUrl).to.equal('http://logs:4318/v1/logs')
    expect(optionsOf('--endpoint', 'http://logs/otlp/v1/logs').logsUrl).to.equal('http://logs/otlp/v1/logs')
  })

  for (const { args, problem } of [
    { args: ['--fault', 'earthquake'], problem: `--fault: expected one of ${FAULT_NAMES.join(', ')}, seen "earthquake"` },
    { args: ['--seed', '-1'], problem: "Option '--seed' argument is ambiguous" },
    { args: ['--seed', 'x'], problem: '--seed: expected a whole number from 0 to 2147483647, seen "x"' },
    { args: ['--history', '5'], problem: '--history: expected a whole number from 15 to 120, seen "5"' },
    { args: ['--tenant', 'A'], problem: '--tenant: expected up to 63 of a-z, 0-9 and "-", seen "A"' },
    { args: ['--endpoint', 'localhost'], problem: '--endpoint: expected an http or https address, seen "localhost"' },
    { args: ['--console', 'ftp://x'], problem: '--console: expected an http or https address, seen "ftp://x"' },
    { args: ['--speed'], problem: "Unknown option '--speed'" },
    { args: ['shop'], problem: "Unexpected argument 'shop'" },
  ])
    it(`${args.join(' ')} is refused`, () => {
      const parsed = parseDemoOptions(args, { tenant: () => 'own' })
      expect('problems' in parsed && parsed.problems.join('\n')).to.contain(problem)
    })

  it('names every problem at once', () => {
    const parsed = parseDemoOptions(['--seed', 'x', '--history', '1'], { tenant: () => 'own' })
    expect('problems' in parsed && parsed.problems).to.have.length(2)
  })
})
