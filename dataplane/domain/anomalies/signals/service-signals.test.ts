import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildPattern } from '../../records/pattern.ts'
import { ServiceSignals } from './service-signals.ts'
import { RECORDS_SHOWN, type SignalFields, type SignalFinding, SPEAKS } from './signal.ts'
import { SLOT_MS } from './slots.ts'
import { plain, START_MS, STEPS, traffic, visit } from './testing/steady-traffic.ts'

function findingsOf(signals: ServiceSignals, records: readonly SignalFields[]): readonly SignalFinding[] {
  return records.flatMap(record => signals.observe(record) ?? []).filter(({ z }) => z >= SPEAKS)
}

/** Findings after 14 minutes of steady traffic. */
function foundAfter(records: readonly SignalFields[], before = traffic(0, 28)): readonly SignalFinding[] {
  const signals = new ServiceSignals()
  expect(findingsOf(signals, before)).to.deep.equal([])
  return findingsOf(signals, records)
}

const names = (findings: readonly SignalFinding[]) => [...new Set(findings.map(({ signal }) => signal))]

describe('signals of a service', () => {
  it('steady traffic says nothing, nor does twice as much of it, nor half', () => {
    expect(foundAfter([...traffic(28, 34), ...traffic(34, 40, { perSlot: 20 }), ...traffic(40, 46, { perSlot: 5 })])).to.deep.equal([])
  })

  it('pattern rate: a statement that visits no longer come to', () => {
    const found = foundAfter(traffic(28, 31, { steps: STEPS.slice(0, 2) }))
    expect(names(found)).to.deep.equal(['pattern rate'])
    expect(found[0]!.text).to.match(/^"order done" in 0 of 20 visits that begin with "order received", in 100 % before$|in 10 of 20/)
  })

  it('new pattern: a problem that never came before; what is new at INFO is no problem', () => {
    const failing = [...STEPS, { pattern: 'disk odd', level: 'WARN' as const }]
    expect(names(foundAfter(traffic(28, 31, { steps: failing })))).to.deep.equal(['new pattern'])
    expect(foundAfter(traffic(28, 31, { steps: [...STEPS, { pattern: 'mail sent' }] }))).to.deep.equal([])
  })

  it('pattern rate: a problem that comes more often, with or without traces', () => {
    const calm = (slot: number, warnings: number) => [
      ...Array.from({ length: 40 }, (_, n) => plain(START_MS + slot * SLOT_MS + n, { pattern: 'tick' })),
      ...Array.from({ length: warnings }, (_, n) => plain(START_MS + slot * SLOT_MS + 50 + n, { pattern: 'retry', level: 'WARN' })),
    ]
    const before = Array.from({ length: 28 }, (_, slot) => calm(slot, 1)).flat()
    expect(names(foundAfter([...calm(28, 25), ...calm(29, 25), ...calm(30, 1)], before))).to.deep.equal(['pattern rate'])
  })

  it('error share: more of the records are errors', () => {
    const failing = [STEPS[0]!, STEPS[1]!, { pattern: 'order done', level: 'ERROR' as const }]
    expect(names(foundAfter(traffic(28, 31, { steps: failing })))).to.include('error share')
  })

  it('new pattern, error share: lines without a level whose words tell that they are errors, or warnings', () => {
    const lines = (from: number, to: number, pattern: string) =>
      Array.from({ length: to - from }, (_, slot) =>
        Array.from({ length: 10 }, (_, n) =>
          plain(START_MS + (from + slot) * SLOT_MS + n * 1_000, { pattern: n < 5 ? pattern : '<*> INFO tick' }),
        ),
      ).flat()
    const before = lines(0, 28, '<*> INFO order stored')
    expect(names(foundAfter(lines(28, 31, '<*> ERROR order lost'), before))).to.have.members(['new pattern', 'error share'])
    expect(names(foundAfter(lines(28, 31, '<*> INFO order lost'), before))).to.deep.equal([])
    expect(names(foundAfter(lines(28, 31, '<*> WARN queue is long'), before))).to.deep.equal(['new pattern'])
    const json = (level: string) => buildPattern(`{"level":${level},"msg":"order lost"}`).text.replaceAll('"', '\\"')
    for (const level of ['"error"', '50']) expect(names(foundAfter(lines(28, 31, json(level)), before))).to.include('error share')
    for (const level of ['"info"', '30']) expect(names(foundAfter(lines(28, 31, json(level)), before))).to.deep.equal([])
  })

  it('delay: longer pauses between two statements of a visit', () => {
    const slow = [STEPS[0]!, { ...STEPS[1]!, afterMs: 3_000 }, STEPS[2]!]
    const found = foundAfter(traffic(28, 31, { steps: slow }))
    expect(names(found)).to.deep.equal(['delay'])
    expect(found[0]!.text).to.match(/^slower from "order received" to "seat reserved": /)
  })

  it('no delay of less than a tenth of a second, however unusual', () => {
    expect(foundAfter(traffic(28, 31, { steps: [STEPS[0]!, { ...STEPS[1]!, afterMs: 100 }, STEPS[2]!] }))).to.deep.equal([])
  })

  it('a finding shows in three records, as many as make an incident', () => {
    const slow = [STEPS[0]!, { ...STEPS[1]!, afterMs: 3_000 }, STEPS[2]!]
    const found = foundAfter([...traffic(28, 30, { steps: slow }), ...traffic(30, 31)])
    expect(found).to.have.length.of.at.least(RECORDS_SHOWN)
    expect(new Set(found.slice(0, RECORDS_SHOWN).map(({ text }) => text))).to.have.length(1)
  })

  describe('say nothing of a service that is not known for ten minutes', () => {
    it('to the half minute', () => {
      const failing = [...STEPS, { pattern: 'disk odd', level: 'WARN' as const }]
      const since = (slot: number) => foundAfter([...traffic(20, 22, { steps: failing }), ...traffic(22, 23)], traffic(slot, 20))
      expect(since(1)).to.deep.equal([])
      expect(names(since(0))).to.deep.equal(['new pattern'])
    })

    it('however odd it is', () => {
      const signals = new ServiceSignals()
      const failing = [{ pattern: 'boom', level: 'ERROR' as const }]
      expect(findingsOf(signals, [...traffic(0, 19), ...traffic(19, 21, { steps: failing, perSlot: 100 })])).to.deep.equal([])
    })

    it('nor of one that comes back after a pause', () => {
      const signals = new ServiceSignals()
      findingsOf(signals, traffic(0, 28))
      expect(findingsOf(signals, traffic(100, 104, { steps: STEPS.slice(0, 1) }))).to.deep.equal([])
    })

    it('nor of a few records', () => {
      const signals = new ServiceSignals()
      const lone = Array.from({ length: 40 }, (_, slot) => visit(START_MS + slot * SLOT_MS)).flat()
      const failing = visit(START_MS + 40 * SLOT_MS, [{ pattern: 'boom', level: 'ERROR' }])
      expect(findingsOf(signals, [...lone, ...failing, ...visit(START_MS + 41 * SLOT_MS)])).to.deep.equal([])
    })
  })

  it('a record of another time counts for nothing; many in a row begin anew', () => {
    const signals = new ServiceSignals()
    findingsOf(signals, traffic(0, 28))
    const year = 365 * 86_400_000
    expect(signals.observe(plain(START_MS + year, STEPS[0]!))).to.equal(undefined)
    expect(signals.observe(plain(START_MS - year, STEPS[0]!))).to.equal(undefined)
    expect(names(findingsOf(signals, traffic(28, 31, { steps: STEPS.slice(0, 2) })))).to.deep.equal(['pattern rate'])
    const later = Array.from({ length: 20 }, () => signals.observe(plain(START_MS + year, STEPS[0]!)))
    expect(later.filter(found => found === undefined)).to.have.length(19)
  })

  it('records of a slot may come in any order', () => {
    const signals = new ServiceSignals()
    expect(findingsOf(signals, traffic(0, 28).toReversed())).to.deep.equal([])
  })

  it('take a bounded memory, whatever comes', () => {
    const signals = new ServiceSignals()
    for (let n = 0; n < 20_000; n++)
      signals.observe({
        ...plain(START_MS + n * 10, { pattern: `p${'abcdefghij'[n % 10]}${'klmnopqrst'[(n >> 3) % 10]}` }),
        visitHash: (n >> 4) + 1,
      })
    expect(signals.bytes).to.be.below(100_000)
  })
})
