import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createShortcutRegistry } from './shortcuts.ts'

describe('keyboard shortcuts', () => {
  const setUp = () => {
    const registry = createShortcutRegistry()
    const ran: string[] = []
    const add = (keys: string, name = keys) => registry.add({ keys, description: name, run: () => ran.push(name) })
    const press = (key: string, more: object = {}) => registry.press({ key, modified: false, typing: false, atMs: 0, ...more })
    return { registry, ran, add, press }
  }

  it('run at their key, and at no other', () => {
    const { ran, add, press } = setUp()
    add('j')
    expect([press('j'), press('k')]).to.deep.equal([true, false])
    expect(ran).to.deep.equal(['j'])
  })

  it('do not run while one types, or with Control or Alt held', () => {
    const { ran, add, press } = setUp()
    add('j')
    press('j', { typing: true })
    press('j', { modified: true })
    expect(ran).to.deep.equal([])
  })

  it('of two keys run when the second follows soon', () => {
    const { ran, add, press } = setUp()
    add('g l')
    press('g', { atMs: 0 })
    press('l', { atMs: 5_000 })
    press('g', { atMs: 6_000 })
    press('l', { atMs: 6_500 })
    expect(ran).to.deep.equal(['g l'])
  })

  it('of the page that came last hide those below, until they are removed', () => {
    const { registry, ran, add, press } = setUp()
    add('j', 'list')
    const remove = add('j', 'dialog')
    press('j')
    expect(registry.list().map(({ description }) => description)).to.deep.equal(['dialog'])
    remove()
    press('j')
    expect(ran).to.deep.equal(['dialog', 'list'])
  })
})
