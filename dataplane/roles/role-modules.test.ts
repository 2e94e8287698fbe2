import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { ROLE_MODULES } from './role-modules.ts'

const NODE_OWN_UNDICI = 'NativeModule internal/deps/undici/undici'

/** Modules of Node that a fresh process has loaded after the code. */
function loadedAfter(code: string): readonly string[] {
  const program = `${code}; console.log(JSON.stringify(process.moduleLoadList))`
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: import.meta.dirname, encoding: 'utf8' })
  return JSON.parse(said) as readonly string[]
}

describe("the roles' modules", () => {
  it("load without Node's own undici, which takes memory in each thread", async function () {
    this.timeout(30_000)
    expect(loadedAfter("await import('node:http')"), 'a name that this version of Node gives it').to.include(NODE_OWN_UNDICI)
    const loadAll = Object.values(ROLE_MODULES).map(load => /import\(['"](.+?)['"]\)/.exec(load.toString())![1]!)
    expect(loadAll).to.include('./collector/index.ts')
    const modules = [...loadAll, './standalone/index.ts', '../../operator/main.ts']
    expect(loadedAfter(modules.map(module => `await import('${module}')`).join(';'))).not.to.include(NODE_OWN_UNDICI)
  })
})
