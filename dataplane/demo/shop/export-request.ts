/** Records of the shop as an OTLP JSON request. */
import { SERVICES, type ShopAttributes, type ShopLevel, type ShopRecord } from './services.ts'

const SEVERITY_NUMBERS: Readonly<Record<ShopLevel, number>> = { INFO: 9, WARN: 13, ERROR: 17, FATAL: 21 }

/** Neighbours of one service share a resource, so that the order of time stays. */
export function toExportRequest(records: readonly ShopRecord[], tenant: string): string {
  const groups = Map.groupBy(records, ({ service, version }) => `${service} ${version ?? ''}`)
  const resourceLogs = [...groups.values()].map(group => ({
    resource: { attributes: toAttributes(resourceOf(group[0]!, tenant)) },
    scopeLogs: [{ scope: { name: 'shop' }, logRecords: group.map(toLogRecord) }],
  }))
  return JSON.stringify({ resourceLogs })
}

function resourceOf({ service, version }: ShopRecord, tenant: string): ShopAttributes {
  return {
    'service.name': service,
    'service.namespace': 'shop',
    'service.version': version ?? SERVICES[service].version,
    'host.name': SERVICES[service].host,
    'deployment.environment.name': 'demo',
    'cloud.region': 'eu-west-1',
    tenant_id: tenant,
  }
}

function toLogRecord({ timeMs, level, message, traceId, spanId, attributes }: ShopRecord) {
  return {
    timeUnixNano: `${BigInt(Math.round(timeMs * 1_000)) * 1_000n}`,
    severityText: level,
    severityNumber: SEVERITY_NUMBERS[level],
    body: { stringValue: message },
    ...(traceId !== undefined && { traceId, spanId }),
    ...(attributes !== undefined && { attributes: toAttributes(attributes) }),
  }
}

function toAttributes(attributes: ShopAttributes) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }))
}
