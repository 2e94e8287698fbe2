/** The real controller of External Secrets as a process of this machine, with the provider `fake` alone. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../dataplane/testing/cluster/kubectl.ts'
import { freePort } from '../../dataplane/testing/free-port.ts'
import { buildOnce, downloadModule, run, runGo } from '../../dataplane/testing/real/go-tools.ts'

export const EXTERNAL_SECRETS = 'github.com/external-secrets/external-secrets'
const EXTERNAL_SECRETS_VERSION = 'v0.20.4'

/** The module has four dozen providers with an SDK each; these packages register themselves in place of all of them. */
const REGISTERED = { provider: ['fake'], generator: ['fake', 'password', 'uuid'] }
const SOURCES = ['go.mod', 'go.sum', 'main.go', 'apis', 'cmd', 'pkg']

/** Path of the controller: built once, in minutes. Throws `Unavailable` where it cannot be had within the time. */
export function findExternalSecrets(limitMs: number): Promise<string> {
  return buildOnce(`external-secrets-${EXTERNAL_SECRETS_VERSION}`, async directory => {
    const deadlineMs = Date.now() + limitMs
    const module = await downloadModule(`${EXTERNAL_SECRETS}@${EXTERNAL_SECRETS_VERSION}`, limitMs)
    await run('cp', ['-r', '--no-preserve=mode', ...SOURCES.map(name => join(module, name)), directory])
    for (const [kind, names] of Object.entries(REGISTERED)) {
      const imports = names.map(name => `import _ "${EXTERNAL_SECRETS}/pkg/${kind}/${name}"\n`)
      writeFileSync(join(directory, 'pkg', kind, 'register/register.go'), `package register\n\n${imports.join('')}`)
    }
    const program = join(directory, 'external-secrets')
    const args = ['build', '-C', directory, '-mod=mod', '-trimpath', '-ldflags', '-s -w', '-o', program, '.']
    await runGo(args, Math.max(1, deadlineMs - Date.now()))
    return program
  })
}

/** Kinds that it leaves alone, so that they need not be there. */
const WITHOUT = ['push-secret', 'cluster-push-secret', 'cluster-external-secret', 'cluster-store']

export interface ExternalSecretsProcess {
  stop(): Promise<void>
}

/** Resolves once it is alive; the CRDs of ExternalSecret, SecretStore and GeneratorState have to be there. */
export async function startExternalSecrets(program: string, kubeconfig: string): Promise<ExternalSecretsProcess> {
  const [metrics, live] = [await freePort(), await freePort()].map(port => `127.0.0.1:${port}`)
  const without = WITHOUT.map(name => `--enable-${name}-reconciler=false`)
  const args = ['--metrics-addr', metrics!, '--live-addr', live!, '--zap-time-encoding', 'rfc3339', ...without]
  const { PATH, HOME } = process.env
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH, HOME, KUBECONFIG: kubeconfig } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output = (output + chunk).slice(-20_000)
    })
  const ended = once(child, 'exit')
  const alive = until('External Secrets is alive', async () => child.exitCode !== null || (await fetch(`http://${live}/healthz`)).ok)
  await alive.finally(() => {
    if (child.exitCode !== null) throw new Error(`External Secrets ended with ${child.exitCode}:\n${output}`)
  })
  return {
    async stop() {
      child.kill()
      await ended
    },
  }
}
