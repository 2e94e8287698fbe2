/** The documents tell the truth about the repository: every path and link on a page is there, every part of the specification that code names, DECISIONS.md is short and says what is not built. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ROLE_NAMES } from '../dataplane/contract/roles.ts'
import { isTestCode } from './import-gate.ts'

const root = resolve(import.meta.dirname, '..')
const read = (page: string) => readFileSync(join(root, page), 'utf8')
const PAGES = globSync(['*.md', '{charts,dataplane,docs,e2e,hack,operator}/**/*.md'], { cwd: root }).sort()
/** Made by a program, and kept out of the repository. */
const MADE = new Set(['hack/bench/out/'])
const FOLDERS = 'charts|crds|dataplane|docs|e2e|hack|operator'

/** Paths from the top of the repository that a page names between backticks, such as `dataplane/main.ts`; not patterns. */
function namedPaths(page: string): readonly string[] {
  const named = [...read(page).matchAll(new RegExp(`\`((?:${FOLDERS})/[^\`\\s#*<{…]*)(?:#\\w+)?\``, 'g'))]
  return [...new Set(named.map(([, path]) => path!))]
}

/** Files of code that a page names by the end of their path, such as `server.ts` or `http/server.ts`. `x.test.ts` stands for any. */
function namedFiles(page: string): readonly string[] {
  const named = [...read(page).matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name]) => name!.replace(/^(?:\.\.?\/)+/, ''))
  return [...new Set(named.filter(name => !name.startsWith('x.')))]
}

/** Where the links of a page lead within the repository. */
function linkedPaths(page: string): readonly string[] {
  const links = [
    ...read(page)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g),
  ]
  return links.map(([, link]) => join(dirname(page), link!))
}

describe('the documents', () => {
  for (const page of PAGES)
    it(`${page} names paths that are there`, () => {
      const missing = [...namedPaths(page), ...linkedPaths(page)].filter(path => !MADE.has(path) && !existsSync(join(root, path)))
      expect(missing, `${page} names paths that are not there; correct the page`).to.deep.equal([])
    })

  it('name files that are there, also where they leave out the folder', () => {
    const files = globSync(`{${FOLDERS.replaceAll('|', ',')}}/**/*.{ts,tsx}`, { cwd: root }).map(file => `/${file}`)
    const missing = PAGES.flatMap(page =>
      namedFiles(page)
        .filter(name => !files.some(file => file.endsWith(`/${name}`)))
        .map(name => `${page}: ${name}`),
    )
    expect(missing, 'files that are not there; correct the pages').to.deep.equal([])
  })

  it('CONTRIBUTING.md names each folder of dataplane', () => {
    const folders = globSync('dataplane/*/', { cwd: root }).map(folder => folder.replace(/\/$/, ''))
    expect(folders).to.not.be.empty
    expect(namedPaths('CONTRIBUTING.md')).to.include.members(folders)
  })

  it('the ways of a record and of a LogPipeline name files of every part that they cross', () => {
    const roomsOf = (page: string) => new Set(namedPaths(page).map(path => path.split('/').slice(0, 2).join('/')))
    expect([...roomsOf('docs/record.md')]).to.include.members(
      ['adapters', 'contract', 'domain', 'otlp', 'pipeline', 'ports', 'roles'].map(room => `dataplane/${room}`),
    )
    expect([...roomsOf('docs/logpipeline.md')]).to.include.members(
      ['api', 'controllers', 'desired', 'observed', 'reconcile', 'runtime'].map(room => `operator/${room}`),
    )
  })
})

describe('the specification', () => {
  it('has each part that code refers to as `Spec: <part>`: a heading, a component, an endpoint', () => {
    const names = read('docs/specification.md')
      .split('\n')
      .map(line => line.replace(/^[#|* ]+/, ''))
    const wrong = globSync('{dataplane,operator}/**/*.{ts,tsx}', { cwd: root }).flatMap(file =>
      [...read(file).matchAll(/\bSpec: ([^,;)`\n.]+)/g)]
        .map(([, said]) => said!.replace(/ \d[\d and]*$/, '').trim())
        .filter(part => !names.some(name => name.startsWith(part)))
        .map(part => `${file}: Spec: ${part}`),
    )
    expect(wrong, 'parts that docs/specification.md does not have').to.deep.equal([])
  })
})

describe('the first line of a file', () => {
  it('says what the file is for, in each production file of more than sixty lines', () => {
    const files = globSync('{dataplane,operator}/**/*.ts', { cwd: root }).filter(file => !isTestCode(file))
    const silent = files.filter(file => {
      const text = read(file)
      return text.split('\n').length > 61 && !/^(\/\*\*|\/\/)/.test(text)
    })
    expect(silent, 'files that begin without a comment; say in it what the file is for').to.deep.equal([])
  })
})

describe('DECISIONS.md', () => {
  const lines = read('DECISIONS.md').split('\n')
  const sections = lines.flatMap(line => /^## (\d+)\. /.exec(line)?.[1] ?? [])

  it('fits on ten screens of forty lines, which wrap tables alone', () => {
    expect(lines.length).to.be.at.most(400)
    expect(lines.filter(line => line.length > 160 && !line.startsWith('|'))).to.deep.equal([])
  })

  it('has its sections numbered in turn, and code refers to none but its interfaces', () => {
    expect(sections).to.deep.equal(sections.map((_, at) => String(at + 1)))
    const code = globSync('{dataplane,operator,hack,e2e}/**/*.ts', { cwd: root }).map(file => ({
      file,
      text: readFileSync(join(root, file), 'utf8'),
    }))
    const wrong = code.flatMap(({ file, text }) =>
      [...text.matchAll(/\b[Dd]ecisions (?:sections? )?(\d+)/g)]
        .filter(([, section]) => Number(section) >= sections.length)
        .map(([said]) => `${file}: ${said}`),
    )
    expect(wrong).to.deep.equal([])
  })

  it('marks with † the roles that are not built, and no others', () => {
    const rows = lines.filter(line => /^\| `[a-z ]+`.*\|.*\|.*\|$/.test(line)).map(line => line.split('|')[1]!)
    const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace(/^(?:\.\.?\/)+/, ''))
    const roles = rows.filter(cell => !names(cell).some(name => name.includes('project')))
    expect(
      roles
        .filter(cell => !cell.includes('†'))
        .flatMap(names)
        .sort(),
    ).to.deep.equal([...ROLE_NAMES].sort())
    expect(roles.filter(cell => cell.includes('†')).flatMap(names)).to.deep.equal([])
  })
})
