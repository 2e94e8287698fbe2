import { expect } from 'chai'
import { incidentsIndex } from '../../../contract/indices.ts'
import { SearchStoreRefusal, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import type { IndexOutages } from '../index-outages.ts'
import { TenantFailure } from './tenant-failure.ts'
import { createTenantOutages } from './tenant-outages.ts'

describe('tenants whose own indices do not work', () => {
  const away = new SearchStoreUnavailable('no answer')
  const start = ({ redTenants = [], givenUp = false }: { readonly redTenants?: readonly string[]; readonly givenUp?: boolean } = {}) => {
    const isRed = new Set(redTenants.map(incidentsIndex))
    const failed: string[] = []
    const outages: IndexOutages = {
      isAny: false,
      skipReason: () => undefined,
      failed: index => void failed.push(index),
      took: () => undefined,
      givenUp: async indices => new Set(givenUp ? indices : []),
      red: async indices => indices.filter(index => isRed.has(index)),
    }
    return { ...createTenantOutages(outages), failed }
  }
  const toBlame = (of: ReturnType<typeof start>, tenants: readonly string[], asked: readonly string[], cause: Error = away) =>
    of.toBlame(new TenantFailure(tenants, cause), new Set(asked))

  it('are those with a red index', async () => {
    expect([...(await start({ redTenants: ['bank'] }).red(['bank', 'shop']))]).to.deep.equal(['bank'])
  })

  it('are to blame where the store refuses what they ask for', async () => {
    expect(await toBlame(start(), ['bank', 'default'], ['bank', 'default'], new SearchStoreRefusal(400, 'no'))).to.deep.equal([
      'bank',
      'default',
    ])
  })

  it('are to blame where the store works for others', async () => {
    expect(await toBlame(start(), ['bank'], ['bank', 'shop'])).to.deep.equal(['bank'])
  })

  it('are not to blame where the store works for nobody, but those with a red index', async () => {
    expect(await toBlame(start(), ['bank', 'shop'], ['bank', 'shop'])).to.deep.equal([])
    expect(await toBlame(start({ redTenants: ['bank'] }), ['bank', 'shop'], ['bank', 'shop'])).to.deep.equal(['bank'])
  })

  it('are the default tenant once its red indices are given up, not before', async () => {
    const waiting = start({ redTenants: ['default'] })
    expect(await toBlame(waiting, ['default'], ['default', 'shop'])).to.deep.equal([])
    expect(waiting.failed).to.deep.equal([incidentsIndex('default')])
    expect(await toBlame(start({ redTenants: ['default'], givenUp: true }), ['default'], ['default'])).to.deep.equal(['default'])
    expect(await toBlame(start(), ['default'], ['default', 'shop'])).to.deep.equal([])
  })
})
