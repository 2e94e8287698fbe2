/**
 * Regular expressions of the product against `recheck`, which looks for texts that one takes more than linear time on: a text of a hundred kilobytes
 * in a single record once held the search store up for two minutes. Those that are put together at run time are not looked at.
 */
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseAst } from 'rolldown/parseAst'
import { run } from '../dataplane/testing/real/go-tools.ts'
import { CACHE_DIR } from '../dataplane/testing/real/place.ts'
import { Unavailable } from '../dataplane/testing/real/unavailable.ts'
import { skipBecause } from '../dataplane/testing/skip-because.ts'
import { isTestCode } from './import-gate.ts'

const CHECKER = 'recheck@4.5.0'
const INSTALL_LIMIT_MS = 120_000
const RUN_LIMIT_MS = 600_000
/** Expressions that its exact checker cannot judge, or not within this time, are told, and pass: what others find depends on the speed of the machine. */
const OPTIONS = { checker: 'automaton', timeout: 10_000 } as const

/** Stand-ins for the programs of others: they run where somebody tries the product, and nowhere else. */
const LEFT_OUT = /^dataplane\/demo\//

/** Files whose slow expressions read texts that are short, and the bound. */
const BOUNDED: Readonly<Record<string, string>> = {
  'dataplane/adapters/incident-platform/http-platform.ts': 'a setting of a target, 2,048 (platform-field.ts)',
  'dataplane/adapters/language-model/endpoint.ts': 'a setting, 2,048',
  'dataplane/adapters/outbound-http/address-rules.ts': 'an address of the resolver',
  'dataplane/config/environment.ts': 'a setting of the process',
  'dataplane/console/pages/logs/search/complete.ts': 'MAX_LOOK_BACK, 300',
  'dataplane/contract/schema-problems.ts': 'a message of zod',
  'dataplane/domain/language-model/explained-cause.ts': 'a step in the answer of a model, of bounded length (verdict-schema.ts)',
  'dataplane/domain/records/line-head.ts': 'the head of a line, some 500',
  'dataplane/domain/time/duration.ts': 'read after a pattern that takes linear time',
  'dataplane/kube/kubeconfig.ts': 'a file of the user',
  'dataplane/otlp-intake/grpc-answer.ts': 'a status of our own',
  'dataplane/otlp/json/json-scalars.ts': 'read after a pattern that allows two such bytes',
  'dataplane/process/describe-problem.ts': 'a message of an error',
  'dataplane/roles/dashboard/site/site.ts': 'the path of a file that is there',
  'dataplane/roles/patient-bus.ts': 'a message of an error',
  'operator/desired/role-settings.ts': 'a number that was printed here',
  'operator/observed/workloads/pod-trouble.ts': 'the end of a log in a status, 4,096 bytes',
}

interface Expression {
  readonly file: string
  readonly source: string
  readonly flags: string
}

type Check = (
  source: string,
  flags: string,
  options: object,
) => Promise<{
  readonly status: 'safe' | 'vulnerable' | 'unknown'
  readonly attack?: { readonly pattern: string }
}>

describe('Regular expressions of the product', () => {
  it('take linear time, or are bounded', async function () {
    this.timeout(INSTALL_LIMIT_MS + RUN_LIMIT_MS)
    const check = await installChecker().catch((error: Error) => {
      if (error instanceof Unavailable) return skipBecause(this, error.message)
      throw error
    })
    const expressions = readExpressions()
    expect(expressions.length).to.be.above(300)
    const slow: (Expression & { readonly attack: string })[] = []
    const unjudged: string[] = []
    for (const each of expressions) {
      const { status, attack } = await check(each.source, each.flags.replace('v', 'u'), OPTIONS)
      if (status === 'vulnerable') slow.push({ ...each, attack: attack?.pattern ?? '' })
      if (status === 'unknown') unjudged.push(each.file)
    }
    console.log(`${expressions.length} expressions, ${slow.length} bounded ones, not judged: ${[...new Set(unjudged)].join(', ')}`)
    expect(slow.filter(({ file }) => BOUNDED[file] === undefined)).to.deep.equal([])
    const slowFiles = new Set([...slow.map(({ file }) => file), ...unjudged])
    expect(
      Object.keys(BOUNDED).filter(file => !slowFiles.has(file)),
      'files that need no reason any more',
    ).to.deep.equal([])
  })
})

/** Each once. */
function readExpressions(): readonly Expression[] {
  const files = globSync(['dataplane/**/*.{ts,tsx}', 'operator/**/*.ts']).filter(file => !isTestCode(file) && !LEFT_OUT.test(file))
  const found = new Map<string, Expression>()
  for (const file of files.toSorted()) {
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } }
      if (regex !== undefined) found.set(`${file} ${regex.pattern} ${regex.flags}`, { file, source: regex.pattern, flags: regex.flags })
      for (const child of Object.values(node)) visit(child)
    }
    visit(parseAst(readFileSync(file, 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }))
  }
  return [...found.values()]
}

/** Throws `Unavailable`. */
async function installChecker(): Promise<Check> {
  const directory = join(CACHE_DIR, 'npm', CHECKER)
  const entry = join(directory, 'node_modules/recheck/package.json')
  if (!existsSync(entry)) {
    mkdirSync(directory, { recursive: true })
    await run('npm', ['install', '--prefix', directory, '--no-save', '--ignore-scripts', CHECKER], { limitMs: INSTALL_LIMIT_MS }).catch(
      (error: Error) => {
        throw new Unavailable(`${CHECKER} cannot be installed: ${error.message.slice(0, 200)}`)
      },
    )
  }
  return (createRequire(entry)('recheck') as { readonly check: Check }).check
}
