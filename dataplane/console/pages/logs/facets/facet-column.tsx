import { Button } from '@mantine/core'
import { memo } from 'react'
import { Pending } from '../../../components/states/states.tsx'
import type { TimeWindow } from '../../../url-state/time-range.ts'
import type { FieldCatalog } from '../search/field-catalog.ts'
import { useFacets } from '../use-logs.ts'
import styles from './facet-list.module.css'
import { FacetList } from './facet-list.tsx'

export interface FacetColumnProps {
  readonly search: string
  readonly window: TimeWindow
  /** Fields of the store, and with those of the records on the page. */
  readonly fields: FieldCatalog
  readonly catalog: FieldCatalog
  readonly chosen: readonly string[]
  /** The window ends now, beside a live tail. */
  readonly movesOn: boolean
  readonly onChoose: (fields: readonly string[]) => void
}

/** Reads the facets and shows them. Walking through records does not draw it. */
export const FacetColumn = memo(function FacetColumn({ search, window, fields, catalog, chosen, movesOn, onChoose }: FacetColumnProps) {
  const { data, error, isLoading, refetch } = useFacets(search, window, chosen, fields, movesOn)
  if (isLoading) return <Pending what="Counting values of fields" />
  if (error === null || data !== undefined) return <FacetList facets={data ?? []} fields={chosen} catalog={catalog} onFields={onChoose} />
  return (
    <div className={styles.unknown}>
      <p>Values of fields cannot be counted at present.</p>
      <Button size="compact-xs" variant="default" onClick={() => void refetch()}>
        Count again
      </Button>
    </div>
  )
})
