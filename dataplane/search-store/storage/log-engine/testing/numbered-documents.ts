import type { WriteOp } from '../../index-storage.ts'

/** Document number n: everything in it follows from the number. */
export function numberedDocument(n: number): { readonly id: string; readonly source: Buffer } {
  const source = {
    timestamp: new Date(Date.UTC(2026, 10, 21) + n * 10).toISOString(),
    service: `service-${n % 5}`,
    level: n % 10 === 0 ? 'ERROR' : 'INFO',
    tenant_id: 'default',
    message: `request number${n} took ${n % 100} ms`,
    is_anomaly: false,
    log_id: `log-${n}`,
  }
  return { id: `${String(n).padStart(8, '0')}-0000-5000-a000-000000000000`, source: Buffer.from(JSON.stringify(source)) }
}

/** Operations on so many numbered documents, from a number on. */
export const creates = (from: number, count: number): WriteOp[] =>
  Array.from({ length: count }, (_, k) => ({ action: 'create', ...numberedDocument(from + k) }))
export const deletes = (from: number, count: number): WriteOp[] =>
  Array.from({ length: count }, (_, k) => ({ action: 'delete', id: numberedDocument(from + k).id }))
/** Each gets a host. */
export const updates = (from: number, count: number): WriteOp[] =>
  Array.from({ length: count }, (_, k) => ({
    action: 'update',
    id: numberedDocument(from + k).id,
    partial: Buffer.from(`{"host":"host-${k}"}`),
  }))
