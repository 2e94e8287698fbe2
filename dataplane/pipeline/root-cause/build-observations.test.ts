import { expect } from 'chai'
import { describe, it } from 'mocha'
import { collectGarbage } from '../../memory/give-back-garbage.ts'
import { type Fields, ObservationBuilder, type StoredRecord } from './build-observations.ts'

const RECORDS = 20_000
const PAGE = 1_000
const RECORDS_OF_A_TRACE = 4
/** Memory of an observation beside the texts of others: its object, its two ids. */
const MAX_BYTES = 320
/** V8 keeps code that ran once, as that of a program's start, until its fifth collection: 5 MB in a process that runs this suite alone. */
const COLLECTIONS = 8

/** As they come from the store: each with texts of its own. */
function page(from: number, size: number): readonly { readonly source: StoredRecord; readonly fields: Fields }[] {
  const hits = Array.from({ length: size }, (_none, i) => ({
    source: {
      time_unix_nano: `${1_767_225_600_000_000_000n + BigInt(from + i)}`,
      service: 'payments-service',
      trace_id: `${Math.floor((from + i) / RECORDS_OF_A_TRACE)}`.padStart(32, 'a'),
      span_id: `${from + i}`.padStart(16, '0'),
      level: 'WARN',
      log_id: `${from + i}`.padStart(32, 'b'),
      pattern_id: '0123456789abcdef0123456789abcdef',
      pattern: 'the pool of <*> connections is used up after <*> ms',
    },
    fields: { 'code.namespace': ['com.example.payments.pool.ConnectionPool'], 'code.function': ['takeConnection'] },
  }))
  return JSON.parse(JSON.stringify(hits))
}

function heapUsed(): number {
  for (let times = 0; times < COLLECTIONS; times++) collectGarbage()
  return process.memoryUsage().heapUsed
}

const built = (level: string | undefined, pattern: string) =>
  new ObservationBuilder().build(
    { time_unix_nano: '0', service: 'a', log_id: 'l', pattern_id: 'p', pattern, ...(level !== undefined && { level }) },
    undefined,
  )

describe('observations of stored records', () => {
  it('name the pod, else the host, that wrote them', () => {
    const [{ source }] = page(0, 1) as [ReturnType<typeof page>[number]]
    const instanceOf = (fields: Fields | undefined) => new ObservationBuilder().build(source, fields).instance
    expect(instanceOf({ host: ['node-1'], 'k8s.pod.name': ['orders-0'] })).to.equal('orders-0')
    expect(instanceOf({ host: ['node-1'] })).to.equal('node-1')
    expect([instanceOf(undefined), instanceOf({ host: [7] })]).to.deep.equal([undefined, undefined])
  })

  it('hold equal texts once', () => {
    const build = () => {
      const builder = new ObservationBuilder()
      return Array.from({ length: RECORDS / PAGE }, (_none, k) => page(k * PAGE, PAGE)).flatMap(hits =>
        hits.map(({ source, fields }) => builder.build(source, fields)),
      )
    }
    // Once before, so that what others left is gone, and code is compiled.
    build()
    const before = heapUsed()
    const observations = build()
    const bytes = (heapUsed() - before) / RECORDS
    expect(observations).to.have.length(RECORDS)
    expect(bytes).to.be.within(1, MAX_BYTES)
  }).timeout(20_000)

  it('are errors where a warning names a reason of its own, by the level or by the line alone', () => {
    const isError = (level: string | undefined, pattern: string) =>
      new ObservationBuilder().build(
        { time_unix_nano: '5000000', service: 'a', log_id: 'l', pattern_id: 'p', pattern, ...(level !== undefined && { level }) },
        undefined,
      ).isError
    expect(isError('WARN', 'Too many connections')).to.equal(true)
    for (const level of ['INFO', undefined]) {
      expect(isError(level, '<*> <*> [Warning] Too many connections')).to.equal(true)
      expect(isError(level, '<*> <*> [Warning] Aborted connection')).to.equal(false)
      expect(isError(level, 'Too many connections are closed now')).to.equal(false)
    }
  })

  it('are for those who look for mistakes by their level, or by the line alone, and statements of their own', () => {
    const line = 'time=<*> level=debug msg=<*>'
    expect(
      [built('DEBUG', 'seen'), built('TRACE', 'seen'), built('INFO', line), built(undefined, line)].map(({ isDebug }) => isDebug),
    ).to.deep.equal([true, true, true, true])
    expect([built('INFO', 'seen'), built('ERROR', line)].map(({ isDebug }) => isDebug)).to.deep.equal([undefined, undefined])
    expect(built('INFO', line).template).to.not.equal(built('INFO', 'time=<*> level=info msg=<*>').template)
  })

  it('takes the level of a warning from the record, else from its text', () => {
    const line = '<*> WARN [main] order refused'
    expect(
      [built('WARN', 'seen'), built('INFO', line), built(undefined, '{"level":40,"msg":"order refused"}')].map(
        ({ isWarning }) => isWarning,
      ),
    ).to.deep.equal([true, true, true])
    expect([built('INFO', 'seen'), built('ERROR', line), built('DEBUG', line)].map(({ isWarning }) => isWarning)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('take the first pattern of an id, which a page of patterns may have told before', () => {
    const builder = new ObservationBuilder()
    const record: StoredRecord = { time_unix_nano: '5000000', service: 'a', log_id: 'l', pattern_id: 'p' }
    builder.learnPattern('p', 'ERROR while saving')
    expect(builder.knowsPattern('p')).to.equal(true)
    expect(builder.knowsPattern('q')).to.equal(false)
    expect(builder.build(record, undefined)).to.deep.equal({
      timeMs: 5,
      service: 'a',
      traceId: '',
      spanId: '',
      template: 'while saving',
      isError: true,
      logId: 'l',
      patternId: 'p',
      pattern: 'ERROR while saving',
    })
    expect(builder.build({ ...record, pattern: 'another' }, undefined).pattern).to.equal('ERROR while saving')
    expect(builder.patternCount).to.equal(1)
  })

  it('are errors by their level; a warning is one that names a reason of its own', () => {
    const isError = (level: string, pattern: string) =>
      new ObservationBuilder().build({ time_unix_nano: '0', service: 'a', log_id: 'l', pattern_id: 'p', level, pattern }, undefined).isError
    expect(['FATAL', 'ERROR', 'WARN', 'INFO'].map(level => isError(level, 'slow event loop'))).to.deep.equal([true, true, false, false])
    expect(['WARN', 'INFO'].map(level => isError(level, 'fork: Cannot allocate memory'))).to.deep.equal([true, false])
    expect(['WARN', 'INFO'].map(level => isError(level, 'ERROR no charge'))).to.deep.equal([false, true])
    const kill = 'Memory cgroup out of memory: Killed process <*> (orders)'
    expect(['WARN', 'INFO'].map(level => isError(level, kill))).to.deep.equal([true, true])
  })

  it('are errors, whatever their level, where they tell of a state that lasts', () => {
    const build = (pattern: string) =>
      new ObservationBuilder().build(
        { time_unix_nano: '0', service: 'a', log_id: 'l', pattern_id: 'p', pattern },
        { 'k8s.node.name': ['node-a'] },
      )
    expect([build('vm_memory_high_watermark set').isError, build('memory resource limit alarm cleared').isError]).to.deep.equal([
      true,
      false,
    ])
    expect(build('kernel: [<*>] Out of memory: Killed process <*> (java)').isError).to.equal(true)
    expect(build('nf_conntrack: table full, dropping packet')).to.include({ isError: true, node: 'node-a' })
  })

  it('name the node, or without Kubernetes the host', () => {
    const nodeOf = (fields: Fields) =>
      new ObservationBuilder().build({ time_unix_nano: '0', service: 'a', log_id: 'l', pattern_id: 'p', pattern: 'saved' }, fields).node
    expect(nodeOf({ host: ['orders-0'], 'k8s.node.name': ['node-a'], 'k8s.pod.name': ['orders-0'] })).to.equal('node-a')
    expect(nodeOf({ host: ['vm-7'] })).to.equal('vm-7')
    expect(nodeOf({ host: ['orders-0'], 'k8s.pod.name': ['orders-0'] })).to.equal(undefined)
  })

  it('have their call site before the words', () => {
    const builder = new ObservationBuilder()
    const record: StoredRecord = { time_unix_nano: '0', service: 'a', log_id: 'l', pattern_id: 'p', pattern: 'saved <*>' }
    expect(builder.build(record, { 'logger.name': ['Orders'] }).template).to.equal('Orders saved *')
  })
})
