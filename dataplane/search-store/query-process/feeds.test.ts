import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { FeedMessage, IndexFeed } from '../storage/index-feed.ts'
import { Feeds } from './feeds.ts'
import type { ToProcess } from './messages.ts'
import type { QueryProcess } from './query-process.ts'

const HEAD: FeedMessage['head'] = { kind: 'red' } as FeedMessage['head']

/** An index with news. */
function createIndex(isOfLog: boolean) {
  const state = { news: 1 }
  const feed = (): IndexFeed => ({
    isOfLog,
    next: () => Array.from({ length: state.news-- > 0 ? 1 : 0 }, () => ({ head: HEAD, bytes: [] })),
    reset: () => undefined,
    close: () => undefined,
  })
  return { feed, state }
}

/** A process that takes messages, and these by kind and handle. */
function recorded() {
  const sent: string[] = []
  const process: Pick<QueryProcess, 'send'> = {
    send(message: ToProcess) {
      sent.push(`${message.kind} ${'handle' in message ? message.handle : 'handles' in message ? message.handles.join() : ''}`)
      return true
    },
  }
  return { sent, process: process as QueryProcess }
}

describe('what the query process is told', () => {
  it('goes on without a query for log indices that users have asked for lately', () => {
    const { sent, process } = recorded()
    const feeds = new Feeds(process)
    const [asked, inBackground, table] = [createIndex(true), createIndex(true), createIndex(false)]
    feeds.bringUp(inBackground, true)
    expect(feeds.hasFollowed).to.equal(false)
    feeds.bringUp(asked)
    feeds.bringUp(table)
    expect(feeds.hasFollowed).to.equal(true)
    sent.length = 0
    feeds.follow()
    expect(sent).to.deep.equal([])
    for (const { state } of [asked, inBackground, table]) state.news = 1
    feeds.follow()
    expect(sent).to.deep.equal(['told 2', 'follow 2'])
    feeds.forgetOthers([inBackground, table])
    expect(feeds.hasFollowed).to.equal(false)
  })

  it('leaves out an index that was deleted, however many others there are that it never heard of', () => {
    const { sent, process } = recorded()
    const feeds = new Feeds(process)
    feeds.bringUp(createIndex(true))
    feeds.forgetOthers([createIndex(true), createIndex(false)])
    expect(sent).to.deep.equal(['told 1', 'forget 1'])
  })

  it('begins with log indices that the first queries may be about, and no table for their sake', async () => {
    const { sent, process } = recorded()
    const feeds = new Feeds(process)
    await feeds.warmUp([createIndex(true), createIndex(false), createIndex(true)])
    expect(sent).to.deep.equal(['told 1', 'told 3', 'warmUp 1,3'])
    expect(feeds.hasFollowed).to.equal(false)
    await feeds.warmUp([createIndex(false)])
    expect(sent).to.have.lengthOf(3)
  })
})
