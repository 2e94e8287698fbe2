import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../object.ts'
import { configMap } from '../testing/resources.ts'
import { isNewer, type ObjectChange, ObjectStore } from './object-store.ts'

const at = (name: string, resourceVersion: string, app = 'web'): KubernetesObject => {
  const object = configMap(name, {}, { app })
  return { ...object, metadata: { ...object.metadata, resourceVersion, uid: `uid-${name}` } }
}
const createStore = () => new ObjectStore({ app: object => [object.metadata.labels?.['app'] ?? ''] })
const names = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.name)

describe('Store', () => {
  it('finds objects by name and by index, also after they change', () => {
    const store = createStore()
    store.put(at('a', '1'))
    store.put(at('b', '2'))
    expect(names(store.byIndex('app', 'web'))).to.deep.equal(['a', 'b'])
    store.put(at('a', '3', 'db'))
    expect(names(store.byIndex('app', 'web'))).to.deep.equal(['b'])
    expect(names(store.byIndex('app', 'db'))).to.deep.equal(['a'])
    store.remove('shop/a')
    expect(store.byIndex('app', 'db')).to.deep.equal([])
    expect(store.get('shop/b')).to.deep.equal(at('b', '2'))
    expect(() => store.byIndex('color', 'red')).to.throw('the store has no index color')
  })

  it('is not set back by an older version', () => {
    const store = createStore()
    store.put(at('a', '10', 'new'))
    store.put(at('a', '9', 'old'))
    expect(names(store.byIndex('app', 'new'))).to.deep.equal(['a'])
  })

  it('holds what a list holds, also where its versions are lower, as after a restore of etcd', () => {
    const changes: ObjectChange[] = []
    const store = createStore()
    for (const name of ['kept', 'gone', 'same']) store.put(at(name, name === 'same' ? '5' : '100', 'new'))
    store.onChange(change => changes.push(change))
    store.beginList()
    store.replace([at('kept', '7', 'old'), at('same', '5', 'new')], '50')
    expect(names(store.list())).to.have.members(['kept', 'same'])
    expect(names(store.byIndex('app', 'old'))).to.deep.equal(['kept'])
    expect(changes.map(({ before, after }) => [before?.metadata.name, after?.metadata.resourceVersion])).to.deep.equal([
      ['gone', undefined],
      ['kept', '7'],
    ])
    store.put(at('kept', '51', 'changed'))
    expect(names(store.byIndex('app', 'changed'))).to.deep.equal(['kept'])
  })

  it('keeps what became known while the list was on its way, and is newer', () => {
    const store = createStore()
    store.put(at('before', '4'))
    store.beginList()
    store.put(at('ours', '12', 'new'))
    store.put(at('made', '13'))
    store.put(at('older', '9'))
    store.replace([at('ours', '8', 'old')], '10')
    expect(names(store.list())).to.have.members(['ours', 'made'])
    expect(names(store.byIndex('app', 'new'))).to.deep.equal(['ours'])
    store.beginList()
    store.replace([at('ours', '8', 'old')], '10')
    expect(names(store.byIndex('app', 'old')), 'the next list is right').to.deep.equal(['ours'])
  })

  it('removes no object that came under the same name later', () => {
    const store = createStore()
    store.put(at('a', '10'))
    store.remove('shop/a', 'another')
    expect(store.size).to.equal(1)
    store.remove('shop/a', 'uid-a')
    expect(store.size).to.equal(0)
  })

  it('tells what changed, and of nothing else', () => {
    const changes: ObjectChange[] = []
    const store = createStore()
    store.put(at('a', '1'))
    store.onChange(change => changes.push(change))
    store.beginList()
    store.replace([at('a', '1'), at('b', '2')], '2')
    store.put(at('b', '3'))
    store.remove('shop/none')
    store.clear()
    expect(changes).to.deep.equal([
      { after: at('b', '2') },
      { before: at('b', '2'), after: at('b', '3') },
      { before: at('a', '1') },
      { before: at('b', '3') },
    ])
  })

  it('compares versions as numbers of any length', () => {
    expect(isNewer('10', '9')).to.equal(true)
    expect(isNewer('9', '10')).to.equal(false)
    expect(isNewer('10', '10')).to.equal(false)
    expect(isNewer('99999999999999999999', '99999999999999999998')).to.equal(true)
  })
})
