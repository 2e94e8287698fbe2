/** Skips the running test or suite hook and leaves the reason in its title, where every reporter shows it. */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const runnable = context['currentTest'] ?? context.test
  if (runnable !== undefined) runnable.title = `${runnable.title} (skipped: ${reason})`
  return context.skip()
}
