import type { V1Volume, V1VolumeMount, V1VolumeProjection } from '@kubernetes/client-node'
import type { MountedKey } from './role-settings.ts'
import type { Json } from './typed-object.ts'

/** Files of one directory, from keys of Secrets and ConfigMaps. */
export interface FileMount {
  readonly volume: string
  readonly directory: string
  /** Path within the directory → where it comes from. */
  readonly files: Readonly<Record<string, MountedKey>>
  /** Each key of it is a file of that name, also one that comes later. */
  readonly allKeysOf?: Omit<MountedKey, 'key'>
  /** Objects and keys that are not there are left out, until they are; without it the pod waits for them. */
  readonly isOptional?: true
}

/** Volumes and their mounts; none for a directory without files. */
export function mountFiles(mounts: readonly FileMount[]): { readonly volumes: Json<V1Volume>[]; readonly mounts: V1VolumeMount[] } {
  const used = mounts.filter(({ files }) => Object.keys(files).length > 0)
  return {
    volumes: used.map(({ volume, ...mount }) => ({ name: volume, projected: { sources: projections(mount) } })),
    mounts: used.map(({ volume, directory }) => ({ name: volume, mountPath: directory, readOnly: true })),
  }
}

/** One for each object, with the keys that are wanted of it. */
function projections({ files, allKeysOf, isOptional }: Omit<FileMount, 'volume'>): V1VolumeProjection[] {
  const optional = isOptional === undefined ? {} : { optional: true }
  const byObject = Map.groupBy(Object.entries(files), ([, { kind, name }]) => `${kind} ${name}`)
  const listed = [...byObject.values()].map(entries => {
    const [, { kind, name }] = entries[0]!
    const items = entries.map(([path, { key }]) => ({ key, path }))
    return { [kind]: { name, items, ...optional } }
  })
  return allKeysOf === undefined ? listed : [...listed, { [allKeysOf.kind]: { name: allKeysOf.name, ...optional } }]
}
