import type { KnownOrigins } from './known-origins.ts'

/** Says whose the records of a request are, in each of its resources, while they are transcoded. */
export interface ResourceOwner {
  readonly tenantId: string
  /** Resources that were rewritten already, for this owner and others. */
  readonly known: KnownOrigins
  /** The JSON of a resource as it goes on; `{}` where a request has none. Throws `MalformedPayload`. */
  rewrite(resource: Uint8Array): Uint8Array
}
