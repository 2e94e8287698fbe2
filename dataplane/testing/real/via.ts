import { spawnSync } from 'node:child_process'
import { HOST } from './place.ts'
import { Unavailable } from './unavailable.ts'

const WAYS = ['docker', 'archives'] as const
/** How back ends come onto this machine: official images, or archives of Maven and Debian packages that run as processes. */
export type BackendsVia = (typeof WAYS)[number]

const INFO_TIMEOUT_MS = 10_000

let decided: BackendsVia | undefined

/** `BACKENDS_VIA`, else Docker where it works and back ends listen on loopback. Throws `Unavailable` where Docker is asked for and does not work. */
export function backendsVia(): BackendsVia {
  decided ??= decide(process.env['BACKENDS_VIA'])
  return decided
}

function decide(given: string | undefined): BackendsVia {
  if (given === undefined || given === '') return HOST === '127.0.0.1' && dockerProblem() === undefined ? 'docker' : 'archives'
  const way = WAYS.find(each => each === given)
  if (way === undefined) throw new Error(`BACKENDS_VIA: expected ${WAYS.join(' or ')}, got ${given}`)
  const problem = way === 'docker' ? dockerProblem() : undefined
  if (problem !== undefined) throw new Unavailable(`BACKENDS_VIA is docker, but Docker does not work here: ${problem}`)
  return way
}

/** Why `docker info` fails; undefined where it does not. */
function dockerProblem(): string | undefined {
  const { error, status, stderr } = spawnSync('docker', ['info'], { encoding: 'utf8', timeout: INFO_TIMEOUT_MS })
  if (error !== undefined) return error.message
  return status === 0 ? undefined : stderr.trim().slice(-300)
}
