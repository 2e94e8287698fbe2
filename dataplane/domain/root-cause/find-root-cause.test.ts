import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, type Line, noise, observation, rootCauseOf, shop, traffic, USUAL } from '../../testing/root-cause-fixture.ts'
import { DETECTOR_NAMES } from './find-root-cause.ts'
import type { Observation } from './observed/observation.ts'

const without = (...lines: readonly string[]) => USUAL.filter(({ says }) => !lines.includes(says))
const slower = (service: string, byMs: number) =>
  USUAL.map(line => (line.service === service ? { ...line, afterMs: line.afterMs + byMs } : line))
const first = (observations: readonly Observation[]) => rootCauseOf(observations).candidates[0]

/** A service without trace ids that says one line five times a minute. */
const batch = (from: number, to: number, isError = (_minute: number) => false, says = (_minute: number) => 'batch done') =>
  Array.from({ length: Math.round((to - from) * 5) }, (_, i) => {
    const minute = from + i / 5
    return observation({ service: 'batch', timeMs: AT_MS + minute * 60_000, pattern: says(minute), isError: isError(minute) })
  })

describe('root cause by rules', () => {
  it('names the callee that goes silent', () => {
    const candidate = first(shop(() => USUAL.filter(({ service }) => service !== 'payments')))
    expect(candidate?.service).to.equal('payments')
    expect(candidate?.reasons[0]).to.include({ kind: 'silence', count: 0 })
  })

  it('names the service whose exception is never logged: a statement of it is missing', () => {
    const { candidates, summary } = rootCauseOf(shop(() => without('order stored')))
    expect(candidates[0]?.service).to.equal('orders')
    expect(candidates[0]?.reasons[0]).to.include({ kind: 'missing', patternId: 'order stored', count: 0, expected: 120 })
    expect(summary).to.match(/^Most likely orders: “order stored” is missing: in 0 of 120 visits, 120 expected; first at 12:00:00 UTC\./)
  })

  const refused: Line = { service: 'orders', says: 'order refused: signature of key march does not hold', afterMs: 5 }
  const asWarnings = (observations: readonly Observation[], says: string) =>
    observations.map(each => (each.pattern === says ? { ...each, isWarning: true } : each))

  it('quotes the new error of a database before the many complaints of others that name it', () => {
    const callers = ['orders', 'stock', 'payments', 'members']
    const said = (service: string, says: string, count: number, afterMs: number) =>
      Array.from({ length: count }, (_, n) =>
        observation({ service, pattern: says, isError: true, timeMs: AT_MS + n * 3_000 + afterMs, logId: `${service} ${n}` }),
      )
    const before = [...callers, 'shop-db'].flatMap(service =>
      Array.from({ length: 200 }, (_, n) =>
        observation({ service, pattern: `${service} works`, timeMs: AT_MS - 600_000 + n * 3_700, logId: `${service} before ${n}` }),
      ),
    )
    const failing = [
      ...callers.flatMap(service =>
        ['one', 'two'].flatMap(name => said(service, `${name} of ${service} failed: shop-db answered 500`, 30, 40)),
      ),
      ...said('shop-db', 'row versions are needed by a question that is cancelled', 14, 0),
    ]
    expect(rootCauseOf([...before, ...failing]).summary).to.match(/^Most likely shop-db: “row versions are needed/)
  })

  it('quotes the new warning of a service before what is counted of it, and before what others say of it', () => {
    const failing = [
      ...without('order stored', 'card charged', 'receipt written', 'order answered'),
      refused,
      {
        service: 'gateway',
        says: 'HTTPError: 401 Client Error: Unauthorized for url: http://orders:8080/place',
        afterMs: 3,
        isError: true,
      },
    ]
    const { candidates } = rootCauseOf(
      asWarnings(
        shop(() => failing),
        refused.says,
      ),
    )
    expect(candidates[0]?.service).to.equal('orders')
    expect(candidates[0]?.reasons[0]?.text).to.match(/^“order refused: signature of key march does not hold” is new: in 120 of 120 visits/)
    // It is as sure as the errors of the callers make it.
    const few = shop(i => (i % 25 === 0 ? failing : USUAL)).map(each => ({ ...each, traceId: '', spanId: '' }))
    expect(rootCauseOf(asWarnings(few, refused.says)).summary).to.match(/^Most likely orders: “order refused/)
  })

  it('does not quote a warning that came before, nor one of trying again', () => {
    const retried: Line = { service: 'orders', says: 'no answer, retrying', afterMs: 5 }
    for (const [line, before] of [
      [refused, [...USUAL, refused]],
      [retried, USUAL],
    ] as const) {
      const observations = [
        ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => before }),
        ...traffic({ from: 0, to: 3, perMinute: 40, lines: () => [...without('order stored'), line] }),
      ]
      const [found] = rootCauseOf(asWarnings(observations, line.says)).candidates
      expect(found?.service).to.equal('orders')
      expect(found?.reasons[0]?.text).to.match(/^“order stored” is missing/)
    }
  })

  it('names the service that tells of pauses, where the next one is the slower by what is measured', () => {
    const paused = (i: number): readonly Line[] => {
      const pause: Line = { service: 'orders', says: '[gc] Pause Full (Ergonomics) <*>M-><*>M(<*>M) <*>ms', afterMs: 1 }
      const late = USUAL.map(line => (line.says === 'card charged' ? { ...line, afterMs: 4_000 } : line))
      return i % 8 === 0 ? late.flatMap(line => (line.says === 'order stored' ? [line, pause] : [line])) : late
    }
    const { candidates } = rootCauseOf(shop(paused))
    expect(candidates[0]?.service).to.equal('orders')
    expect(candidates[0]?.reasons[0]?.text).to.match(/^“\[gc\] Pause Full/)
    expect(rootCauseOf(shop(i => paused(i).filter(({ says }) => !says.includes('Pause')))).candidates[0]?.service).to.equal('payments')
  })

  it('blames no service whose errors stopped, nor those that it calls again', () => {
    const broken = [
      ...without('card charged', 'receipt written', 'order stored'),
      { service: 'orders', says: 'no stock', afterMs: 5, isError: true },
    ]
    const recovered = (hasSpans: boolean) => [
      ...traffic({ from: -15, to: -8, perMinute: 40, lines: () => USUAL, hasSpans }),
      ...traffic({ from: -8, to: -1, perMinute: 40, lines: () => broken, hasSpans }),
      ...traffic({ from: -1, to: 3, perMinute: 40, lines: () => USUAL, hasSpans }),
    ]
    for (const hasSpans of [true, false]) {
      const { summary } = rootCauseOf(recovered(hasSpans))
      expect(summary).to.equal('Nothing in the window differs from the time before.')
      expect(first([...recovered(hasSpans), ...batch(-15, 0)])?.service).to.equal('batch')
    }
    const untraced = recovered(false).map(each => ({ ...each, traceId: '' }))
    expect(rootCauseOf(untraced).summary).to.not.match(/^Most likely/)
    expect(first([...untraced, ...batch(-15, 0)])?.service).to.equal('batch')
  })

  it('takes what came with errors that stopped for nothing new: the time before has it, too', () => {
    const retried = USUAL.flatMap(line => (line.says === 'card charged' ? [line, { ...line, says: 'bank asked again' }] : [line]))
    const late = retried.flatMap(line =>
      line.says === 'bank asked again' ? [line, { ...line, says: 'bank is late: no answer', isError: true }] : [line],
    )
    const { candidates, summary } = rootCauseOf([
      ...traffic({ from: -3, to: 0, perMinute: 40, lines: i => (i % 3 === 0 ? late : USUAL) }),
      ...traffic({ from: 0, to: 1, perMinute: 40, lines: i => (i % 3 === 0 ? retried : i % 6 === 1 ? without('order stored') : USUAL) }),
    ])
    expect(candidates[0]?.service).to.equal('orders')
    expect(summary).to.not.include('bank asked again')
  })

  it('tells what a JSON record lacks, whose pattern has no words, behind what says more', () => {
    const json = USUAL.map(line => (line.service === 'payments' ? { ...line, says: `{"msg":<*>,"at${line.says.length}":<*>}` } : line))
    const broken = json
      .filter(({ says }) => !says.includes('at15'))
      .map(line => (line.service === 'payments' ? { ...line, afterMs: line.afterMs + 400 } : line))
    const { candidates } = rootCauseOf([
      ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => json }),
      ...traffic({ from: 0, to: 3, perMinute: 40, lines: () => broken }),
    ])
    expect(candidates[0]?.service).to.equal('payments')
    expect(candidates[0]?.reasons.map(({ kind }) => kind).slice(0, 2)).to.deep.equal(['delay', 'missing'])
  })

  it('takes no notice of lines of level DEBUG that somebody switched on, or off', () => {
    const chatty = USUAL.flatMap(line => [{ ...line, says: `entering ${line.says}`, afterMs: 0 }, line])
    const marked = (records: readonly Observation[]) =>
      records.map(each => (each.pattern.startsWith('entering') ? { ...each, isDebug: true } : each))
    const [usual, before] = [{ lines: () => USUAL }, { lines: () => chatty }]
    const ofShop = (first: typeof usual, then: typeof usual) =>
      marked([...traffic({ from: -15, to: 0, perMinute: 40, ...first }), ...traffic({ from: 0, to: 3, perMinute: 40, ...then })])
    for (const records of [ofShop(usual, before), ofShop(before, usual)])
      for (const each of [records, records.map(record => ({ ...record, traceId: '' }))])
        expect(rootCauseOf(each).summary).to.not.match(/^(?:Most likely|Perhaps)/)
    const failing = ofShop(usual, { lines: () => chatty.filter(({ service }) => service !== 'payments') })
    expect(first(failing)?.service).to.equal('payments')
  })

  it('takes errors that always came for no more of them because their service does less', () => {
    const lines = (from: number, to: number, perMinute: number, says: string, isError = false) =>
      Array.from({ length: Math.round((to - from) * perMinute) }, (_, i) =>
        observation({ service: 'worker', timeMs: AT_MS + (from + i / perMinute) * 60_000, pattern: says, isError }),
      )
    const { candidates } = rootCauseOf([...shop(() => USUAL), ...lines(-15, 0, 10, 'job done'), ...lines(-15, 3, 2, 'no footer', true)])
    expect(candidates[0]?.service).to.equal('worker')
    expect(candidates[0]?.reasons.map(({ kind }) => kind)).to.not.include('errors')
  })

  it('names the service that says what it never said', () => {
    const broken = USUAL.flatMap(line => (line.says === 'card charged' ? [line, { ...line, says: 'card refused' }] : [line]))
    const candidate = first(shop(i => (i % 2 === 0 ? broken : USUAL)))
    expect(candidate?.service).to.equal('payments')
    expect(candidate?.reasons[0]).to.include({ kind: 'new', patternId: 'card refused', count: 60, expected: 0 })
  })

  it('names the service behind a slow network, and says how slow', () => {
    const candidate = first(shop(() => slower('payments', 400)))
    expect(candidate?.service).to.equal('payments')
    expect(candidate?.reasons[0]?.kind).to.equal('delay')
    expect(candidate?.reasons[0]?.text).to.match(/slower (within payments|from orders to payments): 4\d\d ms between records/)
  })

  it('names a service without trace ids whose share of errors grows', () => {
    const candidate = first([...shop(() => USUAL), ...batch(-15, 3, minute => minute >= 0 && noise(minute) < 0.8)])
    expect(candidate?.service).to.equal('batch')
    expect(candidate?.reasons.map(({ kind }) => kind)).to.include('errors')
  })

  it('names who tells once of a state that lasts', () => {
    const broker = (says: string) => [
      ...Array.from({ length: 90 }, (_, i) =>
        observation({ service: 'broker', timeMs: AT_MS - 900_000 + i * 12_000, pattern: 'accepted' }),
      ),
      observation({ service: 'broker', timeMs: AT_MS + 900, pattern: says, isError: true }),
    ]
    const told = (says: string) => rootCauseOf([...shop(() => USUAL), ...broker(says)]).summary
    expect(told('disk resource limit alarm set on node <*>')).to.match(/^Most likely broker: “disk resource limit alarm set/)
    expect(told('connection closed')).to.not.match(/^Most likely/)
  })

  it('names the queue that all messages of an error were about', () => {
    const failing = (queueOf: (i: number) => string) => [
      ...shop(() => USUAL),
      ...batch(-15, 0),
      ...Array.from({ length: 20 }, (_, i) =>
        observation({ service: 'batch', timeMs: AT_MS + i * 5_000, pattern: 'no such format', isError: true, queue: queueOf(i) }),
      ),
    ]
    expect(rootCauseOf(failing(() => 'orders.v2')).summary).to.match(/^Most likely batch: “no such format” on orders\.v2 is a new error/)
    expect(rootCauseOf(failing(i => `orders.${i % 2}`)).summary).to.match(/^Most likely batch: “no such format” is a new error/)
  })

  it('names the one replica whose errors they are, where the service has others', () => {
    const from = (instanceOf: (i: number) => string) => {
      const records = Array.from({ length: 900 }, (_, i) =>
        observation({ service: 'batch', timeMs: AT_MS - 15 * 60_000 + i * 1_200, instance: `batch-${i % 3}`, pattern: 'batch done' }),
      )
      const errors = Array.from({ length: 12 }, (_, i) =>
        observation({ service: 'batch', timeMs: AT_MS + i * 1_000, instance: instanceOf(i), pattern: 'no space left', isError: true }),
      )
      return first([...shop(() => USUAL), ...records, ...errors])?.reasons[0]?.text
    }
    expect(from(() => 'batch-1')).to.match(/12 times, never before, all in batch-1, one of 3; first at/)
    expect(from(i => `batch-${i % 2}`)).to.match(/12 times, never before; first at/)
  })

  it('names the platform’s reason before the complaints of callers about a service that is gone', () => {
    const gone = shop(() => [
      ...USUAL.filter(({ service }) => service !== 'payments'),
      { service: 'orders', says: 'call to payments failed', afterMs: 5, isError: true },
    ])
    const events = Array.from({ length: 12 }, (_, i) =>
      observation({ service: 'events', timeMs: AT_MS + i * 9_000, pattern: 'Error: ImagePullBackOff: pod payments-0', isError: true }),
    )
    const quiet = Array.from({ length: 100 }, (_, i) =>
      observation({ service: 'events', timeMs: AT_MS - 9_000 * (i + 1), pattern: 'Pulled' }),
    )
    const candidate = first([...gone, ...quiet, ...events])
    expect(candidate?.service).to.equal('payments')
    expect(candidate?.reasons[0]?.text).to.contain('events blames it: “Error: ImagePullBackOff')
  })

  it('names a service without trace ids that goes silent', () => {
    const candidate = first([...shop(() => USUAL), ...batch(-15, 0)])
    expect(candidate?.service).to.equal('batch')
    expect(candidate?.reasons[0]).to.include({ count: 0 })
  })

  it('names a service without trace ids that says something new', () => {
    const candidate = first([...shop(() => USUAL), ...batch(-15, 3, undefined, minute => (minute >= 0 ? 'disk full' : 'batch done'))])
    expect(candidate?.service).to.equal('batch')
    expect(candidate?.reasons.map(({ kind }) => kind)).to.include('new')
  })

  it('works where spans are not named', () => {
    expect(first(shop(() => without('order stored'), false))?.service).to.equal('orders')
    expect(first(shop(() => USUAL.filter(({ service }) => service !== 'payments'), false))?.service).to.equal('payments')
  })

  it('tells first of the errors of a service that requests did not come to before, not that they come to it', () => {
    const failing = USUAL.flatMap(line =>
      line.says === 'card charged' ? [{ service: 'vault', says: 'no space left on device', afterMs: 5, isError: true }, line] : [line],
    )
    const before = observation({ service: 'vault', pattern: 'sealed', timeMs: AT_MS - 800_000 })
    const candidate = first([before, ...shop(() => failing)])
    expect(candidate?.service).to.equal('vault')
    expect(candidate?.reasons.map(({ kind }) => kind)).to.deep.equal(['errors'])
  })

  it('tells first of the errors that a service writes where its requests break off by them, and of a reason of its own before louder lines', () => {
    const says = (message: string) =>
      USUAL.flatMap(line =>
        line.says === 'card charged' ? [{ ...line, says: message, isError: true }] : line.says === 'receipt written' ? [] : [line],
      )
    const visits = shop(i => (i % 3 === 0 ? says('charge failed: read timeout of the bank') : USUAL)).map((each, i) => ({
      ...each,
      spanId: `s${i}`,
    }))
    const refused = rootCauseOf(visits)
    expect(refused.candidates[0]?.service).to.equal('payments')
    expect(refused.candidates[0]?.reasons.map(({ kind }) => kind)).to.include('silence')
    expect(refused.summary).to.match(
      /^Most likely payments: “charge failed: read timeout of the bank” is a new error: 40 times, never before/,
    )
    const heap = (minute: number) =>
      minute < 0 ? 'stock counted' : minute % 0.8 < 0.2 ? 'OutOfMemoryError: Java heap space' : 'collecting garbage'
    const alone = first([...shop(() => USUAL), ...batch(-15, 3, minute => minute >= 0 && minute % 0.8 < 0.2, heap)])
    expect(alone?.service).to.equal('batch')
    expect(alone?.reasons[0]).to.include({ kind: 'errors', patternId: 'OutOfMemoryError: Java heap space' })
    expect(alone?.reasons.map(({ kind }) => kind)).to.include('new')
  })

  it('tells first why a service died, though it said so twice and others complained all the time', () => {
    const dying = shop(() => slower('payments', 400))
    const heap = [60_000, 110_000].map(afterMs =>
      observation({ service: 'payments', pattern: 'java.lang.OutOfMemoryError: Java heap space', timeMs: AT_MS + afterMs, isError: true }),
    )
    const blamed = ['cart', 'web', 'till'].flatMap(service =>
      Array.from({ length: 60 }, (_, i) =>
        observation({ service, pattern: 'cannot reach http://payments:8080: refused', timeMs: AT_MS + i * 2_500, isError: true }),
      ),
    )
    const before = ['cart', 'web', 'till'].flatMap(service =>
      Array.from({ length: 60 }, (_, i) => observation({ service, pattern: 'well', timeMs: AT_MS - 600_000 + i * 9_000 })),
    )
    const candidate = first([...dying, ...heap, ...before, ...blamed])
    expect(candidate?.service).to.equal('payments')
    expect(candidate?.reasons[0]).to.include({ kind: 'errors', patternId: 'java.lang.OutOfMemoryError: Java heap space' })
    expect(candidate?.reasons.length).to.be.greaterThan(1)
  })

  it('tells first that a service was killed for its memory, not that the platform starts it again and again', () => {
    const calm = (service: string) =>
      Array.from({ length: 90 }, (_, i) => observation({ service, pattern: 'well', timeMs: AT_MS - 900_000 + i * 10_000 }))
    const says = (service: string, pattern: string, everyMs: number) =>
      Array.from({ length: 180_000 / everyMs }, (_, i) =>
        observation({ service, pattern, timeMs: AT_MS + 900 + i * everyMs, isError: true }),
      )
    const { summary, candidates } = rootCauseOf([
      ...shop(() => USUAL.filter(({ service }) => service !== 'payments')),
      ...calm('kernel'),
      ...calm('kubelet'),
      ...says('kernel', 'Memory cgroup out of memory: Killed process <*> (java)', 30_000),
      ...says('kubelet', 'Back-off restarting failed container payments in pod payments-<*>', 9_000),
    ])
    expect(summary).to.match(
      /^Most likely payments: kernel tells of it: “Memory cgroup out of memory: Killed process <\*> \(java\)” 6 times/,
    )
    expect(candidates[0]?.reasons.map(({ service }) => service)).to.include('kubelet')
  })

  it('tells first the complaint of a caller about a service, not that it is reached less', () => {
    const refused = { service: 'gateway', says: 'call payments: connection refused', afterMs: 5, isError: true }
    const unpaid = USUAL.filter(({ service }) => service !== 'payments')
    const candidate = first(shop(i => (i % 2 === 0 ? [...unpaid, refused] : unpaid)))
    expect(candidate?.service).to.equal('payments')
    expect(candidate?.reasons[0]?.text).to.match(/^gateway blames it: “call payments: connection refused”/)
    expect(candidate?.reasons[0]?.service).to.equal('gateway')
  })

  it('a service that is alone blames nobody: its errors are its own, whatever they name', () => {
    const says = (minute: number) => (minute < 0 ? 'page shown' : 'page failed: upstream timed out')
    expect(rootCauseOf(batch(-15, 3, minute => minute >= 0, says)).summary).to.match(
      /^Most likely batch: “page failed: upstream timed out” is a new error: 15 times, never before/,
    )
  })

  it('names nobody where all services are heard twice as often: more requests are no fault', () => {
    const untraced = (from: number, to: number, perMinute: number) =>
      traffic({ from, to, perMinute, lines: () => USUAL }).map(each => ({ ...each, traceId: '', spanId: '' }))
    expect(rootCauseOf([...untraced(-15, 0, 30), ...untraced(0, 3, 60)]).summary).to.match(/^Nothing /)
    const oneAlone = untraced(0, 3, 30).flatMap(each => (each.service === 'payments' ? [each, each, each] : [each]))
    expect(rootCauseOf([...untraced(-15, 0, 30), ...oneAlone]).candidates[0]?.service).to.equal('payments')
  })

  it('of two that are about as suspicious the one that is called comes first', () => {
    const { candidates } = rootCauseOf(shop(() => without('order stored', 'receipt written')))
    expect(candidates.map(({ service }) => service).slice(0, 2)).to.deep.equal(['payments', 'orders'])
  })

  it('gives samples of the window that are there, at most 5 of each', () => {
    const observations = shop(() => without('order stored'))
    const ofWindow = observations.filter(({ timeMs }) => timeMs >= AT_MS)
    for (const { reasons } of rootCauseOf(observations).candidates)
      for (const { logIds, traceIds } of reasons) {
        expect(logIds.length).to.be.within(0, 5)
        expect(ofWindow.map(({ logId }) => logId)).to.include.members([...logIds])
        expect(ofWindow.map(({ traceId }) => traceId)).to.include.members([...traceIds])
      }
  })

  describe('a service that is new since the fault', () => {
    const audited = (lines: readonly Line[]) => [...lines.slice(0, 3), { service: 'audit', says: 'noted', afterMs: 3 }, ...lines.slice(3)]
    /** Requests with other lines after a baseline of so many minutes. */
    const since = (minutes: number, perMinute: number, lines: readonly Line[]) => [
      ...traffic({ from: -minutes, to: 0, perMinute, lines: () => USUAL }),
      ...traffic({ from: 0, to: 3, perMinute, lines: () => lines }),
    ]
    const silent = USUAL.filter(({ service }) => service !== 'payments')
    const refused = USUAL.map(line => (line.says === 'card charged' ? { ...line, says: 'card reader is gone', isError: true } : line))

    for (const [minutes, perMinute] of [
      [0.25, 40],
      [1, 6],
      [1, 40],
      [15, 40],
    ] as const) {
      const title = `after ${minutes} min of ${perMinute} requests a minute`
      it(`is not named by being there ${title}`, () => {
        expect(rootCauseOf(since(minutes, perMinute, audited(USUAL))).summary).to.match(/^Nothing stands out/)
      })

      it(`comes after what fails, slows down or goes silent ${title}`, () => {
        for (const lines of [refused, silent, ...(minutes * perMinute > 6 ? [slower('payments', 400)] : [])])
          expect(first(since(minutes, perMinute, audited(lines)))?.service).to.equal('payments')
      })

      it(`is named by its errors ${title}`, () => {
        const failing = audited(USUAL).map(line => (line.service === 'audit' ? { ...line, isError: true } : line))
        expect(rootCauseOf(since(minutes, perMinute, failing)).summary).to.match(/^Most likely audit: /)
      })
    }
  })

  it('says so when the window has no record of the services that were asked for', () => {
    const unseen = 'No record of the services that were asked for lies in the window.'
    const failing = shop(() => [{ service: 'orders', says: 'order lost', afterMs: 5, isError: true }])
    for (const observations of [failing, failing.filter(({ timeMs }) => timeMs >= AT_MS)])
      expect(rootCauseOf(observations, { services: ['nobody', 'none'] })).to.deep.include({ candidates: [], summary: unseen })
    expect(
      rootCauseOf(
        shop(() => USUAL),
        { services: ['nobody', 'orders'] },
      ).summary,
    ).to.match(/^Nothing /)
    // One that went silent is no stranger.
    const silent = shop(() => USUAL.filter(({ service }) => service !== 'payments'))
    expect(rootCauseOf(silent, { services: ['payments'] }).candidates[0]?.service).to.equal('payments')
  })

  it('says perhaps where times without a fault show as much, and most likely beyond', () => {
    const lacking = (share: number) =>
      rootCauseOf(
        shop(i =>
          i % share === 0
            ? without('order stored')
            : i % 40 === 1
              ? [...USUAL, { service: 'gateway', says: 'odd', afterMs: 1, isError: true }]
              : USUAL,
        ),
      )
    expect(lacking(10).summary).to.match(
      /^Perhaps orders: “order stored” is missing: in 105 of 117 visits, 117 expected; first at \S+ UTC\. Times without a fault may show as much\. Errors in the window: gateway 3 \(0 expected\)\./,
    )
    expect(lacking(2).summary).to.match(/^Most likely orders: /)
  })

  it('says so when nothing stands out, when the window is empty, and when there is no time before', () => {
    expect(rootCauseOf(shop(() => USUAL)).summary).to.match(/^Nothing /)
    const empty = rootCauseOf(traffic({ from: -15, to: 0, perMinute: 10, lines: () => USUAL }))
    expect(empty).to.deep.include({ candidates: [], mode: 'rules', fallback: false })
    expect(empty.summary).to.match(/^No records in the window/)
    const alone = rootCauseOf(traffic({ from: 0, to: 3, perMinute: 10, lines: () => USUAL }))
    expect(alone.summary).to.equal('No records before the window: there is nothing to compare it with, and it holds no errors.')
    expect(alone.candidates).to.deep.equal([])
  })

  it('names the service whose visits begin with an error that was never there before', () => {
    const visit = (minute: number) =>
      minute < 0 ? { pattern: 'reserved', isError: false } : { pattern: 'connection refused', isError: true }
    const observations = Array.from({ length: 180 }, (_, i) => {
      const minute = -15 + i / 10
      const id = `${i}`.padStart(32, '0')
      return observation({ service: 'inventory', timeMs: AT_MS + minute * 60_000, traceId: id, ...visit(minute) })
    })
    expect(rootCauseOf(observations).summary).to.equal(
      'Most likely inventory: “connection refused” is a new error: 30 times, never before; first at 12:00:00 UTC.',
    )
  })

  it('ranks the errors of a window that has no time before', () => {
    const failing = [...USUAL.slice(0, 3), { service: 'orders', says: 'disk is full', afterMs: 3, isError: true }]
    const { candidates, summary } = rootCauseOf(traffic({ from: 0, to: 1, perMinute: 20, lines: () => failing }))
    expect(candidates.map(({ service }) => service)).to.deep.equal(['orders'])
    expect(summary).to.match(/nothing to compare it with\. Most of its errors begin in orders: “disk is full” is a new error/)
  })

  it('tells of errors where nothing stands out', () => {
    const { summary } = rootCauseOf(
      shop(i => (i === 7 ? [...USUAL, { service: 'orders', says: 'odd', afterMs: 1, isError: true }] : USUAL)),
    )
    expect(summary).to.match(/^The rules name no clear cause\. Errors in the window: orders 1 \(0 expected\)\. Most unusual is orders: /)
  })

  it('lists no service that differs from the time before by nothing', () => {
    const often = traffic({ from: -60, to: 3, perMinute: 40, lines: i => (i % 40 < 39 ? USUAL : without('order stored')) })
    const once = observation({ service: 'cron', timeMs: AT_MS - 59 * 60_000 })
    const { candidates } = rootCauseOf([once, ...often])
    expect(candidates.map(({ service }) => service)).to.not.include('cron')
    for (const { score, reasons } of candidates) {
      expect(score).to.be.at.least(0.1)
      expect(reasons).to.not.be.empty
      for (const { count, expected } of reasons) expect(count === undefined || count !== expected).to.equal(true)
    }
  })

  it('names at most five services, only of those that are asked for', () => {
    const many = [
      ...shop(() => slower('payments', 300)),
      ...Array.from({ length: 9 }, (_, i) => batch(-15, 0).map(each => ({ ...each, service: `batch ${i}` }))).flat(),
    ]
    expect(rootCauseOf(many).candidates).to.have.length(5)
    expect(rootCauseOf(many, { services: ['orders', 'nobody'] }).candidates.map(({ service }) => service)).to.deep.equal(['orders'])
    expect(rootCauseOf(many, { services: [] }).candidates).to.have.length(5)
  })

  it('is the same in whatever order the records come', () => {
    const observations = [...shop(i => (i % 3 === 0 ? without('order stored') : slower('payments', 50))), ...batch(-15, 1)]
    const expected = rootCauseOf(observations)
    for (const seed of [1, 2, 3]) {
      const shuffled = observations.map((each, i) => ({ each, key: noise(i * seed + seed) })).sort((a, b) => a.key - b.key)
      expect(rootCauseOf(shuffled.map(({ each }) => each))).to.deep.equal(expected)
    }
  })
})

describe('root cause of odd records', () => {
  const odd: readonly Partial<Observation>[] = [
    { timeMs: Number.NaN },
    { timeMs: Number.POSITIVE_INFINITY },
    { timeMs: -1 },
    { timeMs: 1e15 },
    { service: '' },
    { service: '__proto__', template: 'constructor', traceId: 'toString' },
    { pattern: '', template: '', patternId: '', logId: '' },
    { pattern: '\ud800 \0 \u2028', spanId: 'x', traceId: '\ud800' },
  ]
  it('throws on none of them, alone or among others', () => {
    const broken = shop(() => without('order stored'))
    for (const each of odd)
      for (const offset of [-60_000, 0, 60_000]) {
        const record = observation({ timeMs: AT_MS + offset, ...each })
        for (const detectors of [DETECTOR_NAMES, ...DETECTOR_NAMES.map(name => [name])]) {
          rootCauseOf([record], { detectors })
          rootCauseOf([record, record, record], { detectors })
        }
        expect(rootCauseOf([...broken, record]).candidates).to.not.be.empty
      }
  }).timeout(20_000)

  const RECORDS = 50_000
  const hostile: Readonly<Record<string, (i: number) => Partial<Observation>>> = {
    'one trace has them all': () => ({ traceId: 't', spanId: 's', pattern: 'same' }),
    'one trace has them all, each a span of its own': i => ({ traceId: 't', spanId: `${i}`, pattern: 'same' }),
    'one trace has them all, each a template and a service of its own': i => ({ traceId: 't', pattern: `${i}`, service: `s${i}` }),
    'each is a template of its own, without a trace': i => ({ pattern: `${i}`, patternId: `${i}` }),
    'each is a trace and a service of its own': i => ({ traceId: `${i}`, service: `s${i}` }),
    'all come at one time': () => ({ timeMs: AT_MS, traceId: 't' }),
    'two services by turns': i => ({ traceId: `${i % 7}`, service: `s${i % 2}`, pattern: `${i % 5000}` }),
  }
  for (const [title, build] of Object.entries(hostile))
    it(`takes a bounded time when ${title}`, () => {
      const records = Array.from({ length: RECORDS }, (_, i) =>
        observation({ timeMs: AT_MS + (i - RECORDS / 2) * 7, logId: `${i}`, ...build(i) }),
      )
      const startedMs = performance.now()
      rootCauseOf(records)
      expect(performance.now() - startedMs).to.be.below(10_000)
    }).timeout(30_000)
})
