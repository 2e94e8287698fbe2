/** The parts of the installation, a card each. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { InfrastructureMetrics } from '../../api/agent.ts'
import type { BridgeHealth } from '../../api/bridge.ts'
import { type DashboardHealth, titleOfBackend } from '../../api/dashboard.ts'
import { isAway, problemOf } from '../../api/problem.ts'
import type { IndexRow } from '../../api/search.ts'
import { StatePill } from '../../components/badges/state-pill.tsx'
import { formatBytes, formatCount } from '../../components/format.ts'
import { DataTable } from '../../components/layout/data-table.tsx'
import { Panel } from '../../components/layout/panel.tsx'
import { ErrorPanel, Pending } from '../../components/states/states.tsx'
import { RelativeTime } from '../../components/time/relative-time.tsx'
import { LAG_TO_MENTION, START_IT } from './find-faults.ts'
import styles from './health.module.css'

/** The state of a part without members: nothing in it could be healthy. */
const NONE = 'none'

interface CardProps<T> {
  readonly title: string
  readonly query: UseQueryResult<T>
  readonly state: (data: T) => string
  /** The next step where the component does not answer. */
  readonly advice?: string | undefined
  readonly className?: string | undefined
  readonly children: (data: T) => ReactNode
}

function Card<T>({ title, query: { data, error, isError, refetch }, state, advice = START_IT, className, children }: CardProps<T>) {
  return (
    <Panel title={title} flush className={className} actions={data !== undefined && <StatePill state={state(data)} />}>
      {data !== undefined ? (
        children(data)
      ) : isError ? (
        <ErrorPanel small error={error} {...(isAway(problemOf(error).status) && { advice })} onRetry={refetch} />
      ) : (
        <Pending />
      )}
    </Panel>
  )
}

interface Of<T> {
  readonly query: UseQueryResult<T>
}

interface OfAgent extends Of<InfrastructureMetrics> {
  /** In place of starting the agent. */
  readonly advice: string | undefined
}

export function Bus({ query, advice }: OfAgent) {
  return (
    <Card title="Message bus" query={query} advice={advice} state={({ bus }) => bus.status}>
      {({ bus }) => (
        <DataTable
          label="Topics"
          rows={Object.entries(bus.topics)}
          rowKey={([topic]) => topic}
          columns={[
            { key: 'topic', title: 'Topic', grow: true, render: ([topic]) => <code>{topic}</code> },
            { key: 'partitions', title: 'Partitions', align: 'right', render: ([, { partitions }]) => partitions },
            {
              key: 'lag',
              title: 'Waiting',
              align: 'right',
              render: ([, { consumerLag }]) => (
                <span className={consumerLag > LAG_TO_MENTION ? styles.warn : undefined}>{formatCount(consumerLag)}</span>
              ),
            },
          ]}
        />
      )}
    </Card>
  )
}

const THREADS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    etl: 'makes flat records of what came in',
    anomaly: 'scores them',
    indexer: 'writes them to the search store',
    lifecycle: 'opens incidents, deletes old days',
  }),
)

export function Bridge({ query }: Of<BridgeHealth>) {
  return (
    <Card title="Bridge" query={query} state={({ status }) => status}>
      {({ threads, bus, search }) => (
        <Rows
          rows={[
            ...Object.entries(threads).map(
              ([name, state]) => [name, THREADS.get(name) ?? '', <StatePill key={name} state={state} />] as const,
            ),
            ['connection to the bus', '', <StatePill key="bus" state={bus} />],
            ['connection to the search store', '', <StatePill key="search" state={search} />],
          ]}
        />
      )}
    </Card>
  )
}

export function SearchStore({ query, advice, indices }: OfAgent & { readonly indices: readonly IndexRow[] | undefined }) {
  return (
    <Card title="Search store" query={query} advice={advice} state={({ search }) => search.status}>
      {({ search }) => (
        <Rows
          rows={[
            ['Documents', '', formatCount(search.totalDocs)],
            ['Size', '', formatBytes(search.totalSizeBytes)],
            ['Indices', daysOf(indices), formatCount(search.indices)],
            ['Nodes', '', formatCount(search.nodes)],
            ...(search.activeShards === undefined
              ? []
              : [['Shards', `${formatCount(search.activePrimaryShards ?? 0)} primary`, formatCount(search.activeShards)] as const]),
          ]}
        />
      )}
    </Card>
  )
}

function daysOf(indices: readonly IndexRow[] | undefined): string {
  const days = indices?.filter(({ index }) => /^service-logs-\d/.test(index)).length ?? 0
  return days === 0 ? '' : `${days} ${days === 1 ? 'day' : 'days'} of logs`
}

export function BackEnds({ query }: Of<DashboardHealth>) {
  return (
    <Card
      title="Services"
      className={styles.tall}
      query={query}
      state={({ backends }) => (Object.values(backends).includes('disconnected') ? 'disconnected' : 'connected')}
    >
      {({ backends }) => (
        <Rows
          rows={Object.entries(backends).map(
            ([name, state]) => [titleOfBackend(name), '', <StatePill key={name} state={state} />] as const,
          )}
        />
      )}
    </Card>
  )
}

export function StreamJobs({ query, advice }: OfAgent) {
  return (
    <Card
      title="Stream jobs"
      query={query}
      advice={advice}
      state={({ stream: { jobs, status } }) => (jobs.length === 0 && status === 'healthy' ? NONE : status)}
    >
      {({ stream }) =>
        stream.jobs.length === 0 ? (
          <p className={styles.none}>None runs here: the bridge does their work.</p>
        ) : (
          <DataTable
            label="Stream jobs"
            rows={stream.jobs}
            rowKey={({ name }) => name}
            columns={[
              { key: 'name', title: 'Job', grow: true, render: ({ name }) => name },
              { key: 'managers', title: 'Task managers', align: 'right', render: ({ taskManagers }) => taskManagers },
              { key: 'uptime', title: 'Up for', align: 'right', render: ({ uptime }) => uptime },
              { key: 'state', title: 'State', align: 'right', render: ({ state }) => <StatePill state={state} /> },
            ]}
          />
        )
      }
    </Card>
  )
}

export function Secrets({ query, advice }: OfAgent) {
  return (
    <Card
      title="External secrets"
      query={query}
      advice={advice}
      state={({ secrets: { externalSecrets, status } }) => (externalSecrets.length === 0 && status === 'healthy' ? NONE : status)}
    >
      {({ secrets: { externalSecrets } }) =>
        externalSecrets.length === 0 ? (
          <p className={styles.none}>None is synchronised from outside.</p>
        ) : (
          <DataTable
            label="External secrets"
            rows={externalSecrets}
            rowKey={({ name }) => name}
            columns={[
              { key: 'name', title: 'Secret', grow: true, render: ({ name }) => name },
              {
                key: 'time',
                title: 'Last synchronised',
                align: 'right',
                render: ({ lastSyncTime }) => (lastSyncTime === null ? 'never' : <RelativeTime time={lastSyncTime} />),
              },
              { key: 'state', title: 'State', align: 'right', render: ({ status }) => <StatePill state={status} /> },
            ]}
          />
        )
      }
    </Card>
  )
}

function Rows({ rows }: { readonly rows: readonly (readonly [name: string, note: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.rows}>
      {rows.map(([name, note, value]) => (
        <div key={name}>
          <dt>
            {name}
            {note !== '' && <small>{note}</small>}
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
