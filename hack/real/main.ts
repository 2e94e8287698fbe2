/** `hack/backends`: starts and stops real Kafka, OpenSearch, Redis and Kubernetes on this machine, for tests and trials. */
import { BACKEND_NAMES, BACKENDS, type BackendName, isBackendName } from '../../dataplane/testing/real/backends.ts'
import { CACHE_DIR, RUN_DIR } from '../../dataplane/testing/real/place.ts'
import { UNAVAILABLE_EXIT_CODE, Unavailable } from '../../dataplane/testing/real/unavailable.ts'

const USAGE = `hack/backends up|down|status [NAME…]     without a name: all of them; "up" leaves out Kubernetes, which takes minutes to build

${BACKEND_NAMES.map(name => `  ${name.padEnd(15)} ${BACKENDS[name].what}: ${BACKENDS[name].address()}`).join('\n')}

up      starts what is not running, waits until it answers, prints its address
down    stops it and deletes its data
status  exit code 0 when all answer, 1 otherwise

Exit code ${UNAVAILABLE_EXIT_CODE}: this machine cannot run one of them; standard error says why.
Downloads are kept in ${CACHE_DIR} (BACKENDS_CACHE), what runs in ${RUN_DIR} (BACKENDS_RUN).
Kafka, OpenSearch and Redis are official images where Docker works, else archives of Maven and Debian packages (BACKENDS_VIA=docker|archives).
Ports: BACKENDS_KAFKA_PORT, BACKENDS_KAFKA3_PORT, BACKENDS_OPENSEARCH_PORT, BACKENDS_KUBERNETES_PORT, BACKENDS_KUBERNETES_NODE_PORT, BACKENDS_REDIS_PORT. Listening is on 127.0.0.1 only (BACKENDS_HOST: another address, such as one that only exists in a network namespace).`

const USAGE_EXIT_CODE = 64

async function up(names: readonly BackendName[]): Promise<number> {
  let exitCode = 0
  for (const name of names) {
    try {
      await BACKENDS[name].start()
      console.log(`${name} ${BACKENDS[name].address()}`)
    } catch (error) {
      exitCode = error instanceof Unavailable ? UNAVAILABLE_EXIT_CODE : 1
      console.error(`${name}: ${(error as Error).message}`)
    }
  }
  return exitCode
}

async function down(names: readonly BackendName[]): Promise<number> {
  await Promise.all(names.map(name => BACKENDS[name].stop()))
  return 0
}

async function status(names: readonly BackendName[]): Promise<number> {
  let exitCode = 0
  for (const name of names) {
    const isUp = await BACKENDS[name].isUp()
    console.log(isUp ? `${name} up ${BACKENDS[name].address()}` : `${name} down`)
    if (!isUp) exitCode = 1
  }
  return exitCode
}

const ACTIONS: Readonly<Record<string, (names: readonly BackendName[]) => Promise<number>>> = { up, down, status }
const [action = '', ...given] = process.argv.slice(2)
const run = ACTIONS[action]
const unknown = given.find(name => !isBackendName(name))
if (['--help', '-h'].includes(action)) console.log(USAGE)
else if (run === undefined) refuse(`expected up, down or status, seen ${action || 'nothing'}`)
else if (unknown !== undefined) refuse(`expected names of ${BACKEND_NAMES.join(', ')}, seen ${unknown}`)
else process.exitCode = await run(given.length === 0 ? defaultNames(action) : (given as BackendName[]))

function refuse(problem: string): void {
  console.error(`hack/backends: ${problem}\n\n${USAGE}`)
  process.exitCode = USAGE_EXIT_CODE
}

function defaultNames(action: string): readonly BackendName[] {
  return action === 'up' ? BACKEND_NAMES.filter(name => !name.startsWith('kubernetes')) : BACKEND_NAMES
}
