import { execFileSync } from 'node:child_process'
import { relative, resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { checkTable, findCycles, findImportsOfHack, findSources, findTestCodeInProduct, importsOf, isTestCode } from './import-gate.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** File → lines of code. */
function graphOf(files: Readonly<Record<string, readonly string[]>>) {
  return new Map(Object.entries(files).map(([file, lines]) => [file, importsOf(file, lines.join('\n'))]))
}

describe('The import gate', () => {
  it('takes exactly the files that the build compiles, and the console, which Vite builds', () => {
    const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--listFilesOnly']
    const listed = execFileSync(process.execPath, tsc, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
    const built = listed.map(file => relative(ROOT, file)).filter(file => !file.startsWith('node_modules/'))
    const console = findSources(ROOT, ['dataplane/console']).filter(file => !isTestCode(file))
    expect([...built, ...console].sort()).to.deep.equal(findSources(ROOT, ['dataplane', 'operator']).filter(file => !isTestCode(file)))
  }).timeout(30_000)

  it('takes a file for the product unless it is a suite or lies in a testing folder', () => {
    const files = ['a/contract.ts', 'a/search-contract.ts', 'a/protesting/b.ts', 'a/testing.ts', 'a/b.tests.ts', 'a/real.ts']
    expect(files.filter(isTestCode)).to.deep.equal([])
    expect(
      ['a/b.test.ts', 'a/b.long.ts', 'a/b.real.ts', 'a/b.cluster.ts', 'a/testing/b.ts', 'testing/b.ts'].filter(file => !isTestCode(file)),
    ).to.deep.equal([])
  })

  it('sees imports of values and types, re-exports, dynamic imports and entries of threads', () => {
    const text = [
      "import { a } from './a.ts'",
      "import type { B } from '../b.ts'",
      'import {',
      '  c,',
      "} from './c/c.ts'",
      "export * from './d.ts'",
      "import './e.ts'",
      "const f = await import('./f.ts')",
      "type G = import('./g.ts').G",
      "new URL('./h.ts', import.meta.url)",
      "import { readFileSync } from 'node:fs'",
      "import { K } from '@scope/name/deep'",
    ]
    expect(importsOf('x/y/z.ts', text.join('\n')).map(({ target }) => target)).to.deep.equal(
      ['a', '../b', 'c/c', 'd', 'e', 'f', 'g', 'h']
        .map(name => (name === '../b' ? 'x/b.ts' : `x/y/${name}.ts`))
        .concat('node:fs', '@scope/name'),
    )
  })

  describe('with its table', () => {
    const table = { 'p/a': ['p/b', 'p/c/one.ts', 'zod', '*'], 'p/b': [], 'p/b/inner': [], 'p/c': [] }
    const used = {
      'p/a/x.ts': ["import '../b/y.ts'", "import '../c/one.ts'", "import 'zod'", "import 'node:fs'", "import './z.ts'"],
      'p/b/y.ts': [],
      'p/b/inner/y.ts': [],
      'p/c/one.ts': [],
    }

    it('is content when each edge is allowed and used', () => {
      expect(checkTable(table, graphOf(used))).to.deep.equal([])
    })

    it('refuses an edge that it does not list, and does not take the entry of a folder for those within it', () => {
      const files = {
        ...used,
        'p/b/z.ts': ["import '../c/one.ts'"],
        'p/a/w.ts': ["import '../b/inner/y.ts'", "import '../c/two.ts'", "import 'yaml'"],
      }
      expect(checkTable(table, graphOf(files))).to.deep.equal([
        'p/b/z.ts: may not import p/c/one.ts; the entry p/b of the import table does not list it',
        'p/a/w.ts: may not import p/b/inner/y.ts; the entry p/a of the import table does not list it',
        'p/a/w.ts: may not import p/c/two.ts; the entry p/a of the import table does not list it',
        'p/a/w.ts: may not import yaml; the entry p/a of the import table does not list it',
      ])
    })

    it('refuses a file of the product that lies in none of its folders', () => {
      expect(checkTable(table, graphOf({ ...used, 'p/new/contract.ts': [] }))).to.deep.equal([
        'p/new/contract.ts: lies in no folder of the import table; add an entry for its folder',
      ])
    })

    it('fails on an edge that no file uses, and on an entry without a file', () => {
      const files = { 'p/a/x.ts': ["import '../b/y.ts'"], 'p/b/y.ts': [], 'p/b/inner/y.ts': [] }
      expect(checkTable(table, graphOf(files))).to.deep.equal([
        'p/a: the import table allows p/c/one.ts, which no file there imports; remove it from the entry',
        'p/a: the import table allows zod, which no file there imports; remove it from the entry',
        'p/a: the import table allows *, which no file there imports; remove it from the entry',
        'p/c: an entry of the import table that no file lies in; remove the entry',
      ])
    })
  })

  it('refuses code of tests in what is built', () => {
    const graph = graphOf({ 'p/a.ts': ["import './testing/fake.ts'", "import './b.ts'"], 'p/a.test.ts': ["import './testing/fake.ts'"] })
    expect(findTestCodeInProduct(graph)).to.deep.equal([
      'p/a.ts: is built, and may not import p/testing/fake.ts, which is not; move the code out of the test file or the folder testing',
    ])
  })

  it('refuses imports of hack, by tests too', () => {
    const graph = graphOf({ 'e2e/a.test.ts': ["import '../hack/b.ts'", "import './hack/c.ts'"] })
    expect(findImportsOfHack(graph)).to.deep.equal([
      'e2e/a.test.ts: may not import hack/b.ts, of hack; move the code into the testing folder of what it tests',
    ])
  })

  it('refuses a cycle, of types too, once, and takes the start of a thread for none', () => {
    const graph = graphOf({
      'a.ts': ["import type { B } from './b.ts'"],
      'b.ts': ["import './c.ts'"],
      'c.ts': ["import './a.ts'"],
      'd.ts': ["new URL('./e.ts', import.meta.url)", "import './a.ts'"],
      'e.ts': ["import './d.ts'"],
    })
    expect(findCycles(graph)).to.deep.equal(['cycle of imports: a.ts → b.ts → c.ts → a.ts'])
  })
})
