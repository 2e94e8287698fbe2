/** A tenant id is an RFC 1123 label (Decisions 1). */
export const TENANT_ID_PATTERN = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** On resources of a cluster: the tenant that they belong to. */
export const TENANT_LABEL = 'logpipeline.dev/tenant'

/** The tenant of records that name none; other tenants' unset ticketing configuration falls back to its. */
export const DEFAULT_TENANT = 'default'
