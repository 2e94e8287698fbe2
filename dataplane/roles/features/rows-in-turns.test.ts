import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createRowTurns } from './rows-in-turns.ts'

describe('requests of many rows', () => {
  const rows = Array.from({ length: 300 }, (_none, at) => at)

  it('of a tenant wait for each other, and tenants get their places by turns', async () => {
    const turns = createRowTurns()
    const order: string[] = []
    const run = (tenant: string) =>
      turns.run(tenant, rows, async portion => {
        if (portion[0] === 0) order.push(tenant)
      })
    await Promise.all([...Array.from({ length: 10 }, () => run('acme')), run('globex')])
    expect(order.indexOf('globex')).to.equal(3)
    expect(order).to.have.lengthOf(11)
  })

  it('are refused with 429 beyond the bound of their tenant, and those of others are not', async () => {
    const turns = createRowTurns()
    let letGo = () => {}
    const held = new Promise<void>(resolve => {
      letGo = resolve
    })
    const run = (tenant: string) =>
      turns
        .run(tenant, rows, () => held)
        .then(
          () => 'done',
          ({ status }) => status,
        )
    const all = Array.from({ length: 33 }, () => run('acme'))
    all.push(run('globex'))
    letGo()
    expect(await Promise.all(all)).to.deep.equal([...Array(32).fill('done'), 429, 'done'])
  })
})
