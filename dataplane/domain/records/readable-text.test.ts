import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskMessage } from './pattern.ts'
import { lacksWords, readableText, wordsOfFields } from './readable-text.ts'

describe('readable text of a message', () => {
  it('of a JSON object the fields for messages and errors', () => {
    expect(readableText('{"level":"error","msg":"no charge","ts":1}')).to.equal('no charge')
    expect(
      readableText('{"message":"operation failed","error":{"type":"Error","message":"disk full","cause":{"message":"errno 28"}}}'),
    ).to.equal('operation failed: disk full: errno 28')
    expect(readableText('{"msg":"no charge: refused","err":"refused"}')).to.equal('no charge: refused')
    // Rust's tracing, GELF.
    expect(readableText('{"level":"ERROR","fields":{"message":"no charge","error":"refused"},"target":"shop"}')).to.equal(
      'no charge: refused',
    )
    expect(readableText('{"level":3,"short_message":"no charge"}')).to.equal('no charge')
    // journald, and MongoDB, which puts what happened into `attr`.
    expect(readableText('{"PRIORITY":"3","MESSAGE":"no charge"}')).to.equal('no charge')
    expect(readableText('{"s":"E","c":"STORAGE","msg":"write failed","attr":{"error":28,"message":"disk is full"}}')).to.equal(
      'write failed: disk is full',
    )
  })

  it('of a stack trace, where nothing else tells the error, the exception that caused the others', () => {
    const stack =
      'com.shop.OrderFailed: order 17\n\tat com.shop.Orders.place(Orders.java:8)\nCaused by: java.net.ConnectException: refused\n\tat x'
    expect(readableText(JSON.stringify({ message: 'no order', stack_trace: stack }))).to.include('java.net.ConnectException: refused')
    expect(readableText(JSON.stringify({ message: 'no order', stack_trace: 'com.shop.Gone: cart\n\tat com.shop.Carts' }))).to.equal(
      'no order: com.shop.Gone: cart',
    )
    expect(readableText('{"msg":"no order","error":"refused","stacktrace":"main.handle\\n\\t/src/a.go:17"}')).to.equal('no order: refused')
    expect(readableText('{"msg":"no order","stacktrace":"main.handle\\n\\t/src/a.go:17"}')).to.equal('no order')
  })

  it('of an event of Kubernetes its object as well', () => {
    const event = (key: string) =>
      JSON.stringify({ type: 'Warning', reason: 'Unhealthy', message: 'probe failed', [key]: { kind: 'Pod', name: 'db-0' } })
    expect(readableText(event('involvedObject'))).to.equal('probe failed: Unhealthy: Pod db-0')
    expect(readableText(event('regarding'))).to.equal('probe failed: Unhealthy: Pod db-0')
  })

  it('of Serilog the message with its values, else its template, and the exception', () => {
    expect(readableText('{"@t":"2026","@mt":"no charge of {Id}","@l":"Error","@x":"Refused: card","Id":17}')).to.equal(
      'no charge of {Id}: Refused: card',
    )
    expect(
      readableText(
        '{"Level":"Error","MessageTemplate":"no charge of {Id}","RenderedMessage":"no charge of 17","Exception":"Refused: card"}',
      ),
    ).to.equal('no charge of 17: Refused: card')
  })

  it('of a traceback of Python its exception', () => {
    const traceback = 'Traceback (most recent call last):\\n  File \\"a.py\\", line 3, in pay\\nKeyError: \'card\''
    expect(readableText(`{"level":"error","event":"no charge","exc_info":"${traceback}"}`)).to.equal("no charge: KeyError: 'card'")
  })

  it('of logfmt the same fields', () => {
    const line = 'time="2026-03-03T04:00:01Z" level=error msg="charge of \\"17\\" failed" err="dial tcp payments:8080: refused" took=12'
    expect(readableText(line)).to.equal('charge of "17" failed: dial tcp payments:8080: refused')
    expect(readableText('level=error msg="no\\ncharge" err="a\\qb"')).to.equal('no\ncharge: a\\qb')
    expect(readableText('msg=refused caller=a.go:1 level=warn')).to.equal('refused')
    for (const text of ['GET /?level=1&msg=no', 'level=error', 'msg="no level"', 'no charge: msg=1'])
      expect(readableText(text)).to.equal(text)
    expect(wordsOfFields('time=<*> level=error msg=<*>', 'time="2026" level=error msg="17 orders lost"')).to.equal('<*> orders lost')
    expect(wordsOfFields('no charge', 'no charge')).to.equal(undefined)
  })

  it('of a structured line of Kubernetes what its quotes say', () => {
    const line = `E0303 04:00:01.123456    1 kubelet.go:114] "Error syncing pod" err="no room for \\"a\\"" pod="shop/orders-0"`
    expect(readableText(line)).to.equal('Error syncing pod: no room for "a": pod shop/orders-0')
    expect([lacksWords(maskMessage(line)), lacksWords('E<*> <*> <*> kubelet.go:<*>] no room')]).to.deep.equal([true, false])
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
