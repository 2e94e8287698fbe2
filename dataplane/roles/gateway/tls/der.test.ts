import { expect } from 'chai'
import { describe, it } from 'mocha'
import { bits, explicit, implicit, integer, objectIdentifier, octets, sequence, text, time } from './der.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('DER (X.690)', () => {
  for (const [name, bytes, expected] of [
    ['zero', integer(Uint8Array.of(0, 0)), '020100'],
    ['a number without zeros before it', integer(Uint8Array.of(0, 0, 5)), '020105'],
    ['a number that would look negative', integer(Uint8Array.of(0x80)), '02020080'],
    ['an object identifier of the standards', objectIdentifier('2.5.29.17'), '0603551d11'],
    ['an object identifier with parts over 127', objectIdentifier('1.2.840.113549'), '06062a864886f70d'],
    ['bits that do not fill their byte', bits(Uint8Array.of(0x80), 7), '03020780'],
    ['a text', text('ä'), '0c02c3a4'],
    ['the last second of short years', time(Date.UTC(2049, 11, 31, 23, 59, 59, 999)), hex(Buffer.from('\x17\x0d491231235959Z'))],
    ['the first second of long years', time(Date.UTC(2050, 0, 1)), hex(Buffer.from('\x18\x0f20500101000000Z'))],
    ['an empty sequence', sequence(), '3000'],
    ['a tag in place of another', implicit(7, Uint8Array.of(127, 0, 0, 1)), '87047f000001'],
    ['a tag around an element', explicit(0, integer(Uint8Array.of(2))), 'a003020102'],
  ] as const)
    it(`writes ${name}`, () => expect(hex(bytes)).to.equal(expected))

  for (const [length, head] of [
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [70_000, '0483011170'],
  ] as const)
    it(`writes a length of ${length}`, () => {
      const bytes = octets(new Uint8Array(length))
      expect(hex(bytes.subarray(0, -length))).to.equal(head)
    })
})
