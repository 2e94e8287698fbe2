import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const root = import.meta.dirname
const modules = globSync('**/*.ts', { cwd: root }).filter(path => !/\.(test|real)\.ts$|\.d\.ts$|(^|\/)testing\/|vite\.config/.test(path))

/** Loads each module, and prints what one of them, or one that it loads, wants of Node. What else a module lacks here, the browser has. */
const LOAD = `
  import { registerHooks } from 'node:module'
  const wanted = new Set()
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith('node:') && !context.parentURL.includes('/node_modules/')) wanted.add(specifier + ' by ' + context.parentURL)
      return next(specifier, context)
    },
  })
  for (const path of JSON.parse(process.argv[1])) await import(path).catch(() => {})
  console.log(JSON.stringify([...wanted]))
  process.exit()
`

describe('the modules of the console', () => {
  it('load nothing of Node, which no browser has', function () {
    this.timeout(30_000)
    expect(modules).to.have.length.above(50)
    const paths = JSON.stringify(modules.map(path => resolve(root, path)))
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', LOAD, paths], { encoding: 'utf8' })
    expect(JSON.parse(said.trim().split('\n').at(-1)!)).to.deep.equal([])
  })
})
