import { expect } from 'chai'
import { describe, it } from 'mocha'
import { withoutHead } from './line-head.ts'
import { maskMessage } from './pattern.ts'

describe('a line without its head', () => {
  const heads = [
    '2026-03-03 04:00:01 ERROR [main] com.shop.Orders: ',
    // Spring Boot, by default: from 2 on, since 3.2 with the name of the application, and as a pattern.
    '2026-11-26T10:00:00.000Z ERROR 1 --- [main] o.s.Class : ',
    '2026-11-26 10:00:00.000  ERROR 4711 --- [nio-8080-exec-1] o.a.c.c.C.[.[.[/].[dispatcherServlet]    : ',
    '2026-11-26T10:00:00.000Z ERROR 1 --- [orders] [           main] [abc-def] c.s.orders.Charge                     : ',
    '<*> ERROR <*> --- [main] c.s.orders.Charge : ',
    '2026-11-26T10:00:00.000Z  INFO 1 --- [main] o.s.Class : ',
    // Logback, Python, Elasticsearch, zap, Celery, Monolog, Rust, Serilog's like.
    '04:00:01.123 [main] WARN  com.shop.Orders - ',
    '2026-03-03 04:00:01,123 - shop.orders - ERROR - ',
    'ERROR:shop.orders:',
    '2026-03-03T04:00:01.123Z\terror\t',
    '[2026-03-03T04:00:01,123][ERROR][o.e.b.Bootstrap          ] [node-1] ',
    '[2026-03-03T04:00:01,123][WARN ][o.e.c.r.a.DiskMonitor    ] [node-1] ',
    '[2026-03-03 04:00:01,123: ERROR/MainProcess] ',
    '[2026-03-03T04:00:01.123456+00:00] production.ERROR: ',
    '[2026-03-03T04:00:01Z INFO  shop::orders] ',
    // Kubernetes, .NET, PostgreSQL, nginx, a syslog, Elixir.
    'E0303 04:00:01.123456       1 controller.go:114] ',
    'fail: Shop.Orders.Api[0]\n      ',
    '2026-03-03 04:00:01.123 UTC [4711] FATAL:  ',
    '2026-03-03 04:00:01.123 UTC [4711] LOG:  ',
    '04:00:01.123 [warn] ',
    '2026-03-03T04:00:01.123Z error: ',
    'warn: ',
    'Mar  3 04:00:01 web-1 shop[12]: ERROR: ',
    'time=2026-03-03T04:00:01Z level=warn ',
    '<3>orders[812]: ',
    '<11>Mar  3 04:00:01 web-1 orders[812]: ',
    '<11>Mar  3 04:00:01 web-1 orders: ',
    '2026/03/03 04:00:01 [error] 29#29: *17 ',
    '2026/03/03 04:00:01 [emerg] 1#1: ',
    '[2026-03-03 04:00:01,123] ERROR [ReplicaManager broker=1] ',
    '1:M 03 Mar 2026 04:00:01.123 # ',
    // Serilog by default, MySQL, RabbitMQ.
    '[04:00:01 ERR] ',
    '2026-03-03T04:00:01.123456Z 12 [Warning] [MY-010055] [Server] ',
    '2026-03-03 04:00:01.123456+00:00 [warning] <0.812.0> ',
    // NATS, Rust's tracing.
    '[1] 2026/03/03 04:00:01.123456 [WRN] ',
    '2026-03-03T04:00:01.123456Z ERROR shop::orders: ',
  ]
  for (const head of heads)
    it(`of ${head}`, () => {
      expect(withoutHead(`${head}no charge: card refused`)).to.equal('no charge: card refused')
      expect(withoutHead(maskMessage(`${head}no charge: card refused`)), 'as a pattern').to.equal('no charge: card refused')
    })

  it('ends with Spring Boot’s logger: what is like one after it belongs to the message', () =>
    expect(withoutHead('2026-11-26T10:00:00.000Z ERROR 1 --- [main] o.s.Class : card.refused: 402')).to.equal('card.refused: 402'))

  it('begins with the name of an exception, or of an event: these are no loggers', () => {
    expect(withoutHead('04:00:01 ERROR java.lang.NullPointerException: no cart')).to.equal('java.lang.NullPointerException: no cart')
    expect(withoutHead('04:00:01 ERROR reqwest::Error: no cart')).to.equal('reqwest::Error: no cart')
    expect(withoutHead('04:00:01 INFO order.created 17')).to.equal('order.created 17')
  })

  for (const line of [
    'the job ended with ERROR 1 --- nothing : done',
    'order INFO received',
    'Order 17 ERROR in step 3',
    'disk error on sda',
    'error share 5',
    'disk warning: 5 % left',
    'no error',
    '<p>order 17: lost',
    'ERROR [connection to pay refused] order lost',
    'INFO',
    '2026-03-03 04:00:01 ERROR ',
    '',
  ])
    it(`is the line where its first words are prose, or where it has no others: ${line}`, () => expect(withoutHead(line)).to.equal(line))

  it('is found in a bounded time, whatever comes', () => {
    const startedMs = performance.now()
    for (const text of [
      'a',
      '[',
      'a.',
      'ERROR ',
      'ERROR [',
      'level=',
      '( ',
      'E0303 ',
      'a - ',
      '<*> ',
      'fail: a',
      '<3>a ',
      '1:M a ',
      'ERROR [a=',
    ])
      withoutHead(text.repeat(100_000))
    expect(performance.now() - startedMs).to.be.below(1_000)
  })
})
