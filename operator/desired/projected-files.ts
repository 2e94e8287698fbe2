import type { Volume, VolumeMount, VolumeProjection } from 'kubernetes-types/core/v1.js'
import type { FileSource } from './role-settings.ts'

/** Files of one directory, from keys of Secrets and ConfigMaps. */
export interface FileMount {
  readonly volume: string
  readonly directory: string
  /** Path within the directory → where it comes from. */
  readonly files: Readonly<Record<string, FileSource>>
}

/** Volumes and their mounts; none for a directory without files. */
export function mountFiles(mounts: readonly FileMount[]): { readonly volumes: Volume[]; readonly mounts: VolumeMount[] } {
  const used = mounts.filter(({ files }) => Object.keys(files).length > 0)
  return {
    volumes: used.map(({ volume, files }) => ({ name: volume, projected: { sources: projections(files) } })),
    mounts: used.map(({ volume, directory }) => ({ name: volume, mountPath: directory, readOnly: true })),
  }
}

/** One for each object, with the keys that are wanted of it. */
function projections(files: Readonly<Record<string, FileSource>>): VolumeProjection[] {
  const byObject = Map.groupBy(Object.entries(files), ([, { kind, name }]) => `${kind} ${name}`)
  return [...byObject.values()].map(entries => {
    const [, { kind, name }] = entries[0]!
    return { [kind]: { name, items: entries.map(([path, { key }]) => ({ key, path })) } }
  })
}
