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

describe('what the query process is told', () => {
  it('goes on without a query for log indices that users have asked for lately', () => {
    const sent: string[] = []
    const process: Pick<QueryProcess, 'send'> = {
      send(message: ToProcess) {
        sent.push(`${message.kind} ${'handle' in message ? message.handle : ''}`)
        return true
      },
    }
    const feeds = new Feeds(process as QueryProcess)
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
})
