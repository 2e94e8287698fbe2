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

  it('that is cut off, or that nothing wraps, is left as it is', () => {
    for (const line of [why, `${servlet}; nested exception is`, servlet, `order 7: nested exception is ${why}`, ''])
      expect(withoutWrapping(line)).to.equal(line)
  })
})
