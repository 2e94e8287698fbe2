import { expect } from 'chai'
import { describe, it } from 'mocha'
import { analyze, tokens } from './standard-analyzer.ts'

describe('standard analyzer', () => {
  const cases: readonly { name: string; text: string; terms: readonly string[] }[] = [
    { name: 'lower-cases words', text: 'Read Timed OUT', terms: ['read', 'timed', 'out'] },
    { name: 'a dot and an apostrophe join letters', text: "java.net.Socket can't a..b", terms: ['java.net.socket', "can't", 'a', 'b'] },
    { name: 'a dot, a comma and a semicolon join digits', text: '10.1.2.3 1,234;5 1,a', terms: ['10.1.2.3', '1,234;5', '1', 'a'] },
    { name: 'a dot does not join a letter and a digit', text: 'a.1 2.b v1.2', terms: ['a', '1', '2', 'b', 'v1.2'] },
    { name: 'a colon joins letters', text: 'a:b 1:2 http://x:80/', terms: ['a:b', '1', '2', 'http', 'x', '80'] },
    { name: 'an underscore joins but is no word', text: 'x86_64 __a__ _ a_.b', terms: ['x86_64', '__a__', 'a_', 'b'] },
    {
      name: 'a hyphen, a slash and an equals sign part',
      text: 'HikariPool-1 /api/v1 k=v',
      terms: ['hikaripool', '1', 'api', 'v1', 'k', 'v'],
    },
    { name: 'letters beyond ASCII', text: 'NAÏVE e\u0301te\u0301 ΑΣ', terms: ['naïve', 'e\u0301te\u0301', 'ασ'] },
    { name: 'ideographs one by one, kana and Thai in runs', text: '日本 カナ สวัสดี', terms: ['日', '本', 'カナ', 'สวัสดี'] },
    { name: 'emoji', text: 'ok 👨‍👩‍👧!🇩🇪', terms: ['ok', '👨‍👩‍👧', '🇩🇪'] },
    { name: 'a lone surrogate parts', text: 'x\ud800y', terms: ['x', 'y'] },
    { name: 'cuts words at 255 characters', text: 'a'.repeat(300), terms: ['a'.repeat(255), 'a'.repeat(45)] },
    { name: 'nothing', text: ' \0.,_:', terms: [] },
  ]
  for (const { name, text, terms } of cases) it(name, () => expect(analyze(text)).to.deep.equal(terms))

  it('tells where the terms stand', () => {
    expect([...tokens('on FIRE 日')]).to.deep.equal([
      { term: 'on', start: 0, end: 2 },
      { term: 'fire', start: 3, end: 7 },
      { term: '日', start: 8, end: 9 },
    ])
  })
})
