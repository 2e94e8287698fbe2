import { expect } from 'chai'
import { describe, it } from 'mocha'
import { LEVELS, type Level } from '../records/level.ts'
import { explainScore, type ScoredRecord, scoreRecord } from './scoring.ts'

function record(level: Level, message: string, features: Partial<ScoredRecord> = {}): ScoredRecord {
  return {
    level,
    message,
    ml_error_rate_1h: 0,
    ml_p99_latency_1h: 0,
    ml_request_rate_1h: 0,
    ml_anomaly_history_count: 0,
    ...features,
  }
}

describe('anomaly scoring algorithm', () => {
  it('a worked case: an ERROR record with a message matching no pattern and ml_error_rate_1h = 0.30 scores 0.55', () => {
    expect(scoreRecord(record('ERROR', 'cannot load the cart', { ml_error_rate_1h: 0.3 }))).to.equal(0.55)
  })

  it('0.3 + 0.2 is 0.5', () => expect(scoreRecord(record('ERROR', 'timeout'))).to.equal(0.5))

  describe('base score by severity', () => {
    const expected: Record<Level, number | undefined> = { TRACE: undefined, DEBUG: undefined, INFO: 0, WARN: 0.1, ERROR: 0.3, FATAL: 0.5 }
    for (const level of LEVELS)
      it(`${level}: ${expected[level] ?? 'skipped'}`, () => expect(scoreRecord(record(level, 'quiet'))).to.equal(expected[level]))
  })

  describe('pattern boost, by regular expression on the message', () => {
    const cases = [
      {
        boost: 0.3,
        messages: [
          'java.lang.OutOfMemoryError: heap',
          'OOM',
          'OOMKilled',
          'oom-killer invoked',
          'container was oom killed',
          'out of memory',
        ],
      },
      { boost: 0.2, messages: ['timeout', 'Read timed out', 'SocketTimeoutException', 'TIMED OUT'] },
      { boost: 0.2, messages: ['Connection refused', 'connect: connection refused'] },
      { boost: 0.25, messages: ['NPE in handler', 'java.lang.NullPointerException', 'segfault at 0', 'Segmentation fault (core dumped)'] },
      { boost: 0.3, messages: ['disk full', 'Disk is full'] },
      { boost: 0.15, messages: ['SSL handshake', 'tls: bad certificate', 'no TLS.'] },
      {
        boost: 0,
        messages: [
          'boom',
          'zoom in',
          'unpeeled',
          'subtlsx',
          'hassle',
          'runtime output',
          'the disk is half full',
          'default',
          'fully done',
          '',
        ],
      },
    ]
    for (const { boost, messages } of cases)
      for (const message of messages)
        it(`${JSON.stringify(message)}: +${boost}`, () => expect(scoreRecord(record('INFO', message))).to.equal(boost))

    it('every class counts at most once', () => expect(scoreRecord(record('INFO', 'timeout, timeout: timed out'))).to.equal(0.2))
    it('classes add up', () => expect(scoreRecord(record('INFO', 'OOM after timeout'))).to.equal(0.5))
    it('a long message is searched to its end: the last cause of a long stack trace counts', () => {
      const trace = '\tat org.example.web.Dispatcher.dispatch(Dispatcher.java:1067)\n'.repeat(10_000)
      expect(scoreRecord(record('ERROR', `OOM\n${trace}Caused by: java.net.ConnectException: Connection refused`))).to.equal(0.8)
    })
  })

  describe('ML boost', () => {
    const cases = [
      { name: 'ml_error_rate_1h = 0.10', features: { ml_error_rate_1h: 0.1 }, expected: 0 },
      { name: 'ml_error_rate_1h > 0.10', features: { ml_error_rate_1h: 0.11 }, expected: 0.15 },
      { name: 'ml_error_rate_1h > 0.25: the higher applies', features: { ml_error_rate_1h: 0.26 }, expected: 0.25 },
      { name: 'ml_p99_latency_1h = 2000', features: { ml_p99_latency_1h: 2_000 }, expected: 0 },
      { name: 'ml_p99_latency_1h > 2000', features: { ml_p99_latency_1h: 2_001 }, expected: 0.1 },
      { name: 'ml_anomaly_history_count = 2', features: { ml_anomaly_history_count: 2 }, expected: 0 },
      { name: 'ml_anomaly_history_count > 2', features: { ml_anomaly_history_count: 3 }, expected: 0.1 },
      { name: 'all', features: { ml_error_rate_1h: 1, ml_p99_latency_1h: 9_999, ml_anomaly_history_count: 9 }, expected: 0.45 },
    ]
    for (const { name, features, expected } of cases)
      it(`${name}: +${expected}`, () => expect(scoreRecord(record('INFO', 'quiet', features))).to.equal(expected))
  })

  it('the final score is capped at 1.0', () => {
    const everything = 'OOM timeout connection refused NPE disk full SSL'
    expect(scoreRecord(record('FATAL', everything, { ml_error_rate_1h: 1 }))).to.equal(1)
  })

  it('says what fired', () => {
    expect(explainScore(record('ERROR', 'Read timed out', { ml_error_rate_1h: 0.3 }))).to.deep.equal([
      'level ERROR: +0.3',
      'message matches timeout: +0.2',
      'ml_error_rate_1h > 0.25: +0.25',
    ])
  })
})
