/** Skips the running test, or from a hook `before` all tests of its suite, and leaves the reason in the title, where every reporter shows it. */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const { test } = context
  // Titles of tests begin with that of their suite.
  const suite = test?.title.startsWith('"before all"') ? test.parent : undefined
  const titled = suite ?? context['currentTest'] ?? test
  if (titled !== undefined) titled.title = `${titled.title} (skipped: ${reason})`
  return context.skip()
}
