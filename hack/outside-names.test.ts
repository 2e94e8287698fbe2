/** A name from outside, such as `__proto__`, must not reach the prototype of a table. Looks for lookups that no check stands before. */
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { isTestCode } from './import-gate.ts'

const root = resolve(import.meta.dirname, '..')

/** Tables that are asked only for names that a pattern, a type or a list has let through, or that come from Node. */
const CHECKED_BEFORE = new Set([
  'FIXED_MS',
  'UNIT_MS',
  'UNITS',
  'LETTERS',
  'GETTERS',
  'VARIANT',
  'NUMBER_BOUNDS',
  'WHOLE_NUMBERS',
  'KIND_OF',
  'CLASS_OF',
  'PARSERS',
  'CLAUSES',
  'VALUE_CHECKS',
  'COLOURS',
  'ANSWERS',
  'METHODS',
  'PARAMETERS',
  'SHARED',
  'REASONS',
  'SORT_ALIASES',
  'USUAL_KEYS',
  'EXTRA_HEADERS',
  'aliases',
  'topics',
])

const files = ['dataplane', 'operator']
  .flatMap(folder => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }))
  .filter(file => !isTestCode(file))
const code = new Map(files.map(file => [file, readFileSync(resolve(root, file), 'utf8')]))

const ADVICE = 'make the table a Map, ask Object.hasOwn first, or, where the name was checked before, add the table to CHECKED_BEFORE'

/** An index that is neither a constant, a member of one, a text nor a number. */
const OUTSIDE = String.raw`(?!['"\d])(?![A-Z][A-Z0-9_]*[\].])`

function* lookups(text: string, pattern: RegExp): Generator<string, void, undefined> {
  for (const [whole, table = ''] of text.matchAll(pattern)) {
    const isAsked = new RegExp(`(hasOwn\\([^()]*\\b${table}\\b|for \\(const \\w+ in [^)]*\\b${table}\\b)`).test(text)
    if (!isAsked && !CHECKED_BEFORE.has(table)) yield whole
  }
}

describe('a table that is asked for a name from outside', () => {
  it('is a Map, or is asked with Object.hasOwn first: constants', () => {
    const found = [...code].flatMap(([file, text]) => {
      const tables = [...text.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]*): (?:Readonly<|Partial<)*Record<string,/gm)].map(
        match => match[1]!,
      )
      if (tables.length === 0) return []
      return [...lookups(text, new RegExp(String.raw`\b(${tables.join('|')})(?:\?\.)?\[${OUTSIDE}`, 'g'))].map(each => `${file}: ${each}`)
    })
    expect(found, ADVICE).to.deep.equal([])
  })

  it('is a Map, or is asked with Object.hasOwn first: members', () => {
    const declared = new Set<string>()
    // Forms of the console keep values by names of their own.
    const server = [...code].filter(([file]) => !file.startsWith('dataplane/console/'))
    for (const [, text] of server)
      for (const [, name] of text.matchAll(/readonly (\w+)\??: (?:Readonly<|Partial<)*Record<string,/g)) declared.add(name!)
    const pattern = new RegExp(String.raw`\.(${[...declared].join('|')})(?:\?\.|!)?\[${OUTSIDE}\w`, 'g')
    const found = server.flatMap(([file, text]) => [...lookups(text, pattern)].map(each => `${file}: ${each}`))
    expect(found, ADVICE).to.deep.equal([])
  })
})
