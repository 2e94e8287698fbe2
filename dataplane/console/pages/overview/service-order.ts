/** Orders of the services on the overview: which fails, which makes the noise, which changed. */
import type { ServiceCounts } from './overview-data.ts'

export const SERVICE_ORDERS = ['worst', 'errors', 'records', 'change'] as const
export type ServiceOrder = (typeof SERVICE_ORDERS)[number]

/** The higher, the further up. */
const WEIGHTS: Readonly<Record<ServiceOrder, (service: ServiceCounts) => number>> = {
  // Errors weighed by their share. By share alone, services of a single record push out the one that fails a thousand times; by number alone,
  // the busiest services hide one that fails whole.
  worst: ({ errors, errorShare }) => errors * errorShare,
  errors: ({ errors }) => errors,
  records: ({ records }) => records,
  change: ({ records, recordsBefore = records }) =>
    records + recordsBefore === 0 ? 0 : Math.abs(records - recordsBefore) / Math.sqrt((records + recordsBefore) / 2),
}

export function orderServices(services: readonly ServiceCounts[], order: ServiceOrder): readonly ServiceCounts[] {
  const weigh = WEIGHTS[order]
  return services.toSorted(
    (a, b) => weigh(b) - weigh(a) || b.errorShare - a.errorShare || b.records - a.records || (a.service < b.service ? -1 : 1),
  )
}
