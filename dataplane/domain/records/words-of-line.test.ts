import { expect } from 'chai'
import { describe, it } from 'mocha'
import { wordsOfLine } from './words-of-line.ts'

describe('the words of a line', () => {
  for (const { name, line, words } of [
    { name: 'a line without more', line: 'payment declined', words: 'payment declined' },
    { name: 'one with a coloured level', line: '2026-11-28 10:00:00 \u001b[31mERROR\u001b[0m payment declined', words: 'payment declined' },
    {
      name: 'an exception that Spring wraps, behind the head of a logger',
      line: '2026-11-28 10:00:00 ERROR Request processing failed; nested exception is java.io.IOException: disk full',
      words: 'java.io.IOException: disk full',
    },
  ])
    it(`are what was said: ${name}`, () => expect(wordsOfLine(line)).to.equal(words))
})
