import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Severity } from '../../contract/platforms.ts'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import { buildRequest } from './testing/checkout-incident.ts'
import { toldSeverity } from './told-severity.ts'

interface Case {
  readonly event: TicketEvent
  readonly severity: Severity
  /** The severity that the platform knows; `new`: it does not know the incident. */
  readonly before: Severity | 'new'
  readonly told: Severity
}

describe('how severe a platform is told that an incident is', () => {
  const cases: readonly Case[] = [
    { event: 'open', severity: 'medium', before: 'new', told: 'medium' },
    { event: 'update', severity: 'high', before: 'medium', told: 'high' },
    { event: 'escalate', severity: 'medium', before: 'medium', told: 'critical' },
    { event: 'escalate', severity: 'medium', before: 'new', told: 'high' },
    { event: 'escalate', severity: 'critical', before: 'new', told: 'critical' },
    { event: 'update', severity: 'high', before: 'critical', told: 'critical' },
    { event: 'resolve', severity: 'high', before: 'critical', told: 'critical' },
    { event: 'reopen', severity: 'high', before: 'critical', told: 'high' },
  ]
  for (const { event, severity, before, told } of cases)
    it(`${event} of ${severity}, told before: ${before}; now ${told}`, () => {
      const ticket = before === 'new' ? {} : { ticket: { externalId: 'x', memory: { severity: before } } }
      expect(toldSeverity(buildRequest('slack', { event, content: { severity }, ...ticket }))).to.equal(told)
    })
})
