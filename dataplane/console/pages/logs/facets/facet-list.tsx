/** The most frequent values of some fields: a click asks for one, another takes it back. */

import { ActionIcon } from '@mantine/core'
import { IconMinus, IconX } from '@tabler/icons-react'
import { useMemo } from 'react'
import { LevelBadge, ServiceName } from '../../../components/badges/badges.tsx'
import { formatCount, formatShort } from '../../../components/format.ts'
import { ForeignText, VisibleText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { useLogsActions } from '../filters.ts'
import { type Facet, MAX_FACETS } from '../requests/facets.ts'
import { FieldBox } from '../search/field-box.tsx'
import { type FieldCatalog, isCountable } from '../search/field-catalog.ts'
import styles from './facet-list.module.css'

export interface FacetListProps {
  readonly facets: readonly Facet[]
  /** Those that are asked for. */
  readonly fields: readonly string[]
  readonly catalog: FieldCatalog
  readonly onFields: (fields: readonly string[]) => void
}

export function FacetList({ facets, fields, catalog, onFields }: FacetListProps) {
  // Nothing is found: one sentence instead of the same one under each field.
  if (facets.length > 0 && facets.every(({ values }) => values.length === 0))
    return (
      <nav className={styles.facets} aria-label="Filters">
        <p className={styles.none}>Values of fields are counted here once a record matches.</p>
      </nav>
    )
  return (
    <nav className={styles.facets} aria-label="Filters">
      {facets.map(facet => (
        <FacetSection
          key={facet.field}
          facet={facet}
          onRemove={fields.length > 1 ? () => onFields(fields.filter(name => name !== facet.field)) : undefined}
        />
      ))}
      {fields.length < MAX_FACETS && <AddFacet fields={fields} catalog={catalog} onAdd={field => onFields([...fields, field])} />}
    </nav>
  )
}

function FacetSection({
  facet: { field, values, otherCount },
  onRemove,
}: {
  readonly facet: Facet
  readonly onRemove: (() => void) | undefined
}) {
  const { filterOf, setFilter } = useLogsActions()
  const most = Math.max(1, ...values.map(({ count }) => count))
  return (
    <section className={styles.facet} aria-label={field}>
      <header>
        <h2>
          <ForeignText text={field} />
        </h2>
        {onRemove !== undefined && (
          <ActionIcon size="xs" aria-label={`Hide ${field}`} onClick={onRemove}>
            <IconX size={12} />
          </ActionIcon>
        )}
      </header>
      {values.length === 0 && <p>no record has it</p>}
      <ul>
        {values.map(({ value, count }) => {
          const kind = filterOf(field, value)
          return (
            <li key={value} data-kind={kind} style={{ '--share': `${(100 * count) / most}%` } as React.CSSProperties}>
              <button
                type="button"
                className={styles.value}
                aria-pressed={kind === 'in'}
                title={`${visibleText(value)}: ${formatCount(count)}`}
                onClick={() => setFilter(field, value, kind === 'none' ? 'in' : 'none')}
              >
                <span className={styles.name} dir="auto">
                  {field === 'level' ? (
                    <LevelBadge level={value} />
                  ) : field === 'service' ? (
                    <ServiceName name={value} />
                  ) : (
                    <VisibleText text={value} />
                  )}
                </span>
                <span className={styles.count}>{formatShort(count)}</span>
              </button>
              <button
                type="button"
                title={kind === 'out' ? 'No longer leave it out' : 'Leave it out'}
                className={styles.out}
                aria-label={visibleText(`${kind === 'out' ? 'No longer leave out' : 'Leave out'} ${field} ${value}`)}
                aria-pressed={kind === 'out'}
                onClick={() => setFilter(field, value, kind === 'out' ? 'none' : 'out')}
              >
                <IconMinus size={12} />
              </button>
            </li>
          )
        })}
      </ul>
      {otherCount > 0 && <p>{formatCount(otherCount)} with others</p>}
    </section>
  )
}

function AddFacet({
  fields,
  catalog,
  onAdd,
}: {
  readonly fields: readonly string[]
  readonly catalog: FieldCatalog
  readonly onAdd: (field: string) => void
}) {
  const offered = useMemo(
    () => [...catalog].filter(([name, kind]) => isCountable(kind) && !fields.includes(name)).map(([name]) => name),
    [catalog, fields],
  )
  return <FieldBox label="Filter by another field" fields={offered} onChoose={onAdd} maxDropdownHeight={240} />
}
