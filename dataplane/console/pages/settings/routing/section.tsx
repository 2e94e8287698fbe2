/** Routing: a matrix of severities and targets, saved with each click. */
import { Checkbox, Tooltip } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { Link } from 'wouter'
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import { listWords } from '../../../../text/listed.ts'
import type { TicketingConfig } from '../../../api/ticketing-config.ts'
import { SeverityBadge } from '../../../components/badges/badges.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { EmptyState } from '../../../components/states/states.tsx'
import { useLink } from '../../../url-state/links.ts'
import { titleOfTarget } from '../rules/platform-form.ts'
import {
  buildMatrix,
  changeRoute,
  changeRoutes,
  declaredOwners,
  type RouteChange,
  type RoutingCell,
  type RoutingRow,
  untoldSeverities,
} from '../rules/routing-matrix.ts'
import styles from '../section.module.css'
import { useConfigEdit, usePendingEdits } from '../use-config.ts'
import { WithConfig } from '../with-config.tsx'

export default function RoutingSection() {
  return <WithConfig>{config => <Routing config={config} />}</WithConfig>
}

function Routing({ config }: { readonly config: TicketingConfig }) {
  const link = useLink()
  const { mutate } = useConfigEdit('routing', 'The routing is saved', ({ routing }, change: RouteChange) => changeRoute(routing, change))
  const pending = usePendingEdits<RouteChange>('routing')
  const rows = buildMatrix({ ...config, routing: changeRoutes(config.routing, pending) })
  const owners = declaredOwners(config.declared?.routes)
  const untold = untoldSeverities(rows)
  if (rows.length === 0)
    return (
      <Panel title="Routing">
        <EmptyState title="There is nobody to tell yet" small>
          <p>
            <Link href={link('/settings/platforms')}>Add a platform</Link> first.
          </p>
        </EmptyState>
      </Panel>
    )
  return (
    <Panel title="Routing" note="Incidents of a severity go to the platforms chosen for it" flush>
      <div className={styles.tableScroll}>
        <table className={styles.matrix} aria-label="Platforms by severity">
          <thead>
            <tr>
              <th scope="col">Platform</th>
              {SEVERITIES.map(severity => (
                <th key={severity} scope="col">
                  <SeverityBadge severity={severity} />
                  {owners.has(severity) && <OwnerMark owners={owners.get(severity)!} />}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <MatrixRow
                key={row.target}
                row={row}
                onToggle={severity => mutate({ severity, target: row.target, isRouted: !row.cells[severity].isRouted })}
              />
            ))}
          </tbody>
        </table>
      </div>
      {untold.length > 0 && (
        <p className={styles.warning}>
          Nobody is told of {listWords(untold)} incidents
          {untold.includes('critical') ? ': choose at least one platform for critical ones.' : '.'}
        </p>
      )}
    </Panel>
  )
}

interface MatrixRowProps {
  readonly row: RoutingRow
  readonly onToggle: (severity: Severity) => void
}

function MatrixRow({ row: { target, cells, problem }, onToggle }: MatrixRowProps) {
  const title = titleOfTarget(target)
  return (
    <tr>
      <th scope="row">
        {title}
        {problem !== undefined && <small>{problem}: nothing is sent there</small>}
      </th>
      {SEVERITIES.map(severity => (
        <td key={severity}>
          <MatrixCell cell={cells[severity]} label={`${title} is told of ${severity} incidents`} onToggle={() => onToggle(severity)} />
        </td>
      ))}
    </tr>
  )
}

interface MatrixCellProps {
  readonly cell: RoutingCell
  readonly label: string
  readonly onToggle: () => void
}

function MatrixCell({ cell: { isRouted, owner, note }, label, onToggle }: MatrixCellProps) {
  const said = owner === undefined ? label : `${label}; declared by ${owner}`
  return (
    <>
      <Checkbox
        aria-label={said}
        checked={isRouted}
        disabled={owner !== undefined}
        onChange={onToggle}
        size="sm"
        className={styles.matrixBox}
      />
      {note !== undefined && <small>{note}</small>}
    </>
  )
}

function OwnerMark({ owners }: { readonly owners: readonly string[] }) {
  const text = `Declared by TicketingRoute ${owners.join(', ')}: changed there`
  return (
    <Tooltip label={text}>
      <button type="button" className={styles.ownerMark} aria-label={text}>
        <IconLock size={12} aria-hidden /> {owners[0]}
        {owners.length > 1 && ` +${owners.length - 1}`}
      </button>
    </Tooltip>
  )
}
