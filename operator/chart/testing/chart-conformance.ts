/** Common to the real suites of the chart: programs that may not be had, and kubeconform. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findTool, run, type ToolName } from '../../../dataplane/testing/real/go-tools.ts'
import { Unavailable } from '../../../dataplane/testing/real/unavailable.ts'
import { skipBecause } from '../../../dataplane/testing/skip-because.ts'
import { foreignSchemas, kubernetesSchemas, writeOwnSchemas } from './chart-schemas.ts'

/** For all that a suite has to build, if anything has to be: a suite has four minutes. */
export const BUILD_LIMIT_MS = 150_000
const startedMs = Date.now()
/** Neither Strimzi nor Flux's Helm controller publish theirs as a Go module; kustomize's own has none. */
const WITHOUT_SCHEMA = ['Kafka', 'KafkaTopic', 'KafkaUser', 'HelmRelease', 'kustomize.config.k8s.io/v1beta1/Kustomization']

export interface Conformance {
  /** Problems that kubeconform has with manifests, unknown fields among them. */
  problems(manifests: string): Promise<readonly string[]>
  close(): void
}

/** Skips where this machine cannot have the program. */
export function toolOrSkip(context: Mocha.Context, name: ToolName): Promise<string> {
  return orSkip(context, limitMs => findTool(name, limitMs))
}

export async function kubectlOrSkip(context: Mocha.Context): Promise<string> {
  const told = await run('kubectl', ['version', '--client']).catch(() => '')
  return told.includes('Client Version') ? 'kubectl' : skipBecause(context, 'this machine has no kubectl')
}

export async function startConformance(context: Mocha.Context): Promise<Conformance> {
  const kubeconform = await toolOrSkip(context, 'kubeconform')
  const kubernetes = await orSkip(context, kubernetesSchemas)
  const foreign = await orSkip(context, foreignSchemas)
  const own = mkdtempSync(join(tmpdir(), 'chart-schemas-'))
  writeOwnSchemas(own)
  const locations = [kubernetes, foreign, own].flatMap(path => ['-schema-location', `${path}/{{.ResourceKind}}{{.KindSuffix}}.json`])
  return {
    async problems(manifests) {
      const args = ['-strict', '-output', 'json', '-skip', WITHOUT_SCHEMA.join(), ...locations, '-']
      // It exits with 1 when something is the matter, and says what on standard output.
      const output = await run(kubeconform, args, { input: manifests }).catch(error => (error as Error).message)
      const { resources = [] } = JSON.parse(output.slice(output.indexOf('{'))) as {
        readonly resources?: readonly { readonly name: string; readonly msg: string }[]
      }
      return resources.map(({ name, msg }) => `${name}: ${msg}`)
    },
    close: () => rmSync(own, { recursive: true }),
  }
}

/** Skips where the work throws `Unavailable`; without a limit it has what is left of that of the suite. */
export async function orSkip<T>(context: Mocha.Context, work: (limitMs: number) => Promise<T>, limitMs?: number): Promise<T> {
  try {
    return await work(limitMs ?? Math.max(1, startedMs + BUILD_LIMIT_MS - Date.now()))
  } catch (error) {
    if (error instanceof Unavailable) return skipBecause(context, error.message)
    throw error
  }
}
