import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFindNamed } from './named-service.ts'

const SERVICES = ['gateway', 'payments', 'payments-api', 'User-Service', 'ui', 'orders_db']
const find = createFindNamed(SERVICES)
const named = (message: string, speaker = 'gateway') => SERVICES[find(message, SERVICES.indexOf(speaker)) ?? -1]

describe('the service that a message names', () => {
  it('is found as a word, whatever its case and separators', () => {
    expect(named('call to payments failed: 503')).to.equal('payments')
    expect(named('GET http://payments:<*>/charge refused')).to.equal('payments')
    expect(named('user service does not answer')).to.equal('User-Service')
    expect(named('cannot reach orders-db')).to.equal('orders_db')
  })
  it('is found where the words around it have no spaces between them', () => {
    expect(named('调用payments失败')).to.equal('payments')
    expect(named('paymentsへの接続がタイムアウトしました')).to.equal('payments')
    expect(named('payments에 연결할 수 없습니다')).to.equal('payments')
    expect(named('payments nicht erreichbar: Zeitüberschreitung')).to.equal('payments')
  })
  it('is the one with the longest name', () => {
    expect(named('payments-api timed out')).to.equal('payments-api')
  })
  it('is never the speaker, nor a part of a word, nor a name of two letters', () => {
    expect(named('gateway failed')).to.equal(undefined)
    expect(named('gateway: payments failed')).to.equal('payments')
    expect(named('repayments are late in the ui')).to.equal(undefined)
    expect(named('')).to.equal(undefined)
  })
})
