import { expect } from 'chai'
import { describe, it } from 'mocha'
import { HpackDecoder } from './hpack-decoder.ts'
import { encodeHeaders } from './hpack-encoder.ts'
import type { HeaderField } from './hpack-static-table.ts'
import { ConnectionFault, ERROR_CODE } from './protocol.ts'

const LIMIT = 16 * 1024
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const decodeAll = (blocks: readonly string[]) => {
  const decoder = new HpackDecoder(LIMIT)
  return blocks.map(hex).map(block => decoder.decode(block, 0, block.length))
}

const REQUESTS: readonly (readonly HeaderField[])[] = [
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
    ['cache-control', 'no-cache'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
]

describe('header blocks of HTTP/2 (RFC 7541)', () => {
  it('the examples without Huffman coding (C.3)', () => {
    const blocks = [
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ]
    expect(decodeAll(blocks)).to.deep.equal(REQUESTS)
  })

  it('the examples with Huffman coding (C.4)', () => {
    const blocks = [
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ]
    expect(decodeAll(blocks)).to.deep.equal(REQUESTS)
  })

  it('fields that are not or never indexed (C.2)', () => {
    expect(decodeAll(['040c 2f73 616d 706c 652f 7061 7468', '1008 7061 7373 776f 7264 0673 6563 7265 74'])).to.deep.equal([
      [[':path', '/sample/path']],
      [['password', 'secret']],
    ])
  })

  it('entries leave the table, oldest first, when it is full or made smaller (4.3, 4.4)', () => {
    const long = (name: string) => `40 01${Buffer.from(name).toString('hex')} 7f a10f${'61'.repeat(2080)}`
    expect(decodeAll([long('a'), long('b'), 'be'])[2]).to.deep.equal([['b', 'a'.repeat(2080)]])
    expect(() => decodeAll([long('a'), long('b'), 'bf'])).to.throw(ConnectionFault)
    expect(() => decodeAll(['4001 6101 62', '20 be'])).to.throw(ConnectionFault)
  })

  it('more fields than the limit are read, but not kept', () => {
    const decoder = new HpackDecoder(100)
    const block = hex('4001 6101 62 82 82 82')
    expect(decoder.decode(block, 0, block.length)).to.equal(undefined)
    expect(decoder.decode(hex('be'), 0, 1)).to.deep.equal([['a', 'b']])
  })

  const malformed: readonly { readonly name: string; readonly block: string }[] = [
    { name: 'index 0', block: '80' },
    { name: 'an index beyond the table', block: 'be' },
    { name: 'an integer cut short', block: 'ff' },
    { name: 'an integer that large', block: 'ffff ffff ff0f' },
    { name: 'an integer that never ends', block: 'ff80 8080 8080 8000' },
    { name: 'a field cut short', block: '40' },
    { name: 'a text cut short', block: '4003 6162' },
    { name: 'a table larger than granted', block: '3fe2 1f' },
    { name: 'a table size after a field', block: '8220' },
    { name: 'Huffman code of the end symbol', block: '0084 ffff ffff 0162' },
    { name: 'Huffman padding with zeros', block: '0081 1801 62' },
    { name: 'Huffman padding of more than 7 bits', block: '0082 1fff 0162' },
  ]
  for (const { name, block } of malformed)
    it(`${name} is a compression error`, () => {
      expect(() => decodeAll([block]))
        .to.throw(ConnectionFault)
        .with.property('code', ERROR_CODE.compression)
    })

  it('what is written is read, and leaves the table alone', () => {
    const fields: readonly HeaderField[] = [
      [':status', '200'],
      ['content-type', 'application/grpc'],
      ['grpc-message', 'x'.repeat(1000)],
      ['grpc-status', '13'],
    ]
    const block = encodeHeaders(fields)
    const decoder = new HpackDecoder(LIMIT)
    expect(decoder.decode(block, 0, block.length)).to.deep.equal(fields)
    expect(() => decoder.decode(hex('be'), 0, 1)).to.throw(ConnectionFault)
  })
})
