import { expect } from 'chai'
import kafkajs from 'kafkajs'
import { beforeEach, describe, it } from 'mocha'
import { retryPassing } from './kafkajs-errors.ts'

describe('errors of kafkajs that pass', () => {
  const timedOut = new kafkajs.KafkaJSRequestTimeoutError('timed out', {} as never)
  const refused = new kafkajs.KafkaJSNonRetriableError('refused')
  const leaderMoves = new kafkajs.KafkaJSProtocolError({ type: 'NOT_LEADER_FOR_PARTITION' } as never)
  let nowMs: number
  const clock = {
    nowMs: () => nowMs,
    async sleep(ms: number) {
      nowMs += ms
    },
  }
  beforeEach(() => {
    nowMs = 0
  })

  /** Rejects with each of `errors`, then resolves; gives the number of attempts too. */
  async function attempt(errors: readonly Error[], ms: number) {
    let attempts = 0
    const work = async () => {
      const error = errors[attempts++]
      if (error !== undefined) throw error
      return 'done'
    }
    const outcome = await retryPassing(clock, ms, work).catch((error: unknown) => error)
    return { outcome, attempts }
  }

  it('are tried again: moves of leaders, and requests that a busy broker did not answer in time', async () => {
    const wrapped = new Error('gave up', { cause: timedOut })
    expect(await attempt([leaderMoves, timedOut, wrapped], 1_000)).to.deep.equal({ outcome: 'done', attempts: 4 })
  })

  it('are not tried again after the deadline, others never', async () => {
    expect(await attempt(Array(10).fill(timedOut), 300)).to.deep.equal({ outcome: timedOut, attempts: 4 })
    expect(await attempt([refused], 1_000)).to.deep.equal({ outcome: refused, attempts: 1 })
  })
})
