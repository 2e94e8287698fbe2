import { expect } from 'chai'
import { describe, it } from 'mocha'
import { withoutWrapping } from './wrapped-exception.ts'

describe('an exception that a framework wraps', () => {
  const servlet = 'Servlet.service() for servlet [dispatcherServlet] in context with path [] threw exception [Request processing failed'
  const why = 'java.lang.IllegalStateException: No instances available for [ts-seat-service]'

  it('is what the line says', () => {
    expect(withoutWrapping(`${servlet}; nested exception is ${why}] with root cause`)).to.equal(why)
    expect(withoutWrapping(`${servlet}: ${why}] with root cause`)).to.equal(why)
    expect(withoutWrapping(`Request processing failed; nested exception is ${why}`)).to.equal(why)
  })

  it('is the last line of a Python traceback, which begins with all else', () => {
    const traceback = 'Traceback (most recent call last):\n  File "/app/pay.py", line 7, in charge\n    raise PaymentError("declined")\n'
    expect(withoutWrapping(`${traceback}app.errors.PaymentError: declined\n`)).to.equal('app.errors.PaymentError: declined')
    expect(withoutWrapping(`${traceback}KeyError`)).to.equal('KeyError')
    const cut = `${traceback}    raise Pay`
    expect(withoutWrapping(cut)).to.equal(cut)
  })

  it('stands behind what the program said of it', () => {
    const traceback = 'Traceback (most recent call last):\n  File "/app/pay.py", line 7, in charge\nPaymentError: declined'
    expect(withoutWrapping(`job 7 failed\n${traceback}`)).to.equal('job 7 failed: PaymentError: declined')
    const java = 'no charge\norg.orm.OrmException: no statement\n\tat shop.Pay.charge(Pay.java:7)'
    const pool = 'java.sql.SQLTransientConnectionException: pool-1 - Connection is not available'
    expect(withoutWrapping(`${java}\nCaused by: a.B: no connection\n\tat a.B.c(B.java:1)\nCaused by: ${pool}\n\t... 9 more`)).to.equal(
      `no charge: ${pool}`,
    )
    expect(withoutWrapping(`no charge: ${pool}\n\tat a.B\nCaused by: ${pool}`)).to.equal(`no charge: ${pool}`)
    for (const whole of [java, `${java}\nCaused by: `, 'job 7 failed\nTraceback (most recent call last):\n  File "/app'])
      expect(withoutWrapping(whole).startsWith(whole.split('\n')[0]!), whole).to.equal(true)
    expect(withoutWrapping(java)).to.equal(java)
  })

  it('keeps whom it called, where it ends with the words of its cause', () => {
    const spring = 'o.s.ResourceAccessException: I/O error on POST request for "http://stock:8080/items": '
    const java = `no order\n\n${spring}Connection refused\n\tat shop.Order.place(Order.java:7)`
    expect(withoutWrapping(`${java}\nCaused by: java.net.ConnectException: Connection refused\n\t... 9 more`)).to.equal(
      `no order: ${spring}java.net.ConnectException: Connection refused`,
    )
    expect(withoutWrapping(`${java}\nCaused by: java.net.SocketException: closed`)).to.equal('no order: java.net.SocketException: closed')
  })

  it('that is cut off, or that nothing wraps, is left as it is', () => {
    for (const line of [why, `${servlet}; nested exception is`, servlet, `order 7: nested exception is ${why}`, ''])
      expect(withoutWrapping(line)).to.equal(line)
  })
})
