import { tenantOfRecord } from '../tenants/tenant.ts'
import { type FlatAttributes, flatText } from './flatten.ts'

/** Attributes that fill each canonical field, the first present wins (Decisions 4). */
const SOURCES = {
  service: ['service.name'],
  host: ['host.name', 'k8s.pod.name', 'k8s.node.name'],
  environment: ['deployment.environment.name', 'deployment.environment'],
  region: ['cloud.region'],
  batch_id: ['batch_id'],
} as const

/** Longer values are cut in the field; the attribute keeps them whole. */
const MAX_FIELD_LENGTH = 1_024

export const UNKNOWN_SERVICE = 'unknown_service'

/** The canonical fields that come from attributes. */
export interface CanonicalFields {
  readonly tenant_id: string
  readonly service: string
  readonly host?: string
  readonly environment?: string
  readonly region?: string
  readonly batch_id?: string
}

/** All attribute keys that can fill a canonical field from a record. */
export const CANONICAL_SOURCES: ReadonlySet<string> = new Set(Object.values(SOURCES).flat())

/** The fields come from the resource, and from the record's attributes only where the resource lacks them (Decisions 4). */
export function canonicalFields(resource: FlatAttributes, record: FlatAttributes, defaultTenant: string): CanonicalFields {
  const first = (keys: readonly string[]) => firstText(resource, keys) ?? firstText(record, keys)
  const host = first(SOURCES.host)
  const environment = first(SOURCES.environment)
  const region = first(SOURCES.region)
  const batchId = first(SOURCES.batch_id)
  return {
    tenant_id: tenantOfRecord(namedTenant(resource), defaultTenant),
    service: first(SOURCES.service) ?? UNKNOWN_SERVICE,
    ...(host !== undefined && { host }),
    ...(environment !== undefined && { environment }),
    ...(region !== undefined && { region }),
    ...(batchId !== undefined && { batch_id: batchId }),
  }
}

/** A text alone, as at the collector, which keys a message by the tenant: a number would be one tenant there and another here. */
function namedTenant(resource: FlatAttributes): string | undefined {
  const json = resource.get('tenant_id')
  return json?.startsWith('"') === true ? flatText(json) : undefined
}

function firstText(attributes: FlatAttributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = flatText(attributes.get(key))
    if (text !== undefined) return text.length > MAX_FIELD_LENGTH ? text.slice(0, MAX_FIELD_LENGTH).toWellFormed() : text
  }
  return undefined
}
