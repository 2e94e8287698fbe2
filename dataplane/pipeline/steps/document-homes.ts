/** Where documents go, and which custom keys each tenant has in each daily index (Decisions 4). */
import { LOGS_PREFIX } from '../../contract/indices.ts'
import { CustomKeys } from '../../domain/documents/custom-keys.ts'
import { fieldPaths } from '../../domain/documents/field-paths.ts'
import { splitMembers } from '../../json/text-members.ts'
import { readHead, startsWithDay } from '../flat-record-layout.ts'
import type { LaidOut } from './document-bytes.ts'

/** Key sets remembered as admitted, of all homes together. */
const MAX_ADMITTED_SETS = 20_000

/** Tenants and days whose documents are known to be alike; records name few at a time. */
const MAX_HOMES = 1_000

/** Where a document goes: one object for all documents that follow each other there. */
export interface DocumentHome {
  readonly tenant: string
  /** The daily index. */
  readonly index: string
}

export interface Home extends DocumentHome {
  readonly day: string
  /** Sets of custom keys that are admitted whole. */
  readonly keySets: Set<string>
}

export class DocumentHomes {
  readonly #customKeys = new CustomKeys()
  readonly #homes = new Map<string, Home>()
  #admittedSets = 0
  /** Records that follow each other mostly have one key and one day. */
  #lastKey = ''
  #lastHome: Home | undefined

  /** Undefined when the record starts otherwise than flat records do. */
  of(key: string, { bytes, start, known }: LaidOut): Home | undefined {
    const last = this.#lastHome
    if (key === this.#lastKey && last !== undefined && startsWithDay(bytes, start, last.day, known !== undefined)) return last
    const head = readHead(key, bytes, start)
    if (head === undefined) return undefined
    this.#lastKey = key
    this.#lastHome = this.#at(head.tenant, head.day)
    return this.#lastHome
  }

  #at(tenant: string, day: string): Home {
    const id = `${day}/${tenant}`
    const known = this.#homes.get(id)
    if (known !== undefined) return known
    if (this.#homes.size >= MAX_HOMES) {
      this.#forgetSets()
      this.#homes.clear()
    }
    const home = { day, tenant, index: LOGS_PREFIX + day, keySets: new Set<string>() }
    this.#homes.set(id, home)
    return home
  }

  /** Whether a custom attribute has a field of its own in the tenant's documents of the day. */
  admit(tenant: string, day: string, path: string): boolean {
    return this.#customKeys.admit(tenant, day, path)
  }

  /** Whether all custom attributes of the record have fields of their own. */
  admitAll({ tenant, day, keySets }: Home, { bytes, start, layout }: LaidOut): boolean {
    const { attributesStart, topLevelEnd, keySet } = layout
    if (topLevelEnd === attributesStart) return true
    const members = splitMembers(`{${bytes.toString('utf8', start + attributesStart, start + topLevelEnd)}}`)
    for (const [key, json] of members) for (const path of fieldPaths(key, json)) if (!this.admit(tenant, day, path)) return false
    if (keySet !== '') {
      if (this.#admittedSets >= MAX_ADMITTED_SETS) this.#forgetSets()
      keySets.add(keySet)
      this.#admittedSets++
    }
    return true
  }

  /** Learns from the search store's refusal of a document; true where it has named a field, without which keys were admitted so far. */
  learn(index: string, reason: string): boolean {
    const isNew = this.#customKeys.learn(index.slice(LOGS_PREFIX.length), reason)
    if (isNew) this.#forgetSets()
    return isNew
  }

  #forgetSets(): void {
    for (const { keySets } of this.#homes.values()) keySets.clear()
    this.#admittedSets = 0
  }
}
