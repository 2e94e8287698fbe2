import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readableText } from './readable-text.ts'

describe('readable text of a message', () => {
  it('of a JSON object the fields for messages and errors', () => {
    expect(readableText('{"level":"error","msg":"no charge","ts":1}')).to.equal('no charge')
    expect(
      readableText('{"message":"operation failed","error":{"type":"Error","message":"disk full","cause":{"message":"errno 28"}}}'),
    ).to.equal('operation failed: disk full: errno 28')
    expect(readableText('{"msg":"no charge: refused","err":"refused"}')).to.equal('no charge: refused')
  })

  it('has no colours of a terminal', () => {
    expect(readableText('\u001b[31mERROR\u001b[0m no charge')).to.equal('ERROR no charge')
    expect(readableText('{"msg":"\\u001b[31mno charge\\u001b[0m"}')).to.equal('no charge')
  })

  it('anything else as it is, cut', () => {
    for (const text of ['no charge', '', '{broken', '{"a":1}', '[1]', 'null']) expect(readableText(text)).to.equal(text)
    expect(readableText('x'.repeat(5_000))).to.have.length(1_024)
    expect(readableText(`{"msg":"${'x'.repeat(50_000)}"}`)).to.have.length(1_024)
    expect(readableText(`${'{"error":'.repeat(1_000)}"deep"${'}'.repeat(1_000)}`)).to.have.length(1_024)
  })
})
