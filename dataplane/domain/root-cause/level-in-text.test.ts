import { expect } from 'chai'
import { describe, it } from 'mocha'
import { saysError } from './level-in-text.ts'

describe('level in the text of a record without severity', () => {
  for (const line of [
    '<*> ERROR [main] com.shop.Orders: no charge',
    'ERROR:  deadlock detected',
    '<*> UTC [<*>] FATAL:  sorry, too many clients already',
    '<*> [error] <*>#<*>: *<*> connect() failed',
    'time=<*> level=error msg=<*>',
    'Traceback (most recent call last):',
    'panic: runtime error: index out of range',
    '\u001b[<*>mERROR\u001b[<*>m [main] no charge',
  ])
    it(`error: ${line}`, () => expect(saysError(line)).to.equal(true))

  for (const line of [
    'order received',
    '<*> INFO retrying after ERROR',
    'level=info msg=<*> last=ERROR',
    '<*> WARN  [main] errors of the last minute: <*>',
    'no ERRORS found',
    '[warn] upstream is slow',
    '',
  ])
    it(`none: ${line}`, () => expect(saysError(line)).to.equal(false))
})
