/** One standalone as it starts by itself, for all suites of a process that need no other: a start costs more than their tests. Each has services of its own. */
import { after, before } from 'mocha'
import { type Standalone, startStandalone } from './standalone-process.ts'

let started: Promise<Standalone> | undefined

after(async () => {
  await (await started)?.remove()
})

/** Call it in the body of a suite; it is there in its tests. */
export function useUsualStandalone(): { readonly app: Standalone } {
  let app: Standalone
  before(async function () {
    this.timeout(60_000)
    started ??= startStandalone()
    app = await started
  })
  return {
    get app() {
      return app
    },
  }
}
