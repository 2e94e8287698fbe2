import { expect } from 'chai'
import { describe, it } from 'mocha'
import { normaliseLevel, normaliseSeverityNumber } from './level.ts'

describe('severity', () => {
  const cases = [
    { name: 'CRITICAL is normalised to FATAL', text: 'CRITICAL', number: undefined, expected: 'FATAL' },
    { name: 'severityText wins over severityNumber', text: 'WARN', number: 17, expected: 'WARN' },
    { name: 'unknown text falls back to the number', text: 'VERBOSE', number: 17, expected: 'ERROR' },
    { name: 'neither: INFO', text: undefined, number: undefined, expected: 'INFO' },
    { name: 'empty text and number 0: INFO', text: '', number: 0, expected: 'INFO' },
    { name: 'unknown text without a number: INFO', text: 'VERBOSE', number: undefined, expected: 'INFO' },
    { name: 'a number out of range: INFO', text: undefined, number: 25, expected: 'INFO' },
    { name: 'a fraction is no severity number', text: undefined, number: 17.5, expected: 'INFO' },
    { name: 'a name of Object.prototype is no text', text: 'constructor', number: 17, expected: 'ERROR' },
    { name: 'case is folded', text: 'Error', number: undefined, expected: 'ERROR' },
    { name: 'blanks around are ignored', text: ' warn ', number: undefined, expected: 'WARN' },
    { name: 'short names with a number', text: 'ERROR3', number: undefined, expected: 'ERROR' },
  ] as const
  for (const { name, text, number, expected } of cases) it(name, () => expect(normaliseLevel(text, number)).to.equal(expected))

  const aliases = {
    WARN: ['warning'],
    ERROR: ['err'],
    FATAL: ['critical', 'crit', 'emerg', 'emergency', 'alert', 'panic'],
    INFO: ['notice', 'information'],
  }
  for (const [level, texts] of Object.entries(aliases))
    it(`${texts.join(', ')} → ${level}`, () => {
      for (const text of texts) expect(normaliseLevel(text, undefined)).to.equal(level)
    })

  it('1–4 TRACE … 21–24 FATAL', () => {
    const levels = Array.from({ length: 24 }, (_, i) => normaliseLevel(undefined, i + 1))
    expect(levels).to.deep.equal(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap(level => [level, level, level, level]))
  })

  it('keeps the record’s own number, else takes the first of its level', () => {
    expect(normaliseSeverityNumber(18, 'ERROR')).to.equal(18)
    expect(normaliseSeverityNumber(undefined, 'ERROR')).to.equal(17)
    expect(normaliseSeverityNumber(99, 'FATAL')).to.equal(21)
  })
})
