import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  deleteView,
  isView,
  MAX_SAVED_VIEWS,
  MAX_VIEW_LENGTH,
  MAX_VIEW_NAME,
  readViews,
  saveView,
  type ViewStorage,
  viewOf,
} from './saved-views.ts'

function storageOf(content: string | null = null): ViewStorage {
  let held = content
  return {
    getItem: () => held,
    setItem: (_, value) => {
      held = value
    },
  }
}

describe('saved views', () => {
  it('come back in the order of their names; one of the same name is replaced', () => {
    const storage = storageOf()
    for (const [name, search] of [['b', '?q=1'], ['a', '?q=2'], [' b ', '?q=3']] as const) expect(saveView(storage, { name, search }).ok).to.equal(true) // biome-ignore format: one line
    expect(readViews(storage)).to.deep.equal([{ name: 'a', search: '?q=2' }, { name: 'b', search: '?q=3' }]) // biome-ignore format: one line
    deleteView(storage, 'a')
    expect(readViews(storage).map(({ name }) => name)).to.deep.equal(['b'])
  })

  it('hold no open record, and are known again in whatever order their parameters stand', () => {
    expect(viewOf('?q=a&record=1&tab=json')).to.equal('?q=a')
    expect(viewOf('?record=1')).to.equal('')
    expect(isView('?q=a&range=3h', '?range=3h&q=a&record=1')).to.equal(true)
    expect(isView('?q=a', '?q=a&range=3h')).to.equal(false)
  })

  it('have a name, and bounds', () => {
    const storage = storageOf()
    for (const [name, search] of [['  ', ''], ['x'.repeat(MAX_VIEW_NAME + 1), ''], ['x', 'y'.repeat(MAX_VIEW_LENGTH + 1)]] as const) // biome-ignore format: one line
      expect(saveView(storage, { name, search })).to.have.property('problem')
    for (let i = 0; i < MAX_SAVED_VIEWS; i++) saveView(storage, { name: String(i), search: '' })
    expect(saveView(storage, { name: 'more', search: '' }))
      .to.have.property('problem')
      .that.includes('delete one')
    expect(saveView(storage, { name: '1', search: '?q' }).ok).to.equal(true)
  })

  it('what cannot be read is no view; a browser that keeps nothing is told of', () => {
    for (const content of ['{', '5', '[1,{"name":1},{"name":"a","search":"?"}]'])
      expect(readViews(storageOf(content)).length, content).to.equal(content.startsWith('[') ? 1 : 0)
    const full: ViewStorage = {
      getItem: () => null,
      setItem: () => {
        throw new Error('QuotaExceededError')
      },
    }
    expect(saveView(full, { name: 'a', search: '' }))
      .to.have.property('problem')
      .that.includes('browser')
  })
})
