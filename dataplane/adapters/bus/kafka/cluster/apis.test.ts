import type { Connection } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FETCH, PRODUCE } from './apis.ts'

type Callback = (error: Error | null, answer: unknown) => void

/** A connection on which every request ends so. */
const ending = (error: Error | null, answer: unknown) =>
  ({ send: (...args: unknown[]) => (args.at(-1) as Callback)(error, answer) }) as unknown as Connection

describe('requests that are written or read here', () => {
  const late = new Error('Request timed out')
  const requests = {
    Fetch: (connection: Connection) => FETCH[0]!.async(connection, 0, 0, 0, 0, 0, 0, [], [], ''),
    Produce: (connection: Connection) => PRODUCE[0]!.async(connection, 'logs', [], 0, null),
  }
  for (const [name, ask] of Object.entries(requests))
    it(`${name}: resolves with the answer, and rejects with why there is none`, async () => {
      const answer = { errorCode: 0 }
      expect(await ask(ending(null, answer))).to.equal(answer)
      // The library says of a request that was not answered in time: an error, and null.
      for (const none of [null, undefined]) {
        const failure = await (ask(ending(late, none)) as Promise<unknown>).catch((error: unknown) => error)
        expect(failure).to.equal(late)
      }
    })
})
