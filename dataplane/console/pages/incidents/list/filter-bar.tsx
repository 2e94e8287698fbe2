/** Which incidents are shown: statuses with their counts, then severity, service, time, order. */

import { Select } from '@mantine/core'
import { SEVERITIES } from '../../../../contract/platforms.ts'
import { formatCount } from '../../../components/format.ts'
import { visibleText } from '../../../components/text/visible-text.ts'
import { countOf, type IncidentCounts, type IncidentFilters, type ListOrder, SPANS, type StatusFilter } from '../rules/incident-filters.ts'
import styles from './list.module.css'

const STATUS_WORDS: readonly (readonly [StatusFilter, string])[] = [
  ['unresolved', 'Unresolved'],
  ['open', 'Open'],
  ['escalated', 'Escalated'],
  ['acknowledged', 'Acknowledged'],
  ['resolved', 'Resolved'],
  ['all', 'All'],
]
const ANY = ''

export interface FilterBarProps {
  readonly filters: IncidentFilters
  readonly counts: IncidentCounts | undefined
  readonly onChange: (changes: Partial<Record<keyof IncidentFilters, unknown>>) => void
}

export function FilterBar({ filters, counts, onChange }: FilterBarProps) {
  return (
    <div className={styles.filters}>
      <fieldset className={styles.statuses} aria-label="Status">
        {STATUS_WORDS.map(([status, label]) => (
          <button key={status} type="button" aria-pressed={filters.status === status} onClick={() => onChange({ status })}>
            {label}
            {counts !== undefined && <span className="numeric">{formatCount(countOf(counts, status))}</span>}
          </button>
        ))}
      </fieldset>
      <div className={styles.selects}>
        <Select
          aria-label="Severity"
          data={[
            { value: ANY, label: 'Any severity' },
            ...SEVERITIES.map(value => ({ value, label: counted(value, counts?.severity[value]) })),
          ]}
          value={filters.severity ?? ANY}
          onChange={value => onChange({ severity: value || undefined })}
        />
        <Select
          aria-label="Service"
          searchable
          nothingFoundMessage="No such service"
          data={[{ value: ANY, label: 'Any service' }, ...servicesOf(filters, counts)]}
          value={filters.service ?? ANY}
          onChange={value => onChange({ service: value || undefined })}
        />
        <Select
          aria-label="Time"
          data={[{ value: ANY, label: 'Any time' }, ...Object.entries(SPANS).map(([value, { label }]) => ({ value, label }))]}
          value={filters.since ?? ANY}
          onChange={value => onChange({ since: value || undefined })}
        />
        <Select
          aria-label="Order"
          data={[
            { value: 'severity', label: 'Most severe first' },
            { value: 'newest', label: 'Newest first' },
          ]}
          value={filters.order}
          onChange={value => onChange({ order: (value ?? 'severity') as ListOrder })}
        />
      </div>
    </div>
  )
}

/** The chosen one is there, too, where nothing is counted for it. */
function servicesOf({ service }: IncidentFilters, counts: IncidentCounts | undefined) {
  const names = new Set([...Object.keys(counts?.service ?? {}), ...(service === undefined ? [] : [service])])
  return [...names].sort().map(value => ({
    value,
    label: counted(value, counts !== undefined && Object.hasOwn(counts.service, value) ? counts.service[value] : undefined),
  }))
}

function counted(name: string, count: number | undefined): string {
  return count === undefined ? visibleText(name) : `${visibleText(name)} (${formatCount(count)})`
}
