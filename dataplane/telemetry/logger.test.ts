import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createLogger } from './logger.ts'

function recorder() {
  const lines: string[] = []
  return { lines, output: { write: (line: string) => void lines.push(line) } }
}

describe('log', () => {
  it('writes JSON lines with level, time, message and fields', () => {
    const { lines, output } = recorder()
    createLogger({ level: 'info', format: 'json', fields: { role: 'bridge' }, output })
      .child({ thread: 'etl' })
      .info({ port: 8080 }, 'started')
    const line = JSON.parse(lines[0]!)
    expect(line).to.include({ level: 'info', role: 'bridge', thread: 'etl', port: 8080, message: 'started' })
    expect(line.time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  it('a child replaces a field of the same name', () => {
    const { lines, output } = recorder()
    createLogger({ level: 'info', format: 'json', fields: { role: 'standalone' }, output })
      .child({ role: 'bridge' })
      .info({}, 'started')
    expect(lines[0]!.match(/"role"/g)).to.have.length(1)
    expect(JSON.parse(lines[0]!).role).to.equal('bridge')
  })

  it('writes an error with its cause', () => {
    const { lines, output } = recorder()
    createLogger({ level: 'info', format: 'json', output }).error({ error: new Error('outer', { cause: new Error('inner') }) }, 'failed')
    expect(JSON.parse(lines[0]!).error).to.deep.include({ message: 'outer', type: 'Error' })
    expect(lines[0]).to.contain('inner')
  })

  it('leaves out what is below LOG_LEVEL', () => {
    const { lines, output } = recorder()
    const log = createLogger({ level: 'warn', format: 'json', output })
    log.info({}, 'no')
    log.warn({}, 'yes')
    expect(lines).to.have.length(1)
  })

  it('is readable on a terminal', () => {
    const { lines, output } = recorder()
    createLogger({ level: 'info', format: 'readable', fields: { role: 'bridge' }, output }).error(
      { port: 1, error: new Error('no') },
      'stopped',
    )
    const plain = lines[0]!.replace(/\x1b\[\d+m/g, '')
    expect(plain).to.match(/^\d\d:\d\d:\d\d ERROR bridge {4}stopped port=1\n {4}Error: no\n {4}/)
  })

  it('text of others moves no cursor of a terminal, and begins no line of the log', () => {
    const { lines, output } = recorder()
    const hostile = 'no\x1b[2J\x9b31m\r\n14:00:00 INFO  all is well'
    createLogger({ level: 'info', format: 'readable', output }).error({ reason: hostile, error: new Error(hostile) }, 'stopped')
    const plain = lines[0]!.replace(/\x1b\[\d+m/g, '')
    expect(plain).to.match(/^[^\p{Cc}\n]+(?:\n {4}[^\p{Cc}\n]+)+\n$/u)
    expect(plain).to.contain('reason=no\\u001b[2J\\u009b31m\\u000d\\u000a14:00:00')
  })

  it('the same in JSON lines, whose reader finds the text as it was', () => {
    const { lines, output } = recorder()
    const hostile = 'no\x1b[2J\x9b31m\x7f\r\n größe'
    createLogger({ level: 'info', format: 'json', output }).error({ reason: hostile, error: new Error(hostile) }, 'stopped')
    expect(lines[0])
      .to.match(/^[^\p{Cc}]+\n$/u)
      .and.to.contain('größe')
    expect(JSON.parse(lines[0]!)).to.include({ reason: hostile })
  })
})
