import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type QueryTurn, TurnQueue } from './turn-queue.ts'

const TURN_MS = 8

/** A queue whose clock goes on by eight milliseconds in each turn, and the order of its turns. */
function countedTurns() {
  let nowMs = 0
  const order: number[] = []
  const queue = new TurnQueue({ began: () => undefined, ended: () => undefined }, () => nowMs)
  /** Takes so many turns. */
  const work = async (turn: QueryTurn, turns: number): Promise<void> => {
    for (let at = 0; at < turns; at++) {
      await turn.next()
      order.push(turn.query)
      nowMs += TURN_MS
    }
  }
  return { queue, order, work }
}

/** Turns of others before the last one of a query. */
const ofOthers = (order: readonly number[], query: number): number =>
  order.slice(0, order.lastIndexOf(query)).filter(each => each !== query).length

describe('the turns of queries', () => {
  it('go to a short query first, however many long ones run', async () => {
    const { queue, order, work } = countedTurns()
    const long = Array.from({ length: 20 }, (_none, at) => work(queue.begin(100 + at), 40))
    await work(queue.begin(1), 100)
    order.length = 0
    await work(queue.begin(2), 3)
    expect(ofOthers(order, 2)).to.be.at.most(20)
    await Promise.all(long)
  })

  it('go to queries of users before those that nobody waits for, which get theirs all the same', async () => {
    const { queue, order, work } = countedTurns()
    const others = Array.from({ length: 10 }, (_none, at) => work(queue.begin(100 + at, true), 40))
    await work(queue.begin(1), 5)
    expect(ofOthers(order, 1)).to.be.at.most(1)
    const long = work(queue.begin(2), 200)
    await Promise.all(others)
    expect(order.filter(query => query === 2).length).to.be.lessThan(200)
    await long
  })

  it('are not fewer for a query that has done work for all: it comes before those that have used as much for themselves', async () => {
    const { queue, order, work } = countedTurns()
    const others = Array.from({ length: 8 }, (_none, at) => work(queue.begin(100 + at), 60))
    const turn = queue.begin(1)
    turn.isForAll = true
    await work(turn, 50)
    turn.isForAll = false
    order.length = 0
    await work(turn, 3)
    expect(ofOthers(order, 1)).to.be.at.most(8)
    await Promise.all(others)
  })
})
