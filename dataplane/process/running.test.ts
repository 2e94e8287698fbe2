import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { type Running, startTogether } from './running.ts'

describe('something that is started out of parts', () => {
  let done: string[]
  const part = (name: string, end: () => unknown = () => undefined): Running => {
    done.push(`start ${name}`)
    return {
      async stop() {
        done.push(`stop ${name}`)
        await end()
      },
    }
  }
  beforeEach(() => {
    done = []
  })

  it('stops its parts one after the other, the last one first', async () => {
    const running = await startTogether(async keep => {
      keep(part('a'))
      keep('b', name => done.push(`end ${name}`))
      keep(part('c'))
      return { port: 1 }
    })
    expect(running.port).to.equal(1)
    await running.stop()
    expect(done).to.deep.equal(['start a', 'start c', 'stop c', 'end b', 'stop a'])
  })

  it('is stopped once, however often and early it is asked to', async () => {
    const running = await startTogether(async keep => ({ kept: keep(part('a')) }))
    expect(running.stop()).to.equal(running.stop())
    await running.stop()
    await running.stop()
    expect(done).to.deep.equal(['start a', 'stop a'])
  })

  it('leaves nothing behind when it cannot start, and tells why', async () => {
    const failing = startTogether(async keep => {
      keep(part('a'))
      keep(
        part('b', () => {
          throw new Error('b does not stop')
        }),
      )
      throw new Error('no port')
    })
    expect(await failing.catch((error: Error) => error.message)).to.equal('no port')
    expect(done).to.deep.equal(['start a', 'start b', 'stop b', 'stop a'])
  })

  it('stops the other parts although one cannot stop, and says which problem that one had', async () => {
    const running = await startTogether(async keep => {
      keep(part('a'))
      keep(
        part('b', () => {
          throw new Error('b does not stop')
        }),
      )
      return {}
    })
    expect(await running.stop().catch((error: Error) => error.message)).to.equal('b does not stop')
    expect(done.at(-1)).to.equal('stop a')
  })
})
