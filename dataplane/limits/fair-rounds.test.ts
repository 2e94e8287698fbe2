import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFairRounds } from './fair-rounds.ts'

interface Item {
  readonly owner: string
  readonly part: string
}

/** Rounds of four parts and eight items; each waits until it is told to end. */
function open(work?: (items: readonly Item[]) => readonly { readonly item: Item }[]) {
  const rounds: (readonly Item[])[] = []
  const ends: (() => void)[] = []
  const fair = createFairRounds<Item, { readonly item: Item }>({
    ownerOf: ({ owner }) => owner,
    partOf: ({ part }) => part,
    ...{ maxItems: 8, maxParts: 4 },
    async work(items) {
      rounds.push(items)
      await new Promise<void>(resolve => ends.push(resolve))
      return work?.(items) ?? []
    },
  })
  const end = async () => {
    ends.shift()!()
    await new Promise(setImmediate)
  }
  const names = () => rounds.map(round => round.map(({ owner, part }) => `${owner}${part}`).join(' '))
  return { ...fair, end, names }
}

const items = (owner: string, ...parts: readonly (string | number)[]): readonly Item[] => parts.map(part => ({ owner, part: String(part) }))
/** Whether a promise has ended, and how. */
const endOf = (promise: Promise<unknown>) => {
  const seen: unknown[] = []
  promise.then(
    value => seen.push(value),
    (error: Error) => seen.push(error.message),
  )
  return seen
}

describe('fair rounds', () => {
  it('have some of every owner: few that come behind many are in the next round', async () => {
    const { add, end, names } = open()
    const many = endOf(add(items('a', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)))
    const few = endOf(add(items('b', 1)))
    await end()
    expect(names()).to.deep.equal(['a1 a2 a3 a4', 'b1 a5 a6 a7'])
    await end()
    expect(few).to.deep.equal([[]])
    expect(many).to.deep.equal([])
    await end()
    expect(names().at(-1)).to.equal('a8 a9 a10')
    expect(many).to.deep.equal([[]])
  })

  it('are bounded by parts and by items; items of one owner keep their order', async () => {
    const { add, end, names } = open()
    void add(items('a', 1, 1, 2, 1, 3, 3, 4, 5, 1))
    void add(items('b', ...Array.from({ length: 10 }, () => 1)))
    for (let round = 0; round < 3; round++) await end()
    expect(names()).to.deep.equal(['a1 a1 a2 a1 a3 a3 a4', 'a5 a1 b1 b1 b1 b1 b1 b1', 'b1 b1 b1 b1'])
  })

  it('serve more owners than a round has room for one after the other', async () => {
    const { add, end, names } = open()
    for (const owner of ['a', 'b', 'c', 'd', 'e', 'f']) void add(items(owner, 1, 2))
    for (let round = 0; round < 3; round++) await end()
    expect(names()).to.deep.equal(['a1 a2', 'b1 c1 d1 e1', 'b2 c2 d2 f1', 'e2 f2'])
  })

  it('tell each delivery the findings about its own items', async () => {
    const { add, end } = open(round => round.filter(({ part }) => part === '2').map(item => ({ item })))
    const [first, second] = [endOf(add(items('a', 1, 2))), endOf(add(items('b', 1)))]
    await end()
    await end()
    expect(first).to.deep.equal([[{ item: { owner: 'a', part: '2' } }]])
    expect(second).to.deep.equal([[]])
  })

  it('fail all that waits when one of them fails, and all that comes later', async () => {
    const { add, end, names } = open(() => {
      throw new Error('away')
    })
    const ends = [endOf(add(items('a', 1))), endOf(add(items('b', 1)))]
    await end()
    expect(ends).to.deep.equal([['away'], ['away']])
    expect(await add(items('a', 2)).catch((error: Error) => error.message)).to.equal('away')
    expect(names()).to.deep.equal(['a1'])
  })

  it('are left: the one under way ends, what it does not finish is left undone', async () => {
    const { add, end, leave, names } = open()
    const [done, undone] = [endOf(add(items('a', 1, 2))), endOf(add(items('b', 1)))]
    leave(new Error('left'))
    await new Promise(setImmediate)
    expect([done, undone]).to.deep.equal([[], []])
    await end()
    expect([done, undone]).to.deep.equal([[[]], ['left']])
    void add(items('c', 1))
    await new Promise(setImmediate)
    expect(names()).to.deep.equal(['a1 a2', 'c1'])
  })

  it('leave room for other work in between, never beside it', async () => {
    const { add, end, between, names } = open()
    void add(items('a', 1, 2, 3, 4, 5))
    let finish = () => {}
    const other = endOf(
      between(
        () =>
          new Promise<void>(resolve => {
            finish = resolve
          }),
      ),
    )
    await end()
    expect(names()).to.deep.equal(['a1 a2 a3 a4'])
    finish()
    await new Promise(setImmediate)
    expect(other).to.deep.equal([undefined])
    expect(names()).to.deep.equal(['a1 a2 a3 a4', 'a5'])
  })
})
