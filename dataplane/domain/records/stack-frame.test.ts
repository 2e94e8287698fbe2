import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskMessage } from './pattern.ts'
import { isStackFrame } from './stack-frame.ts'

describe('a line of a stack trace', () => {
  for (const line of [
    '\tat com.shop.Orders.create(Orders.java:88)',
    'at java.base/java.lang.reflect.Method.invoke(Native Method)',
    '    at Object.<anonymous> (/app/server.js:12:9)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    '    at /app/node_modules/express/lib/router.js:12:3',
    '   at Shop.Auth.Tokens.Validate(String token) in /src/Tokens.cs:line 41',
    '   --- End of inner exception stack trace ---',
    '\t... 23 more',
    '  File "/app/orders.py", line 88, in create',
    'goroutine 19 [running]:',
    '\t/app/main.go:42 +0x1d',
    'created by net/http.(*Server).Serve',
    'created by main.serve in goroutine 19',
    '  File "/app/orders.py", line 88',
    '#0 /var/www/app/Orders.php(88): charge()',
    '#12 {main}',
    '\tfrom /app/orders.rb:88:in `create`',
  ])
    it(`is ${line}`, () => {
      expect(isStackFrame(line)).to.equal(true)
      expect(isStackFrame(maskMessage(line)), 'as a pattern').to.equal(true)
    })

  for (const line of [
    'java.lang.NullPointerException: no cart',
    'Caused by: java.net.ConnectException: Connection refused',
    'Traceback (most recent call last):',
    'panic: runtime error: index out of range',
    'at least one node is down',
    'at capacity: 5 of 5 workers are busy',
    'created by hand',
    'created by jane.doe: order 5',
    'File "prices.csv", line 88 is broken: no price',
    'from 10.0.0.7: connection reset',
    '... 3 orders are late',
    'File not found',
    '',
  ])
    it(`is not ${line}`, () => expect(isStackFrame(line)).to.equal(false))

  it('is told in a bounded time, whatever comes', () => {
    const startedMs = performance.now()
    for (const text of ['at ', ' ', 'at a', 'at a(', '.', '#1 a', 'from a:', 'a.go:1']) isStackFrame(text.repeat(100_000))
    expect(performance.now() - startedMs).to.be.below(500)
  })
})
