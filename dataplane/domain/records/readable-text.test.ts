import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readableText, withoutHead } from './readable-text.ts'

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

  it('of an error the address that was asked, not that of the request in which it came', () => {
    const url = 'http://payments:8080/charge'
    expect(readableText(`{"msg":"no charge","url":"/orders","error":{"message":"timeout","url":"${url}"}}`)).to.equal(
      `no charge: timeout: ${url}`,
    )
    expect(readableText(`{"message":"no charge","error.message":"timeout","error.url":"${url}"}`)).to.equal(`no charge: timeout: ${url}`)
    expect(readableText('{"msg":"no charge","event":{"url":"/orders"}}')).to.equal('no charge')
  })

  it('anything else as it is, cut', () => {
    for (const text of ['no charge', '', '{broken', '{"a":1}', '[1]', 'null']) expect(readableText(text)).to.equal(text)
    expect(readableText('x'.repeat(5_000))).to.have.length(1_024)
    expect(readableText(`{"msg":"${'x'.repeat(50_000)}"}`)).to.have.length(1_024)
    expect(readableText(`${'{"error":'.repeat(1_000)}"deep"${'}'.repeat(1_000)}`)).to.have.length(1_024)
  })
})

describe('a line without its head', () => {
  const heads = [
    '2026-03-03 04:00:01 ERROR [main] com.shop.Orders: ',
    // Spring Boot, by default: from 2 on, since 3.2 with the name of the application, and as a pattern.
    '2026-11-26T10:00:00.000Z ERROR 1 --- [main] o.s.Class : ',
    '2026-11-26 10:00:00.000  ERROR 4711 --- [nio-8080-exec-1] o.a.c.c.C.[.[.[/].[dispatcherServlet]    : ',
    '2026-11-26T10:00:00.000Z ERROR 1 --- [orders] [           main] [abc-def] c.s.orders.Charge                     : ',
    '<*> ERROR <*> --- [main] c.s.orders.Charge : ',
  ]
  for (const head of heads)
    it(`of ${head}`, () => expect(withoutHead(`${head}no charge: card refused`)).to.equal('no charge: card refused'))

  it('ends with Spring Boot’s logger: what is like one after it belongs to the message', () =>
    expect(withoutHead('2026-11-26T10:00:00.000Z ERROR 1 --- [main] o.s.Class : card.refused: 402')).to.equal('card.refused: 402'))

  it('is the line where its first words are prose', () =>
    expect(withoutHead('the job ended with ERROR 1 --- nothing : done')).to.equal('the job ended with ERROR 1 --- nothing : done'))
})
