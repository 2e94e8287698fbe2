import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { createToldPrefixes } from './told-prefixes.ts'

const KEY = 'shop/a'
const CONDITIONS = [{ type: 'CollectorAvailable', status: 'True', reason: 'X', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }]

const pipeline = (uid: string, topicPrefix?: string, said?: string) =>
  ({
    metadata: { name: 'a', namespace: 'shop', uid },
    spec: { bus: { topicPrefix: said } },
    status: { conditions: CONDITIONS, topicPrefix },
  }) as unknown as LogPipeline
const DEFAULT = { topicPrefix: 'shop.a.' }

describe('Topic prefixes that were told', () => {
  it('are put back where an older CRD leaves them out', () => {
    const prefixes = createToldPrefixes()
    prefixes.note(KEY, pipeline('1', 'shop.a.'), DEFAULT)
    expect(prefixes.restore(KEY, pipeline('1')).status).to.include(DEFAULT)
    expect(prefixes.restore(KEY, pipeline('1', 'other.')).status).to.include({ topicPrefix: 'other.' })
    expect(prefixes.restore(KEY, pipeline('1')).status, 'as it was seen last').to.include({ topicPrefix: 'other.' })
  })

  it('change with what the resource says, also where they are not kept', () => {
    const prefixes = createToldPrefixes()
    prefixes.note(KEY, pipeline('1', 'shop.a.'), DEFAULT)
    prefixes.note(KEY, pipeline('1', undefined, 'moved.'), { topicPrefix: 'moved.' })
    expect(prefixes.restore(KEY, pipeline('1')).status).to.include({ topicPrefix: 'moved.' })
    prefixes.note('shop/b', pipeline('2', undefined, 'moved.'), { topicPrefix: 'moved.' })
    expect(prefixes.restore('shop/b', pipeline('2')).status).to.include({ topicPrefix: 'moved.' })
  })

  it('are not those of a resource of the same name before, nor of one that the API server kept none of', () => {
    const prefixes = createToldPrefixes()
    prefixes.note(KEY, pipeline('1', 'shop.a.'), DEFAULT)
    prefixes.note('shop/b', pipeline('2'), DEFAULT)
    expect(prefixes.restore(KEY, pipeline('3')).status?.topicPrefix).to.equal(undefined)
    expect(prefixes.restore('shop/b', pipeline('2')).status?.topicPrefix).to.equal(undefined)
    prefixes.forget(KEY)
    expect(prefixes.restore(KEY, pipeline('1')).status?.topicPrefix).to.equal(undefined)
  })
})
