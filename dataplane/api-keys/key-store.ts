/** API keys in the search store: made, listed, revoked, found by their hash. The value of a key is kept nowhere (Decisions 8). */
import { hash as digest, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { API_KEYS_INDEX, API_KEYS_TEMPLATE } from '../contract/indices.ts'
import { type ApiKey, type CreatedKey, formatKey, KEY_BYTES, maskKey } from '../domain/api-keys/api-key.ts'
import { API_KEYS_TEMPLATE_BODY } from '../domain/documents/index-templates.ts'
import { createFairTurnstile } from '../limits/turns.ts'
import type { Clock } from '../ports/clock.ts'
import { retryOnConflict } from '../ports/retry-on-conflict.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../ports/search-store.ts'

/** Keys of one tenant that are not revoked. */
export const MAX_KEYS = 1_000

/** The tenant and the key's id, by which requests with the key are served. */
export interface KeyOwner {
  readonly id: string
  readonly tenant: string
}

export interface ApiKeyStore {
  /** Undefined when the tenant has `MAX_KEYS`. */
  create(tenant: string, name: string): Promise<CreatedKey | undefined>
  /** Makes a key whose value is known already, where it is missing; whether it stands for this tenant now. */
  adopt(tenant: string, name: string, key: string): Promise<'made' | 'there' | 'revoked' | 'of another tenant'>
  /** The tenant's keys that are not revoked, oldest first. */
  list(tenant: string): Promise<readonly ApiKey[]>
  /** False when the tenant has no such key, or no more. */
  revoke(tenant: string, id: string): Promise<boolean>
  /** By the hash of a key; undefined for one that was never made, or is revoked. */
  find(hash: string): Promise<KeyOwner | undefined>
  /** Notes when keys were used last, by their hash. */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>
}

export interface ApiKeyStoreDeps {
  readonly store: Pick<SearchStore, 'bulk' | 'get' | 'put' | 'putIndexTemplate' | 'refresh' | 'search'>
  readonly clock: Clock
}

interface StoredKey {
  readonly id: string
  readonly tenantId: string
  readonly name: string
  /** The masked form. */
  readonly prefix: string
  readonly hash: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly revokedAt?: string
}

/** Called for each request: one call takes less time than an object for the hash. */
export function hashKey(key: string): string {
  return digest('sha256', key)
}

type RevocationListener = (hash: string) => void
const listeners = new Set<RevocationListener>()

/** Calls back for each key that this process revokes, through any of its stores; the function returned ends that. */
export function onRevoked(listener: RevocationListener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function createApiKeyStore({ store, clock }: ApiKeyStoreDeps): ApiKeyStore {
  let hasTemplate = false
  /** One key is made after the other: each counts for the next. */
  const inTurn = createFairTurnstile(1)
  const now = () => new Date(clock.nowMs()).toISOString()

  const searchKeys = async (tenant: string, id?: string): Promise<readonly Versioned<StoredKey>[]> => {
    const filter = [{ term: { tenantId: tenant } }, ...(id === undefined ? [] : [{ term: { id } }])]
    const query = { bool: { filter, must_not: [{ exists: { field: 'revokedAt' } }] } }
    const sort = [{ createdAt: 'asc' }, { id: 'asc' }]
    return (await store.search<StoredKey>({ index: API_KEYS_INDEX, body: { size: MAX_KEYS, query, sort } })).hits
  }

  const putTemplate = async () => {
    if (!hasTemplate) await store.putIndexTemplate(API_KEYS_TEMPLATE, API_KEYS_TEMPLATE_BODY)
    hasTemplate = true
  }
  const putNew = async (tenant: string, name: string, key: string): Promise<StoredKey> => {
    const hash = hashKey(key)
    const stored: StoredKey = {
      ...{ id: randomUUID(), tenantId: tenant, name, prefix: maskKey(key), hash },
      ...{ createdAt: now(), lastUsedAt: null },
    }
    await store.put(API_KEYS_INDEX, hash, stored, { only: 'new' })
    await store.refresh(API_KEYS_INDEX)
    return stored
  }

  return {
    create(tenant, name) {
      return inTurn(tenant, async () => {
        await putTemplate()
        if ((await searchKeys(tenant)).length >= MAX_KEYS) return undefined
        const key = formatKey(randomBytes(KEY_BYTES))
        const { id, createdAt } = await putNew(tenant, name, key)
        return { id, name, key, createdAt }
      })
    },

    async adopt(tenant, name, key) {
      await putTemplate()
      try {
        await putNew(tenant, name, key)
        return 'made'
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error
      }
      const found = await store.get<StoredKey>(API_KEYS_INDEX, hashKey(key))
      if (found?.source.tenantId !== tenant) return 'of another tenant'
      return found.source.revokedAt === undefined ? 'there' : 'revoked'
    },

    async list(tenant) {
      const found = await searchKeys(tenant)
      return found.map(({ source: { id, name, prefix, createdAt, lastUsedAt } }) => ({ id, name, prefix, createdAt, lastUsedAt }))
    },

    async revoke(tenant, id) {
      const [found] = await searchKeys(tenant, id)
      if (found === undefined) return false
      // A use that is noted meanwhile makes a new version of the document.
      const isRevoked = await retryOnConflict(async () => {
        const latest = await store.get<StoredKey>(API_KEYS_INDEX, found.id)
        if (latest === undefined || latest.source.revokedAt !== undefined) return false
        await store.put(API_KEYS_INDEX, found.id, { ...latest.source, revokedAt: now() }, latest)
        return true
      })
      if (!isRevoked) return false
      for (const listener of listeners) listener(found.id)
      await store.refresh(API_KEYS_INDEX)
      return true
    },

    async find(hash) {
      const found = await store.get<StoredKey>(API_KEYS_INDEX, hash)
      if (found === undefined || !isEqual(found.source.hash, hash) || found.source.revokedAt !== undefined) return undefined
      return { id: found.source.id, tenant: found.source.tenantId }
    },

    async noteUses(uses) {
      const operations = [...uses].map(([hash, atMs]) => ({
        ...{ action: 'update' as const, index: API_KEYS_INDEX, id: hash },
        body: JSON.stringify({ lastUsedAt: new Date(atMs).toISOString() }),
      }))
      const outcomes = await store.bulk(operations)
      if (outcomes.some(({ status }) => status === 'done')) await store.refresh(API_KEYS_INDEX)
    },
  }
}

/** Takes the same time wherever two texts of one length differ. */
function isEqual(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
