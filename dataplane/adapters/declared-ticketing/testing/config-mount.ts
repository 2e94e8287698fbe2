import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export type Files = Readonly<Record<string, string>>

/** A directory as the kubelet mounts ConfigMaps and Secrets: links into a directory that is exchanged as a whole. */
export interface ConfigMount {
  readonly directory: string
  /** Exchanges all files in one step. */
  write(files: Files): void
  remove(): void
}

export function createConfigMount(files: Files): ConfigMount {
  const directory = mkdtempSync(join(tmpdir(), 'config-mount-'))
  let version = 0
  const linked = new Set<string>()
  const write = (content: Files) => {
    const name = `..2026_${++version}`
    writeFiles(join(directory, name), content)
    symlinkSync(name, join(directory, '..data_tmp'))
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'))
    rmSync(join(directory, `..2026_${version - 1}`), { recursive: true, force: true })
    for (const first of Object.keys(content).map(path => path.split('/')[0]!)) {
      if (linked.has(first)) continue
      linked.add(first)
      symlinkSync(join('..data', first), join(directory, first))
    }
  }
  write(files)
  return { directory, write, remove: () => rmSync(directory, { recursive: true }) }
}

export function writeFiles(directory: string, files: Files): void {
  mkdirSync(directory, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
}
