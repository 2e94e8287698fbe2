/** The contract of every ticket platform behind the port; run against servers that keep the contracts of the platforms. */
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { PlatformName } from '../../../contract/platforms.ts'
import type { TicketContent } from '../../../domain/tickets/ticket-content.ts'
import { TICKET_EVENTS, type TicketEvent } from '../../../domain/tickets/ticket-event.ts'
import type { ConnectionTest, ExternalTicket, IncidentPlatform, TicketRequest } from '../../../ports/incident-platform.ts'
import { eventReference } from '../event-reference.ts'
import { buildRequest, HOSTILE_INCIDENT } from './checkout-incident.ts'
import { sendPatiently } from './send-patiently.ts'

/** Faults that the server behind the platform can be told to have, each once. */
export type ServerFault =
  | { readonly kind: 'failure' }
  | { readonly kind: 'reset'; readonly afterAccepting: boolean }
  | { readonly kind: 'rate-limit'; readonly retryAfter: 'seconds' | 'date' | 'absent'; readonly seconds?: number }

export interface PlatformUnderTest {
  readonly platform: IncidentPlatform
  /** Fields of the target. */
  readonly fields: object
  /** Fields that replace the right ones, and that the server refuses. */
  readonly wrong: object
  /** Lets that time go by; by default what rate limits count. */
  rest(ms?: number): void
  fault(fault: ServerFault): void
  /** All that the server holds; the newest ticket first. */
  tickets(): readonly unknown[]
  /** How the newest ticket stands, in the platform's words; undefined where there is no such thing. */
  status(): string | undefined
  stop(): Promise<void>
}

export interface SuiteConfig {
  readonly name: PlatformName
  start(): Promise<PlatformUnderTest>
  /** The platform's status after each event; absent for a platform that only passes messages on. */
  readonly statuses?: Readonly<Partial<Record<TicketEvent, string>>>
  /** False for a platform that cannot be asked what it has: a repeated message is there twice, and says so. */
  readonly isOnce: boolean
  /** Its notes carry the reference of their event. */
  readonly hasReferences: boolean
  /** A test of the connection leaves so many tickets. */
  readonly ticketsOfTest: number
  readonly hasRetryAfter: boolean
  /** False for a platform that has no way to say words without calling people. Default: it has one. */
  readonly takesComments?: boolean
}

const CHANGE = { actor: 'alice', note: 'Pool enlarged.', at: '2026-11-21T03:16:40.000Z' }
/** The way of an incident; a resolved one is opened again. */
const LIFE = ['open', 'update', 'acknowledge', 'escalate', 'comment', 'resolve', 'reopen'] as const satisfies readonly TicketEvent[]

export function describeIncidentPlatform({
  name,
  start,
  statuses,
  isOnce,
  hasReferences,
  ticketsOfTest,
  hasRetryAfter,
  takesComments = true,
}: SuiteConfig): void {
  describe(`platform ${name}`, () => {
    let under: PlatformUnderTest
    beforeEach(async () => {
      under = await start()
    })
    afterEach(() => under.stop())

    const requestOf = (event: TicketEvent, overrides: Parameters<typeof buildRequest>[1] = {}): TicketRequest => {
      const content: Partial<TicketContent> = {
        severity: 'high',
        ...(event === 'open' ? {} : { change: CHANGE, news: ['orders is affected, too.'] }),
      }
      const fields = { ...under.fields, ...overrides.fields }
      return buildRequest(name, { event, ...overrides, content: { ...content, ...overrides.content }, fields })
    }
    const send = (request: TicketRequest) => {
      under.rest()
      return sendPatiently(under.platform, request, under.rest)
    }
    const test = (fields: object): Promise<ConnectionTest> =>
      under.platform.test(requestOf('open', { fields }).target, new AbortController().signal)
    const open = async (): Promise<ExternalTicket> => {
      const outcome = await send(requestOf('open'))
      return outcome.kind === 'delivered' ? outcome.ticket! : expect.fail(outcome.reason)
    }

    it('takes every event of an incident, in its order', async () => {
      expect([...LIFE].sort()).to.deep.equal([...TICKET_EVENTS].sort())
      let ticket: ExternalTicket | undefined
      for (const event of LIFE) {
        // It rises before the update: growth alone is no news to each platform.
        const outcome = await send(requestOf(event, ticket === undefined ? { content: { severity: 'medium' } } : { ticket }))
        expect(outcome, event).to.include({ kind: 'delivered' })
        if (event !== 'comment' || takesComments) expect(outcome, event).to.not.have.property('note')
        else expect(outcome).to.have.property('note').that.includes('left out')
        if (outcome.kind === 'delivered') ticket = outcome.ticket
        const expected = statuses?.[event]
        if (expected !== undefined) expect(under.status(), event).to.equal(expected)
      }
    })

    it('names the ticket by something that people find there', async () => expect((await open()).externalId).to.not.equal(''))

    if (isOnce)
      it('has one ticket when the answer to the opening got lost', async () => {
        under.fault({ kind: 'reset', afterAccepting: true })
        expect(await send(requestOf('open'))).to.include({ kind: 'retryable', isAmbiguous: true })
        expect(await send(requestOf('open', { mayBeThere: true }))).to.include({ kind: 'delivered' })
        expect(under.tickets()).to.have.length(1)
      })

    it('opens the ticket at the second attempt when the first one never arrived', async () => {
      under.fault({ kind: 'reset', afterAccepting: false })
      const first = await send(requestOf('open'))
      expect(first).to.include({ kind: 'retryable' })
      expect(await send(requestOf('open', { mayBeThere: true }))).to.include({ kind: 'delivered' })
      expect(under.tickets()).to.have.length(1)
    })

    it('asks before its first write, and writes nothing where it may not', async () => {
      const seen: number[] = []
      const ask = (answer: boolean) => async () => {
        seen.push(under.tickets().length)
        return answer
      }
      const refused = await send(requestOf('open', { mayBeThere: true, beforeWriting: ask(false) }))
      expect(refused).to.include({ kind: 'retryable' }).and.not.have.any.keys('isAmbiguous', 'isTargetDown')
      expect(under.tickets()).to.have.length(0)
      expect(await send(requestOf('open', { mayBeThere: true, beforeWriting: ask(true) }))).to.include({ kind: 'delivered' })
      expect(seen).to.deep.equal([0, 0])
      expect(under.tickets()).to.have.length(1)
    })

    if (hasReferences)
      for (const event of ['comment', 'acknowledge', 'resolve'] as const)
        it(`writes the note of ${event} once when its answer got lost`, async () => {
          const ticket = await open()
          const request = requestOf(event, { ticket })
          under.fault({ kind: 'reset', afterAccepting: true })
          let outcome = await send(request)
          for (let attempt = 0; outcome.kind === 'retryable' && attempt < 3; attempt++)
            outcome = await send({ ...request, mayBeThere: true })
          expect(outcome).to.include({ kind: 'delivered' })
          expect(JSON.stringify(under.tickets()).split(eventReference(request))).to.have.length(2)
        })

    it('comes to rest after a failure of the platform', async () => {
      under.fault({ kind: 'failure' })
      expect(await send(requestOf('open'))).to.include({ kind: 'retryable' })
      expect(await send(requestOf('open', { mayBeThere: true }))).to.include({ kind: 'delivered' })
      expect(under.tickets()).to.have.length(1)
    })

    if (hasRetryAfter)
      for (const retryAfter of ['seconds', 'date', 'absent'] as const)
        it(`waits as told after 429, Retry-After: ${retryAfter}`, async () => {
          under.fault({ kind: 'rate-limit', retryAfter, seconds: 7 })
          const outcome = await send(requestOf('open'))
          expect(outcome).to.include({ kind: 'retryable' }).and.not.have.property('isAmbiguous')
          if (retryAfter === 'absent') expect(outcome).to.not.have.property('afterMs')
          else expect(outcome).to.have.property('afterMs').that.is.within(6_000, 7_000)
        })

    it('takes text of strangers, and far too much of it', async () => {
      const samples = Array.from({ length: 5 }, (_, n) => ({
        timestamp: '2026-11-21T03:02:11.204Z',
        level: 'ERROR',
        service: 's',
        message: '🚲"<'.repeat(333),
        logId: `l${n}`,
      }))
      const evidence = Array.from({ length: 40 }, () => ({ pattern: '日本'.repeat(5_000), count: 3, samples }))
      const affectedServices = Array.from({ length: 400 }, (_, n) => `service-${n}-${'x'.repeat(100)}`)
      const large = { title: '🚲'.repeat(3_000), sentence: '日'.repeat(20_000), nextAction: '&'.repeat(20_000), evidence, affectedServices }
      for (const content of [HOSTILE_INCIDENT, large, { title: '', sentence: '', nextAction: '', evidence: [], affectedServices: [] }]) {
        const outcome = await send(requestOf('open', { content, ticketKey: `key-${[...content.title].length}` }))
        expect(outcome).to.include({ kind: 'delivered' })
        const ticket = outcome.kind === 'delivered' ? outcome.ticket! : expect.fail()
        expect(
          await send(
            requestOf('comment', {
              ticket,
              ticketKey: `key-${[...content.title].length}`,
              content: { ...content, news: [content.sentence] },
            }),
          ),
        ).to.include({ kind: 'delivered' })
      }
    })

    it('is broken, not down, while its credentials are wrong', async () => {
      const outcome = await send(requestOf('open', { fields: under.wrong }))
      expect(outcome).to.include({ kind: 'rejected', isTargetBroken: true })
      for (const secret of Object.values(under.wrong)) expect(JSON.stringify(outcome)).to.not.include(String(secret))
    })

    it('says whether its settings are right', async () => {
      expect(await test({})).to.include({ ok: true })
      expect(await test(under.wrong)).to.include({ ok: false })
      expect(under.tickets()).to.have.length(ticketsOfTest)
    })

    it('does nothing for a caller that has stopped', async () => {
      const outcome = await under.platform.send(requestOf('open'), AbortSignal.abort())
      expect(outcome).to.include({ kind: 'retryable' }).and.not.have.any.keys('isAmbiguous', 'isTargetDown')
      expect(under.tickets()).to.have.length(0)
    })
  })
}
