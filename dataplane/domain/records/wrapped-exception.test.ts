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

  it('that is cut off, or that nothing wraps, is left as it is', () => {
    for (const line of [why, `${servlet}; nested exception is`, servlet, `order 7: nested exception is ${why}`, ''])
      expect(withoutWrapping(line)).to.equal(line)
  })
})
