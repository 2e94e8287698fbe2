import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { analyze } from '../../../../analysis/standard-analyzer.ts'
import { createMapping } from '../../../../mapping/mapping.ts'
import { mappingConfigOf } from '../../../../mapping/mapping-config.ts'
import { DocumentWalker } from '../../ingest/document-walker.ts'
import { createFieldSlots } from '../../ingest/field-slots.ts'
import { termKey } from '../../segment-context.ts'
import { isPairWord, WordPairs } from './word-pairs.ts'

function pairsOf(texts: readonly unknown[]) {
  const mapping = createMapping(mappingConfigOf({ properties: { message: { type: 'text' } } }, 100))
  const slots = createFieldSlots(() => undefined)
  const pairs = new WordPairs()
  const walker = new DocumentWalker(mapping, slots, { code: () => -1, pairs })
  for (const message of texts) walker.add(Buffer.from(JSON.stringify({ message })))
  const kept = WordPairs.of(pairs.toBytes())!
  const slot = slots.of('message', mapping.field('message')!)
  return (first: string, second: string) => kept.mayHold(...termKey(slot, first), ...termKey(slot, second))
}

const word = fc.constantFrom(
  'slow',
  'Query',
  'don',
  't',
  'x',
  'été',
  'a1',
  '42',
  '_',
  'a.b',
  "it's",
  '\\',
  '"',
  '\u{1f600}',
  'naïve',
  '漢字',
)
const gap = fc.constantFrom(' ', ', ', ' - ', '=', '/', '\n', ' … ')
const text = fc.array(fc.tuple(word, gap), { maxLength: 12 }).map(parts => parts.flat().join(''))

describe('pairs of words', () => {
  it('hold all words of letters that stand next to each other, whatever else is in the texts', () =>
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.array(text, { maxLength: 3 })), { maxLength: 5 }), texts => {
        const mayHold = pairsOf(texts)
        for (const words of texts.flat().map(each => analyze(each)))
          for (let at = 1; at < words.length; at++)
            if (isPairWord(words[at - 1]!) && isPairWord(words[at]!)) expect(mayHold(words[at - 1]!, words[at]!)).to.equal(true)
      }),
    ))

  it('tell that words are nowhere next to each other, in either order', () => {
    const mayHold = pairsOf(['request completed in 5 ms by agent', 'the agent is completed'])
    expect(mayHold('request', 'completed')).to.equal(true)
    expect(mayHold('completed', 'request')).to.equal(false)
    expect(mayHold('completed', 'agent')).to.equal(false)
  })
})
