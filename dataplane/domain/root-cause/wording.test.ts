import { expect } from 'chai'
import { describe, it } from 'mocha'
import { atLeast, duration, quoted, recordsOf, rounded, timesOf } from './wording.ts'

describe('words of reasons', () => {
  it('a message is quoted on one line and cut', () => {
    expect(quoted('order\n  stored ')).to.equal('“order stored”')
    expect(quoted('x'.repeat(500))).to.have.length(122)
    expect(quoted('<*> ERROR <*> --- [main] c.s.orders.Charge : no charge')).to.equal('“no charge”')
    const servlet =
      'Servlet.service() for servlet [dispatcherServlet] in context with path [] threw exception [Request processing failed; nested exception is'
    expect(quoted(`${servlet} java.lang.IllegalStateException: No instances available for ts-seat-service] with root cause`)).to.equal(
      '“java.lang.IllegalStateException: No instances available for ts-seat-service”',
    )
    expect(quoted('{"level":"info","ts":<*>,"msg":<*>}')).to.equal('a JSON record (ts, msg)')
    expect(quoted('{"level":"info","msg":"order stored"}')).to.equal('“{"level":"info","msg":"order stored"}”')
    expect(quoted(' \n')).to.equal('a record without a message')
  })

  it('numbers and times are as short as they can be', () => {
    expect([rounded(3.07), rounded(1234.5)]).to.deep.equal([3.1, 1235])
    expect([duration(4.56), duration(480), duration(2_130)]).to.deep.equal(['4.6 ms', '480 ms', '2.1 s'])
    expect([recordsOf(0), recordsOf(1), recordsOf(2)]).to.deep.equal(['0 records', '1 record', '2 records'])
    expect([timesOf(1), timesOf(2)]).to.deep.equal(['once', '2 times'])
    expect([atLeast(1), atLeast(2), atLeast(3)]).to.deep.equal(['', ' (twice or more)', ' (3 times or more)'])
  })
})
