import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskMessage } from './pattern.ts'
import { withoutTerminalCodes } from './terminal-codes.ts'

const COLOURED = '\u001b[31mERROR\u001b[0m \u001b[1;38;5;12mshop\u001b[K: order 17 failed\u001b[39;49m'

describe('codes of a terminal', () => {
  it('are taken out of a message, and of the pattern that is made of it', () => {
    expect(withoutTerminalCodes(COLOURED)).to.equal('ERROR shop: order 17 failed')
    expect(withoutTerminalCodes(maskMessage(COLOURED))).to.equal('ERROR shop: order <*> failed')
  })

  it('are nothing else that looks like one', () => {
    for (const text of ['', 'retry [31m', 'list[0m]', 'an escape \u001b alone', '<*>;<*>m'])
      expect(withoutTerminalCodes(text)).to.equal(text)
  })
})
