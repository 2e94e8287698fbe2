/** Kafka and OpenSearch beside the pods: processes of this machine that listen on the address of the node. */
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { NODE_ADDRESS, spawnOnNode } from '../../../dataplane/testing/real/kubernetes-server.ts'
import { PORTS, RUN_DIR } from '../../../dataplane/testing/real/place.ts'

/** As pods reach them. */
export const NODE_BACKENDS = {
  kafka: `${NODE_ADDRESS}:${PORTS.kafka}`,
  /** With user name and password: `KAFKA_USER`. */
  kafkaSasl: `${NODE_ADDRESS}:${PORTS.kafka + 21}`,
  search: `http://${NODE_ADDRESS}:${PORTS.opensearch}`,
} as const

/** Beside those that other suites start. */
const RUN = join(RUN_DIR, 'beside-node')
const LOG = join(RUN_DIR, 'beside-node.log')

export async function startNodeBackends(): Promise<void> {
  // Those of a run that was cut short are in a network that is gone.
  await backends('down')
  await backends('up')
}

export async function stopNodeBackends(): Promise<void> {
  await backends('down')
  rmSync(RUN, { recursive: true, force: true })
}

async function backends(action: 'up' | 'down'): Promise<void> {
  const program = resolve(import.meta.dirname, '../../../hack/backends')
  const settings = [`BACKENDS_HOST=${NODE_ADDRESS}`, `BACKENDS_RUN=${RUN}`]
  const [code] = await once(spawnOnNode(['env', ...settings, program, action, 'kafka', 'opensearch'], LOG), 'exit')
  if (code !== 0) throw new Error(`hack/backends ${action} on the node: exit code ${code}\n${readFileSync(LOG, 'utf8')}`)
}
