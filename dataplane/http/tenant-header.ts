import type { IncomingMessage } from 'node:http'
import { TENANT_HEADER } from '../contract/headers.ts'
import { TENANT_ID_PATTERN } from '../contract/tenant-id.ts'
import { HttpError } from './http-error.ts'

/** The tenant a request speaks for; undefined without the header: all tenants are visible (Decisions 7). Throws `HttpError` 400 for anything but a tenant id. */
export function tenantOf({ headers }: IncomingMessage): string | undefined {
  const tenant = headers[TENANT_HEADER]
  if (tenant === undefined) return undefined
  if (typeof tenant === 'string' && TENANT_ID_PATTERN.test(tenant)) return tenant
  throw new HttpError(400, `${TENANT_HEADER}: expected a tenant id, seen ${JSON.stringify(tenant)}`)
}
