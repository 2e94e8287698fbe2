/** API keys (Spec: API keys). */
import type { ApiKey } from '../../domain/api-keys/api-key.ts'
import { request } from './request.ts'

export type { ApiKey }

export interface CreatedKey {
  readonly id: string
  readonly name: string
  /** Whole, this one time. */
  readonly key: string
  readonly createdAt: string
}

const PATH = '/api/admin/api-keys'

export function listKeys(signal?: AbortSignal): Promise<readonly ApiKey[]> {
  return request(PATH, { signal })
}

export function createKey(name: string): Promise<CreatedKey> {
  return request(PATH, { method: 'POST', body: { name } })
}

export function revokeKey(id: string): Promise<{ readonly status: 'ok'; readonly revokedId: string }> {
  return request(PATH, { method: 'DELETE', body: { id } })
}
