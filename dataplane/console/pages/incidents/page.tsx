/** Incidents: the list, and beside it, where there is room, the incident itself. */

import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowLeft, IconChecks, IconFilterOff } from '@tabler/icons-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import type { Incident } from '../../api/ticketing.ts'
import { leaveControl, useShortcut } from '../../components/keyboard/use-shortcut.ts'
import { Page, Panel } from '../../components/layout/panel.tsx'
import { atLeast } from '../../components/layout/text-size.ts'
import { FirstLog, useAnyLogs } from '../../components/states/first-log.tsx'
import { useIsStale } from '../../components/states/stale.tsx'
import { EmptyState, ErrorPanel, Pending, useSlow } from '../../components/states/states.tsx'
import { useLink } from '../../url-state/links.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { noteOf, useActor } from './data/use-actor.ts'
import { useIncidentChange } from './data/use-incident-changes.ts'
import { type IncidentList as IncidentListData, useIncidentCounts, useIncidentList } from './data/use-incidents.ts'
import { IncidentDetail } from './detail/incident-detail.tsx'
import styles from './incidents.module.css'
import { BatchBar } from './list/batch-bar.tsx'
import { FilterBar } from './list/filter-bar.tsx'
import { IncidentList } from './list/incident-list.tsx'
import listStyles from './list/list.module.css'
import { allowedActions } from './rules/incident-actions.ts'
import {
  countOf,
  type IncidentCounts,
  type IncidentFilters,
  isFiltered,
  NO_FILTERS,
  readFilters,
  writeFilters,
} from './rules/incident-filters.ts'

const SPLIT = atLeast(1_200)
const PATH = '/incidents'

export default function IncidentsPage() {
  const isSplit = useMediaQuery(SPLIT, undefined, { getInitialValueInEffect: false }) ?? false
  const [, parameters] = useRoute(`${PATH}/:id`)
  const urlId = parameters?.id === undefined ? undefined : decodeId(parameters.id)
  const { filters, setFilters, hrefOf } = useFilters()
  const list = useIncidentList(filters)
  const counts = useIncidentCounts(filters)
  const anyLogs = useAnyLogs()
  const isEmpty = !list.isPending && list.error === null && list.incidents.length === 0 && urlId === undefined && !isFiltered(filters)
  const { currentId, moveTo } = useCurrent(list.incidents, urlId, { isSplit, hrefOf })
  const { detail, goToDetail } = useWayToDetail(isSplit)
  useListKeys(list.incidents, { currentId, urlId, isSplit, moveTo, hrefOf, goToDetail })

  const known = list.incidents.find(({ id }) => id === (urlId ?? currentId))
  if (!isSplit && urlId !== undefined) {
    const back = (
      <Link href={hrefOf(undefined)} className={styles.back}>
        <IconArrowLeft size={15} aria-hidden /> All incidents
      </Link>
    )
    return (
      <Page title="Incident">
        <IncidentDetail key={urlId} id={urlId} known={known} back={back} namesTab />
      </Page>
    )
  }
  const shownId = urlId ?? currentId
  if (isEmpty && anyLogs === false)
    return (
      <Page title="Incidents">
        <Panel title="Send the first log">
          <FirstLog />
        </Panel>
      </Page>
    )
  return (
    <Page title="Incidents" wide>
      <div className={isSplit ? styles.split : styles.narrow}>
        <div className={styles.listColumn}>
          <FilterBar filters={filters} counts={counts} onChange={setFilters} />
          <ListPanel {...{ list, filters, counts, currentId, isSplit, hrefOf, setFilters, goToDetail }} />
        </div>
        {isSplit &&
          (shownId === undefined ? (
            <NothingShown isKnown={!list.isPending && anyLogs !== undefined} isQuiet={isEmpty} />
          ) : (
            <section ref={detail} tabIndex={-1} className={styles.beside} aria-label="The incident">
              <IncidentDetail key={shownId} id={shownId} known={known} namesTab={urlId !== undefined} />
            </section>
          ))}
      </div>
    </Page>
  )
}

/** An address that was cut off may end within a character: it is an id that nobody knows. */
function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Filters stand in the URL, of the list and of each incident. */
function useFilters() {
  const search = useSearch()
  const [, navigate] = useLocation()
  const link = useLink()
  const filters = useMemo(() => readFilters(new URLSearchParams(search)), [search])
  const hrefOf = useCallback(
    (id: string | undefined) => link(id === undefined ? PATH : `${PATH}/${encodeURIComponent(id)}`, writeFilters(filters)),
    [link, filters],
  )
  const setFilters = useCallback(
    (changes: Partial<Record<keyof IncidentFilters, unknown>>) =>
      navigate(link(PATH, writeFilters({ ...filters, ...changes } as IncidentFilters))),
    [navigate, link, filters],
  )
  return { filters, setFilters, hrefOf }
}

/** The incident that the keyboard is at. Beside the list it stays what it was when a more severe one comes in: nobody's page changes under the eyes. */
function useCurrent(
  incidents: readonly Incident[],
  urlId: string | undefined,
  { isSplit, hrefOf }: { readonly isSplit: boolean; readonly hrefOf: (id: string) => string },
) {
  const [, navigate] = useLocation()
  const [chosenId, setChosenId] = useState<string>()
  const firstId = incidents[0]?.id
  useEffect(() => {
    if (chosenId === undefined && firstId !== undefined) setChosenId(firstId)
  }, [chosenId, firstId])
  const moveTo = useCallback(
    (id: string) => {
      setChosenId(id)
      if (isSplit || urlId !== undefined) navigate(hrefOf(id), { replace: true })
    },
    [isSplit, urlId, navigate, hrefOf],
  )
  return { currentId: urlId ?? chosenId ?? firstId, moveTo }
}

/** Beside the list: who opens an incident by the keyboard is at it, as Tab would go through all rows first; Escape leads back to its row. */
function useWayToDetail(isSplit: boolean) {
  const detail = useRef<HTMLElement>(null)
  // Once the incident that was opened is drawn.
  const goToDetail = useCallback(() => void requestAnimationFrame(() => detail.current?.focus({ preventScroll: true })), [])
  const goBack = () => {
    const rows = [...document.querySelectorAll<HTMLElement>(`.${listStyles.rowTitle}`)]
    // One that is resolved has left the list.
    const row = rows.find(each => each.ariaCurrent === 'true') ?? rows[0]
    row?.focus()
  }
  useShortcut('Escape', 'Back to the list', goBack, { group: 'This incident', enabled: isSplit })
  return { detail, goToDetail }
}

interface ListKeys {
  readonly currentId: string | undefined
  readonly urlId: string | undefined
  readonly isSplit: boolean
  readonly moveTo: (id: string) => void
  readonly hrefOf: (id: string | undefined) => string
  readonly goToDetail: () => void
}

function useListKeys(incidents: readonly Incident[], { currentId, urlId, isSplit, moveTo, hrefOf, goToDetail }: ListKeys): void {
  const [, navigate] = useLocation()
  const change = useIncidentChange()
  const [actor] = useActor()
  const group = 'Incidents'
  const at = incidents.findIndex(({ id }) => id === currentId)
  const current = incidents[at]
  const move = (by: number) => {
    leaveControl()
    const next = incidents[Math.min(Math.max(at + by, 0), incidents.length - 1)]
    if (next !== undefined && next.id !== currentId) moveTo(next.id)
  }
  // Where an incident is shown whole, its own keys hold.
  const isList = !isSplit && urlId === undefined
  const act = (action: 'acknowledge' | 'resolve') => {
    if (current !== undefined && allowedActions(current.status).includes(action))
      change({ ids: [current.id], action, note: noteOf(actor, '') })
  }
  useShortcut('j', 'Next incident', () => move(1), { group, enabled: incidents.length > 0 })
  useShortcut('k', 'Incident before', () => move(-1), { group, enabled: incidents.length > 0 })
  const open = () => {
    if (currentId === undefined) return
    if (urlId === undefined) navigate(hrefOf(currentId))
    if (isSplit) goToDetail()
  }
  useShortcut('Enter', 'Open the incident', open, { group, enabled: urlId === undefined || isSplit })
  useShortcut('a', 'Acknowledge', () => act('acknowledge'), { group, enabled: isList })
  useShortcut('r', 'Resolve', () => act('resolve'), { group, enabled: isList })
  useShortcut('u', 'Back to the list', () => navigate(hrefOf(undefined)), { group, enabled: urlId !== undefined && !isSplit })
}

interface ListPanelProps {
  readonly list: IncidentListData
  readonly filters: IncidentFilters
  readonly counts: IncidentCounts | undefined
  readonly currentId: string | undefined
  readonly isSplit: boolean
  readonly hrefOf: (id: string) => string
  readonly setFilters: (changes: Partial<Record<keyof IncidentFilters, unknown>>) => void
  readonly goToDetail: () => void
}

function ListPanel({ list, filters, counts, currentId, isSplit, hrefOf, setFilters, goToDetail }: ListPanelProps) {
  const { incidents, error, isPending, isOutdated, hasMore, isLoadingMore, loadMore, retry } = list
  const { chosen, choose, chooseAll, clear } = useChosen(incidents)
  const isSlow = useSlow(isOutdated)
  const current = useRef(currentId)
  current.current = currentId
  useShortcut('x', 'Choose the incident', () => current.current && choose(current.current, !chosen.has(current.current)), {
    group: 'Incidents',
  })
  return (
    <section
      className={listStyles.panel}
      aria-label="List of incidents"
      aria-busy={isOutdated || undefined}
      data-outdated={isOutdated || undefined}
    >
      {isSlow && (
        <p className={listStyles.reading} role="status">
          Reading incidents…
        </p>
      )}
      {chosen.size > 0 && (
        <BatchBar
          chosen={incidents.filter(({ id }) => chosen.has(id))}
          total={incidents.length}
          hasMore={hasMore}
          onChooseAll={chooseAll}
          onClear={clear}
        />
      )}
      {error !== null ? (
        <ErrorPanel error={error} onRetry={retry} small />
      ) : isPending ? (
        <Pending what="Reading incidents" />
      ) : incidents.length === 0 ? (
        <NoIncidents filters={filters} setFilters={setFilters} />
      ) : (
        <IncidentList
          {...{ incidents, chosen, currentId, hasMore, isLoadingMore, hrefOf }}
          total={counts && countOf(counts, filters.status)}
          onChoose={choose}
          onMore={loadMore}
          onOpenByKey={isSplit ? goToDetail : undefined}
          scrollsWithPage={!isSplit}
        />
      )}
      <Folded filters={filters} recurring={counts?.recurring ?? 0} setFilters={setFilters} />
    </section>
  )
}

/** Those that left the list are no longer chosen. */
function useChosen(incidents: readonly Incident[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const chosen = useMemo(() => new Set(incidents.flatMap(({ id }) => (ids.has(id) ? id : []))), [incidents, ids])
  const choose = useCallback((id: string, isChosen: boolean) => {
    setIds(before => {
      const after = new Set(before)
      if (isChosen) after.add(id)
      else after.delete(id)
      return after
    })
  }, [])
  return { chosen, choose, chooseAll: () => setIds(new Set(incidents.map(({ id }) => id))), clear: () => setIds(new Set()) }
}

function Folded({ filters, recurring, setFilters }: Pick<ListPanelProps, 'filters' | 'setFilters'> & { readonly recurring: number }) {
  if (recurring === 0 && !filters.showsRecurring) return null
  const what = recurring === 1 ? 'recurring incident' : 'recurring incidents'
  return (
    <p className={listStyles.folded}>
      <span>
        {filters.showsRecurring ? `${recurring} ${what} among them.` : `${recurring} ${what} folded away: nothing new for their services.`}
      </span>
      <button type="button" onClick={() => setFilters({ showsRecurring: !filters.showsRecurring })}>
        {filters.showsRecurring ? 'Fold away' : 'Show'}
      </button>
    </p>
  )
}

function NoIncidents({ filters, setFilters }: Pick<ListPanelProps, 'filters' | 'setFilters'>) {
  if (!isFiltered(filters))
    return (
      <EmptyState title="No unresolved incident" icon={IconChecks} small>
        <p>Three anomalies of a service within five minutes make one.</p>
      </EmptyState>
    )
  return (
    <EmptyState title="No incident matches" icon={IconFilterOff} small>
      <Button variant="default" onClick={() => setFilters({ ...NO_FILTERS, severity: undefined, service: undefined, since: undefined })}>
        Clear the filters
      </Button>
    </EmptyState>
  )
}

interface NothingShownProps {
  readonly isKnown: boolean
  /** False: the list says why it is empty, since it could not be read, or its filters leave nothing. */
  readonly isQuiet: boolean
}

function NothingShown({ isKnown, isQuiet }: NothingShownProps) {
  const link = useLink()
  const isStale = useIsStale()
  if (!isKnown) return <Pending />
  if (!isQuiet) return null
  return (
    <EmptyState title={isStale ? 'All was quiet' : 'All is quiet'} icon={IconChecks}>
      <p>
        What becomes an incident, and who is told of it, stands in <Link href={link('/settings')}>Settings</Link>.
      </p>
    </EmptyState>
  )
}
