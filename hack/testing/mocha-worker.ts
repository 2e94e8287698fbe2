/** Runs the test files named in its arguments with mocha and tells the parent process about every test. */
import { isDeepStrictEqual } from 'node:util'
import { config, util } from 'chai'
import Mocha from 'mocha'

// Misspelt assertions are errors of the type check; to find them at run time, too, costs as much as the comparisons.
config.useProxy = false
// Node finds large values equal in a tenth of chai's time. What is equal to Node is equal to chai; of the rest chai decides.
config.deepEqual = (expected, actual) => isDeepStrictEqual(expected, actual) || util.eql(expected, actual)

export type TestEvent =
  | { readonly type: 'pass'; readonly title: string; readonly durationMs: number }
  | { readonly type: 'fail'; readonly title: string; readonly error: string }
  /** `title` ends with the reason, see `skipBecause`. */
  | { readonly type: 'skip'; readonly title: string }
  | { readonly type: 'end' }

const mocha = new Mocha({ timeout: 20_000, forbidOnly: true, color: false })
for (const file of process.argv.slice(2)) mocha.addFile(file)
await mocha.loadFilesAsync()
mocha.reporter(class Silent extends Mocha.reporters.Base {})
mocha
  .run(failures => {
    process.exitCode = failures > 0 ? 1 : 0
    tell({ type: 'end' })
  })
  .on('pass', test => tell({ type: 'pass', title: test.fullTitle(), durationMs: test.duration ?? 0 }))
  .on('pending', test => tell({ type: 'skip', title: test.fullTitle() }))
  .on('fail', (test, error: unknown) => tell({ type: 'fail', title: test.fullTitle(), error: describe(error) }))

function tell(event: TestEvent): void {
  process.send?.(event)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { expected, actual } = error as { expected?: unknown; actual?: unknown }
  const stack = error.stack ?? String(error)
  const difference = expected === undefined && actual === undefined ? '' : `\nexpected: ${show(expected)}\nactual:   ${show(actual)}`
  return stack + difference + (error.cause === undefined ? '' : `\ncaused by: ${describe(error.cause)}`)
}

function show(value: unknown): string {
  return Mocha.utils.stringify(value).slice(0, 4_000)
}
