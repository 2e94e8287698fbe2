/** Which indices of the search store a tenant may name (Decisions 7, 8). */
import { ALL_LOGS, anomaliesIndex, auditIndex, incidentsIndex, LOGS_PREFIX, tenantLogsAlias } from '../contract/indices.ts'
import { HttpError } from '../http/http-error.ts'

/** `logs`: documents of all tenants, to be filtered. `own`: indices that hold the tenant's documents alone. */
export type IndexKind = 'logs' | 'own'

export interface IndexExpression {
  readonly kind: IndexKind
  readonly names: readonly string[]
}

const MAX_NAMES = 100
/** A day, or days by a wildcard: `2026.11.22`, `2026.11.*`, `2026*`. */
const DAYS = /^\d{4}(\.\d{2}){0,2}\.?\*$|^\d{4}\.\d{2}\.\d{2}$/

/** Throws `HttpError` 403 for what is not the tenant's, 400 for logs and others in one expression. */
export function parseIndexExpression(text: string, tenant: string): IndexExpression {
  const names = text.split(',')
  if (names.length > MAX_NAMES) throw new HttpError(400, `index: expected at most ${MAX_NAMES} names`)
  const kinds = new Set(names.map(name => kindOf(name, tenant)))
  if (kinds.size > 1) throw new HttpError(400, 'index: expected logs alone, or indices other than logs')
  return { kind: [...kinds][0]!, names }
}

/** The indices beside logs that a tenant has. */
export const ownIndices = (tenant: string): readonly string[] => [anomaliesIndex(tenant), incidentsIndex(tenant), auditIndex(tenant)]

function kindOf(name: string, tenant: string): IndexKind {
  if (name === ALL_LOGS || name === tenantLogsAlias(tenant)) return 'logs'
  if (name.startsWith(LOGS_PREFIX) && DAYS.test(name.slice(LOGS_PREFIX.length))) return 'logs'
  if (ownIndices(tenant).includes(name)) return 'own'
  throw new HttpError(403, `index ${JSON.stringify(name.slice(0, 100))}: outside the indices of this tenant`)
}
