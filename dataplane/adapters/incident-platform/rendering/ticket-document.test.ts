import { expect } from 'chai'
import { describe, it } from 'mocha'
import { CHECKOUT_INCIDENT } from '../testing/checkout-incident.ts'
import { toPlainText } from './plain-text.ts'
import { describeChange, describeEvent, describeIncident, SHORTEST } from './ticket-document.ts'

const textOf = (document: ReturnType<typeof describeIncident>) => toPlainText([document], { max: 100_000 })

describe('what a ticket shows', () => {
  it('begins with severity and what happened, then says what to do, why, the evidence, the facts and the link', () => {
    const text = textOf(describeIncident(CHECKOUT_INCIDENT))
    expect(text).to.match(/^Critical\. checkout and 2 other services/)
    const order = ['NEXT STEP', 'LIKELY CAUSE', 'EVIDENCE', 'INCIDENT', 'Open the incident: https://'].map(part => text.indexOf(part))
    expect(order)
      .to.deep.equal(order.toSorted((a, b) => a - b))
      .and.not.include(-1)
    for (const part of ['Also affected: payment, orders', 'First anomaly: 2026-11-21 03:02:11 UTC', '316 times: Payment declined'])
      expect(text).to.include(part)
  })

  it('says who found the cause, and when the model was not available', () => {
    const headingOf = (mode: 'rules' | 'llm', fallback: boolean) =>
      describeIncident({ ...CHECKOUT_INCIDENT, cause: { ...CHECKOUT_INCIDENT.cause!, mode, fallback } }).blocks.find(
        block => block.kind === 'heading' && block.text.startsWith('Likely cause'),
      )
    expect(headingOf('rules', false)).to.have.property('text', 'Likely cause')
    expect(headingOf('llm', false)).to.have.property('text', 'Likely cause (by the language model)')
    expect(headingOf('rules', true)).to.have.property('text', 'Likely cause (by the rules; the language model was not available)')
  })

  it('leaves out what is not known, and says what is nothing new', () => {
    const { cause: _, link: __, ...rest } = CHECKOUT_INCIDENT
    const text = textOf(describeIncident({ ...rest, evidence: [], affectedServices: ['checkout'], recurring: true }))
    for (const part of ['LIKELY CAUSE', 'EVIDENCE', 'Also affected', 'Open the incident', 'undefined']) expect(text).to.not.include(part)
    expect(text).to.include('Nothing new for this service')
  })

  it('tells a change by who made it, when, and with which words', () => {
    const change = { actor: 'alice', note: 'Pool enlarged.', at: '2026-11-21T03:16:40.000Z' }
    expect(textOf(describeChange('resolve', { ...CHECKOUT_INCIDENT, change }))).to.match(
      /^Resolved by alice at 2026-11-21 03:16:40 UTC, 14 min 28 s after the first anomaly\.\n\n“Pool enlarged\.”/,
    )
    expect(textOf(describeChange('escalate', { ...CHECKOUT_INCIDENT, change: { actor: 'auto', at: change.at } }))).to.match(
      /^Escalated automatically at 2026-11-21 03:16:40 UTC\./,
    )
  })

  it('tells all there is to a platform that hears of the incident for the first time by a later event', () => {
    const text = textOf(
      describeEvent('escalate', true, { ...CHECKOUT_INCIDENT, change: { actor: 'alice', at: '2026-11-21T03:16:40.000Z' } }),
    )
    expect(text).to.match(/^Escalated by alice/)
    expect(text).to.include('EVIDENCE')
  })

  it('gets shorter where there is little room', () => {
    expect(textOf(describeIncident(CHECKOUT_INCIDENT, SHORTEST)).length).to.be.below(
      textOf(describeIncident(CHECKOUT_INCIDENT)).length / 1.5,
    )
  })
})
