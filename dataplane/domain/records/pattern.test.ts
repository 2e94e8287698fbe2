import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { buildPattern, MAX_PATTERN_INPUT, maskMessage } from './pattern.ts'

describe('pattern: the message with numbers, hex, UUIDs, addresses, quoted strings and timestamps masked', () => {
  const cases = [
    { name: 'nothing variable', input: 'cache miss', expected: 'cache miss' },
    { name: 'the empty message', input: '', expected: '' },
    { name: 'numbers', input: 'took 12 ms, 3.5 % of 1,234', expected: 'took <*> ms, <*> % of <*>' },
    { name: 'signed numbers', input: 'offset -5 of +7', expected: 'offset <*> of <*>' },
    { name: 'a number with a unit', input: 'waited 900ms', expected: 'waited <*>ms' },
    { name: 'a duration', input: 'after 1h30m', expected: 'after <*>' },
    { name: 'a number in a name', input: 'HikariPool-1 /api/v2/cart', expected: 'HikariPool-<*> /api/v<*>/cart' },
    { name: 'hex', input: 'session=0f3a9c0d11e2b4aa', expected: 'session=<*>' },
    { name: 'prefixed hex', input: 'at 0xFF', expected: 'at <*>' },
    { name: 'a word of hex letters', input: 'facade added', expected: 'facade added' },
    { name: 'a UUID', input: 'id 4d2a46c7-71cb-4cf1-b5bb-b68406d9da6f gone', expected: 'id <*> gone' },
    { name: 'an IPv4 address with port', input: 'to 10.0.0.1:8080 refused', expected: 'to <*> refused' },
    { name: 'an IPv6 address', input: 'from 2001:db8::ff00:42:8329, ::1', expected: 'from <*>, <*>' },
    { name: 'a MAC address', input: 'dev 0a:1b:2c:3d:4e:5f up', expected: 'dev <*> up' },
    { name: 'a C++ name', input: 'abc::Def failed', expected: 'abc::Def failed' },
    { name: 'quoted strings', input: `agent="Mozilla/5.0" file 'a b' and \`c\``, expected: 'agent=<*> file <*> and <*>' },
    { name: 'an escaped quote', input: 'said "a \\" b" twice', expected: 'said <*> twice' },
    { name: 'an apostrophe', input: "can't, won't", expected: "can't, won't" },
    { name: 'a quote without end', input: 'open " here', expected: 'open " here' },
    { name: 'JSON keys stay', input: '{"user":"bob","n":5}', expected: '{"user":<*>,"n":<*>}' },
    { name: 'a level stays', input: '{"level":"error","msg":"no charge"}', expected: '{"level":"error","msg":"no charge"}' },
    { name: 'a level behind a blank', input: '{"log.level": "WARNING", "n": 5}', expected: '{"log.level": "WARNING", "n": <*>}' },
    { name: 'a level of pino', input: '{"level":50,"time":1772510401000}', expected: '{"level":50,"time":<*>}' },
    {
      name: 'a warning of Kubernetes',
      input: '{"reason":"BackOff","type":"Warning","count":7}',
      expected: '{"reason":<*>,"type":"Warning","count":<*>}',
    },
    {
      name: 'other types',
      input: '{"type":"Warnings","a":{"type":"Normal"},"type":"Warn","type": "Warning"}',
      expected: '{"type":<*>,"a":{"type":<*>},"type":<*>,"type": "Warning"}',
    },
    { name: 'a type without an end', input: '{"type":"Warn', expected: '{"type":"Warn' },
    { name: 'a level of Cloud Logging', input: '{"msg":"gone","severity":"ERROR"}', expected: '{"msg":"gone","severity":"ERROR"}' },
    {
      name: 'a level of MongoDB',
      input: '{"t":{"$date":"2026-03-03T04:00:01.123+00:00"},"s":"E",  "c":"STORAGE","id":22435,"msg":"gone"}',
      expected: '{"t":{"$date":<*>},"s":"E",  "c":<*>,"id":<*>,"msg":"gone"}',
    },
    { name: 'other letters of its key', input: '{"s":"X","s":"EE","s":5}', expected: '{"s":<*>,"s":<*>,"s":<*>}' },
    { name: 'other words of a key for levels', input: '{"level":"floor 3","lvl":"x y"}', expected: '{"level":<*>,"lvl":<*>}' },
    {
      name: 'other numbers of a key for levels',
      input: '{"level":57,"level":500,"level":50.5}',
      expected: '{"level":<*>,"level":<*>,"level":<*>}',
    },
    {
      name: 'the words of a JSON message, and of its error, masked as those of a line',
      input: '{"level":30,"msg":"order 17 of \\"bob\\" took 5 ms","err":{"message":"dial tcp 10.0.0.1:80: refused"},"user":"bob"}',
      expected: '{"level":30,"msg":"order <*> of <*> took <*> ms","err":{"message":"dial tcp <*>: refused"},"user":<*>}',
    },
    {
      name: 'of several lines the first',
      input: '{"@m":"no charge","@x":"Shop.Refused: card 4711\\n   at Shop.Pay()","event": "it\'s \\\\n gone"}',
      expected: '{"@m":"no charge","@x":"Shop.Refused: card <*><*>","event": "it\'s \\\\n gone"}',
    },
    { name: 'words of a message that is cut off', input: '{"msg":"order 17 \\"b', expected: '{"msg":"order <*> \\"b' },
    { name: 'no words where the text is no JSON', input: 'got {"message":"order 17"}', expected: 'got {"message":<*>}' },
    {
      name: 'no words of values that are no text',
      input: '{"event":{"kind":"x"},"error":17}',
      expected: '{"event":{"kind":<*>},"error":<*>}',
    },
    { name: 'words of other keys', input: '{"riskLevel":"high","user":"error"}', expected: '{"riskLevel":<*>,"user":<*>}' },
    { name: 'a level without an end', input: '{"level":"err', expected: '{"level":"err' },
    { name: 'an ISO-8601 timestamp', input: '2026-11-21T14:23:52.123Z start', expected: '<*> start' },
    { name: 'a timestamp with a blank', input: '2026-11-21 14:23:52,123 start', expected: '<*> <*> start' },
    { name: 'text beyond ASCII', input: 'größe 5 → 六', expected: 'größe <*> → 六' },
  ]
  for (const { name, input, expected } of cases) it(name, () => expect(maskMessage(input)).to.equal(expected))

  it('gives equal ids to messages that differ in variable parts alone, others to others', () => {
    const id = buildPattern('order ord-1a2b3c4d of user 17 failed').id
    expect(id).to.match(/^[0-9a-f]{16}$/)
    expect(buildPattern('order ord-99887766 of user 4 failed').id).to.equal(id)
    expect(buildPattern('order ord-99887766 of user 4 passed').id).not.to.equal(id)
  })

  it('is deterministic, so that any two processes agree', () => {
    expect(buildPattern('took 5 ms')).to.deep.equal({ id: 'c1c607e4eaf8c912', text: 'took <*> ms' })
  })

  it('looks at the start of a long message alone, never at half a character', () => {
    const long = 'x'.repeat(MAX_PATTERN_INPUT - 1)
    expect(maskMessage(`${long}😀${'y'.repeat(5_000)}`)).to.equal(long)
  })

  it('changes nothing in a masked message', () => {
    const piece = fc.oneof(
      fc.constantFrom('"', "'", '`', ' ', ':', '::', '-', '.', '1', '23', 'a1', 'beef', 'T', 'Z', '<', '>', '{', ',', '\\', '0x1f', 'g'),
      fc.constantFrom('"level":', '"level": ', '"error"', '50', '"msg":"', '"error": "', '\\n', '\\"', '\\\\'),
      fc.string({ maxLength: 4 }),
    )
    const message = fc
      .tuple(fc.constantFrom('', '{', '{"msg":"'), fc.array(piece, { maxLength: 30 }))
      .map(([start, pieces]) => `${start}${pieces.join('')}`)
    fc.assert(
      fc.property(message, text => {
        const once = maskMessage(text)
        expect(maskMessage(once)).to.equal(once)
      }),
      { seed: 1, numRuns: rounds(3_000) },
    )
  })
})
