/** The role `operator` as a process of this machine, in front of the cluster of a suite. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { until } from '../../dataplane/testing/cluster/kubectl.ts'
import { freePort } from '../../dataplane/testing/free-port.ts'

export interface OperatorProcess {
  readonly child: ChildProcess
  readonly url: string
  /** The output so far. */
  output(): string
  /** Resolves with the exit code once it is gone. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const LAUNCHER = resolve(import.meta.dirname, '../../hack/logpipeline')

/** Resolves once its health port answers; it may still wait for the lead. */
export async function startOperator(kubeconfig: string, settings: Readonly<Record<string, string>> = {}): Promise<OperatorProcess> {
  const port = await freePort()
  const environment = { KUBECONFIG: kubeconfig, OPERATOR_IMAGE: 'localhost/logpipeline:test', HOST: '127.0.0.1', PORT: String(port) }
  const { PATH, HOME } = process.env
  const child = spawn(LAUNCHER, ['operator'], { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH, HOME, ...environment, ...settings } })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', chunk => {
      output = (output + chunk).slice(-200_000)
    })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const url = `http://127.0.0.1:${port}`
  await until(
    'the operator answers',
    async () => {
      if (child.exitCode !== null) throw new Error(`the operator ended with ${child.exitCode}:\n${output}`)
      return (await fetch(`${url}/healthz`)).ok
    },
    60_000,
  )
  return {
    child,
    url,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}
