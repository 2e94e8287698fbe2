/** Attributes of resource and scope: flattened once for all their records, and bounded in what they repeat. */
import type { InstrumentationScope, Resource } from '../../otlp/payload.ts'
import { holdsObjects } from '../documents/field-paths.ts'
import { attributesDigest } from './document-id.ts'
import { type FlatAttributes, flattenAttributes } from './flatten.ts'

/** Attributes of resource and scope that come to no more than this stand in every record, in bytes of a flat record. */
export const MAX_SMALL_SHARED_BYTES = 8_192
/** Bytes of large attributes that the records of one message may repeat; from then on each record has a part of them. */
export const MAX_REPEATED_ATTRIBUTE_BYTES = 8_388_608
/** An attribute, or an object in a list, is work for every step behind as so many bytes are. */
const ATTRIBUTE_BYTES = 128

/** An attribute stands in a flat record under its flattened and under its original key. */
const COPIES = 2
/** Quotes, colon and comma of a member. */
const MEMBER_LENGTH = 4

/** Attributes that many records have in common, flattened once for all of them. */
export interface SharedAttributes {
  readonly all: FlatAttributes
  /** Over all of them, also for a record that has only a part. */
  readonly digest: string
  readonly repeated: Repeated
  /** Those that a record has when there is no room for all, with a note of it. */
  part(): FlatAttributes
}

/** The attributes that each record repeats. */
export interface Repeated {
  /** In a flat record. */
  readonly bytes: number
  /** Attributes, and objects in lists. */
  readonly items: number
}

export function shareResource(resource: Resource | undefined): SharedAttributes {
  return share(flattenAttributes(resource?.attributes), 'resource')
}

export function shareScope(scope: InstrumentationScope | undefined): SharedAttributes {
  return share(scopeAttributes(scope), 'scope')
}

/** Attributes of the scope, its name and version among them. */
export function scopeAttributes(scope: InstrumentationScope | undefined): FlatAttributes {
  const own = []
  if (scope?.name) own.push({ key: 'otel.scope.name', value: { stringValue: scope.name } })
  if (scope?.version) own.push({ key: 'otel.scope.version', value: { stringValue: scope.version } })
  return flattenAttributes(own, scope?.attributes)
}

function share(all: FlatAttributes, owner: 'resource' | 'scope'): SharedAttributes {
  let part: FlatAttributes | undefined
  let bytes = 0
  let items = 0
  for (const [key, json] of all) {
    bytes += memberLength(key, json)
    items += 1 + (holdsObjects(json) ? json.split('{').length : 0)
  }
  return {
    all,
    digest: attributesDigest(all),
    repeated: { bytes, items },
    part() {
      part ??= takePart(all, owner)
      return part
    },
  }
}

const memberLength = (key: string, json: string) => COPIES * (key.length + json.length + MEMBER_LENGTH)

/** Those that fit one after the other; a long one is left out, shorter ones behind it are not. */
function takePart(all: FlatAttributes, owner: 'resource' | 'scope'): FlatAttributes {
  const part = new Map<string, string>()
  let left = MAX_SMALL_SHARED_BYTES / 2
  for (const [key, json] of all) {
    const length = memberLength(key, json)
    if (length > left) continue
    left -= length
    part.set(key, json)
  }
  const missing = all.size - part.size
  if (missing === 0) return all
  const note = `${missing} of ${all.size} attributes of the ${owner} are left out here; the first records of the same message have them`
  return part.set(`logpipeline.cut.${owner}`, JSON.stringify(note))
}

/** Counts what the records of one message repeat. */
export class Repetition {
  #left = MAX_REPEATED_ATTRIBUTE_BYTES

  /** Whether the next record may have all that it shares with others. */
  take({ bytes, items }: Repeated): boolean {
    if (bytes <= MAX_SMALL_SHARED_BYTES) return true
    this.#left -= bytes + ATTRIBUTE_BYTES * items
    return this.#left >= 0
  }
}
