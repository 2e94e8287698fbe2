import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Pill } from '../../components/badges.tsx'
import { formatCount } from '../../components/format.ts'
import { Panel } from '../../components/panel.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useIsStale } from '../../components/stale.tsx'
import { StatePill } from '../../components/state-pill.tsx'
import { ErrorPanel, Pending } from '../../components/states.tsx'
import { useLink } from '../../url-state/links.ts'
import styles from './overview.module.css'
import { useIngestion } from './use-overview.ts'

export interface NewestProps {
  readonly newest: string | undefined
  /** False: the store has not told. */
  readonly isNewestKnown: boolean
}

/** Whether records get through: from the bus over the bridge to the search store. */
export function Ingestion(props: NewestProps) {
  const { data, error, isError, refetch } = useIngestion()
  const link = useLink()
  return (
    <Panel title="Ingestion" flush actions={<Link href={link('/status')}>Health</Link>}>
      {data === undefined ? isError ? <ErrorPanel small error={error} onRetry={refetch} /> : <Pending /> : <Facts {...data} {...props} />}
    </Panel>
  )
}

type FactsProps = NonNullable<ReturnType<typeof useIngestion>['data']> & NewestProps

function Facts({ infrastructure: { bus, search, deadLetters }, bridge, newest, isNewestKnown }: FactsProps) {
  const lag = Object.values(bus.topics).reduce((sum, { consumerLag }) => sum + consumerLag, 0)
  const threads = Object.values(bridge.threads)
  const running = threads.filter(state => state === 'running').length
  const isStale = useIsStale()
  return (
    <dl className={styles.facts}>
      <Fact title="Newest record">{newest !== undefined ? <RelativeTime time={newest} /> : isNewestKnown ? 'none yet' : 'not known'}</Fact>
      <Fact title="Message bus">
        <StatePill state={bus.status} />
      </Fact>
      <Fact title="Waiting on the bus">{formatCount(lag)} messages</Fact>
      <Fact title="Bridge threads">
        <Pill tone={running < threads.length ? 'bad' : isStale ? 'neutral' : 'good'}>
          {running} of {threads.length} {isStale ? 'ran' : 'running'}
        </Pill>
      </Fact>
      <Fact title="Search store">
        <StatePill state={search.status} />
      </Fact>
      {deadLetters !== undefined && (
        <Fact title="Dead letters">
          {deadLetters.letters === 0 ? 'none' : <Pill tone="warn">{formatCount(deadLetters.letters)} lie there</Pill>}
        </Fact>
      )}
    </dl>
  )
}

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}
