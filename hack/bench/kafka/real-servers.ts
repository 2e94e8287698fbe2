/** The real servers that figures on Kafka and OpenSearch need: those of `hack/backends`, started where they are missing. */
import { BACKENDS, type BackendName } from '../../../dataplane/testing/real/backends.ts'
import { Unavailable } from '../../../dataplane/testing/real/unavailable.ts'

/** Calls `use` once they answer, and stops those that it started. Says so, and does nothing, where this machine cannot run one of them. */
export async function withRealServers(names: readonly BackendName[], use: () => Promise<void>): Promise<void> {
  const started: BackendName[] = []
  try {
    for (const name of names) {
      if (await BACKENDS[name].isUp()) continue
      started.push(name)
      await BACKENDS[name].start()
    }
    await use()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.log(`\nSkipped: ${error.message}`)
  } finally {
    for (const name of started) await BACKENDS[name].stop()
  }
}
