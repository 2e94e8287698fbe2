/** Holds the table in README.md against the files of this folder and against the specification. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const root = resolve(import.meta.dirname, '../..')
const rows = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  .split('\n')
  .filter(line => /^\|.*\.ts` \|$/.test(line))
  .map(line => line.split('|').map(cell => cell.trim()))
  .map(([, says, source, file]) => ({ says: says!, source: source!, file: file!.replaceAll('`', '') }))
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
const rules = files.filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/testing/'))
/** Shapes alone: no behaviour to be tested. */
const SHAPES = [
  'records/flat-record-fields.ts',
  'incidents/incident-fields.ts',
  'root-cause/observed/observation.ts',
  'root-cause/root-cause.ts',
  'tickets/target.ts',
  'tickets/ticket-event.ts',
  'tickets/ticket-content.ts',
  'tickets/ticket-outcome.ts',
  'tickets/owed-event.ts',
]

describe('the table of rules', () => {
  it('names each file once, and no other', () => {
    const said = 'files in the table of dataplane/domain/README.md (-), files of the folder (+)'
    expect(rows.map(({ file }) => file).sort(), said).to.deep.equal(rules.sort())
  })

  for (const file of rules.filter(rule => !SHAPES.includes(rule)))
    it(`${file} has its test beside it`, () => expect(files).to.include(file.replace(/\.ts$/, '.test.ts')))

  const specification = readFileSync(join(root, 'docs/specification.md'), 'utf8')
  for (const { says, source } of rows)
    it(`has a source for: ${says}`, () => {
      for (const part of source.split('; ')) {
        const [, kind, name] = /^(Spec:|Decisions) (.+)$/.exec(part) ?? []
        if (kind === 'Spec:') expect(specification).to.match(new RegExp(`^#+ ${name}`, 'm'))
        else expect(Number(name), part).to.be.within(1, 10)
      }
    })
})
