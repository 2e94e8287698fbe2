/** A port of a pod or Service of the cluster, on this machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { kubectlProgram } from './kubectl.ts'

export interface PortForward {
  readonly url: string
  stop(): Promise<void>
}

/** `target` as kubectl names it, such as `service/shop-collector`. A Service stands for one of its pods, chosen now. */
export async function forwardPort(kubeconfig: string, namespace: string, target: string, port: number): Promise<PortForward> {
  const args = ['--kubeconfig', kubeconfig, 'port-forward', '--namespace', namespace, '--address=127.0.0.1', target, `:${port}`]
  const child = spawn(kubectlProgram(), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let problem = ''
  child.stderr.on('data', chunk => {
    problem += chunk
  })
  const stop = async (): Promise<void> => {
    child.kill()
    await ended
  }
  for await (const line of createInterface(child.stdout)) {
    const local = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    child.stdout.resume()
    if (local !== undefined) return { url: `http://127.0.0.1:${local}`, stop }
  }
  throw new Error(`port-forward ${target} ${port}: ${problem.trim()}`)
}
