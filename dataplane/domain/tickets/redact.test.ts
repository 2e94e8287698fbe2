import { expect } from 'chai'
import { describe, it } from 'mocha'
import { redact } from './redact.ts'

describe('texts without secrets', () => {
  it('hold them neither plain nor as they stand in addresses and JSON', () => {
    const secret = 'p"ss/w rd'
    const text = `${secret} ${encodeURIComponent(secret)} ${JSON.stringify({ secret })}`
    expect(redact(text, [secret])).to.equal('**** **** {"secret":"****"}')
  })

  it('hold nothing of a secret that another one is a part of', () => {
    expect(redact('key-1234-more key-1234', ['key-1234', 'key-1234-more'])).to.equal('**** ****')
  })

  it('are left alone by secrets that are too short to be any', () => expect(redact('abc', ['', 'b'])).to.equal('abc'))
})
