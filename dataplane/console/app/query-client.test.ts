import { QueryObserver } from '@tanstack/react-query'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { describeFailure, RequestProblem } from '../api/problem.ts'
import { createQueryClient } from './query-client.ts'

const REFUSED = new RequestProblem(describeFailure('/api/incidents', { kind: 'status', status: 400, error: 'bad' }))

describe('the reading of pages', () => {
  it('a failure stays told while the same is read again, until there is an answer', async () => {
    const client = createQueryClient()
    let answer = Promise.reject<string>(REFUSED)
    const query = new QueryObserver(client, { queryKey: ['incidents'], queryFn: () => answer })
    const stop = query.subscribe(() => undefined)
    try {
      await query.refetch()
      expect(query.getCurrentResult()).to.include({ status: 'error', error: REFUSED })

      const later = Promise.withResolvers<string>()
      answer = later.promise
      const again = query.refetch()
      expect(query.getCurrentResult()).to.include({ status: 'error', error: REFUSED, fetchStatus: 'fetching' })
      later.resolve('the list')
      await again
      expect(query.getCurrentResult()).to.include({ status: 'success', error: null, data: 'the list' })
    } finally {
      stop()
      client.clear()
    }
  })
})
