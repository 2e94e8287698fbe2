import { expect } from 'chai'
import { describe, it } from 'mocha'
import { rowId, threadId, ticketKey } from './outbox-row.ts'

const INCIDENT = 'a0000000-0000-5000-8000-000000000001'

describe('names of rows', () => {
  it('are the same whoever writes them, and others for each tenant, incident, target and event', () => {
    expect(rowId('acme', INCIDENT, 'slack', 1)).to.equal(rowId('acme', INCIDENT, 'slack', 1))
    const others = [
      rowId('other', INCIDENT, 'slack', 1),
      rowId('acme', 'i2', 'slack', 1),
      rowId('acme', INCIDENT, 'slack:a', 1),
      rowId('acme', INCIDENT, 'slack', 2),
      threadId('acme', INCIDENT, 'slack'),
      rowId('acme', INCIDENT, 'slack', 1),
    ]
    expect(new Set(others).size).to.equal(others.length)
  })

  it("the key of a ticket is the incident's id, with the target's name behind it", () => {
    expect(ticketKey('acme', INCIDENT, 'jira')).to.equal(INCIDENT)
    expect(ticketKey('acme', INCIDENT, 'jira:ops')).to.equal(`${INCIDENT}-ops`)
    expect(ticketKey('acme', 'An id/of others', 'jira')).to.match(/^[a-z0-9-]{36}$/)
    expect(ticketKey('acme', 'x'.repeat(500), `jira:${'n'.repeat(40)}`)).to.match(/^[a-z0-9-]{1,200}$/)
  })
})
