/** A Secret as the operator keeps it: without the values that no reference wants, and with digests of long ones. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { inputsHash } from '../desired/inputs-hash.ts'
import type { Secret } from '../observed/foreign-kinds.ts'
import { ALL_KEYS } from '../observed/references.ts'

/** A longer value is kept as its digest. Values that are copied are shorter (`MAX_FIELD_BYTES`). */
export const MAX_KEPT_CHARACTERS = 22 * 1024
/** Keys without a reference whose names are kept, for messages. */
const MAX_OTHER_KEYS = 9

export function keptSecret({ apiVersion, kind, metadata, ['data']: data }: KubernetesObject, keys: ReadonlySet<string>): Secret {
  const { name, namespace, uid, resourceVersion } = metadata
  const entries: [string, string][] = []
  const long: [string, number][] = []
  let others = 0
  for (const [key, value] of Object.entries((data ?? {}) as NonNullable<Secret['data']>)) {
    if (!keys.has(key) && !keys.has(ALL_KEYS)) {
      if (others++ < MAX_OTHER_KEYS) entries.push([key, ''])
    } else if (isLong(value)) {
      entries.push([key, standIn(value)])
      long.push([key, Buffer.byteLength(value, 'base64')])
    } else entries.push([key, value])
  }
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    data: Object.fromEntries(entries),
    ...(long.length > 0 && { longValues: Object.fromEntries(long) }),
  }
}

const isLong = (base64: string) => base64.length > MAX_KEPT_CHARACTERS

/** Stands for a long value: it differs when the content does, and looks like PEM when the content is PEM. */
function standIn(base64: string): string {
  const marker = Buffer.from(base64, 'base64').includes('-----BEGIN ') ? '-----BEGIN ' : ''
  return btoa(`${marker}sha256 ${inputsHash(base64)}`)
}
