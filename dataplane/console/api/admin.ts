/** API keys (Spec: API keys). */
import type { ApiKey, CreatedKey } from '../../domain/api-keys/api-key.ts'
import { request } from './request.ts'

export type { ApiKey, CreatedKey }

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
