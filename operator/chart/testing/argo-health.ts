/** The health script for Argo CD, run as Argo CD does: by gopher-lua, with the object as `obj`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import { run } from '../../../dataplane/testing/real/go-tools.ts'
import { readExample } from './chart-examples.ts'

export interface Health {
  readonly status: string
  readonly message: string
}

/** `glua`: path of gopher-lua's program. */
export async function argoHealth(glua: string, object: object): Promise<Health> {
  const [map] = readExample('argocd/argocd-cm.yaml') as readonly [KubernetesObject]
  const [script] = Object.values(map['data'] as Readonly<Record<string, string>>)
  const directory = mkdtempSync(join(tmpdir(), 'chart-health-'))
  try {
    const file = join(directory, 'health.lua')
    writeFileSync(
      file,
      `obj = ${luaOf(object)}\nlocal function check()\n${script}\nend\nlocal h = check()\nprint(h.status)\nprint(h.message)\n`,
    )
    const [status = '', ...said] = (await run(glua, [file])).trimEnd().split('\n')
    return { status, message: said.join(' ') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`
  if (typeof value !== 'object' || value === null) return value === undefined || value === null ? 'nil' : JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, inner]) => `[${JSON.stringify(name)}] = ${luaOf(inner)}`)
    .join(', ')}}`
}
