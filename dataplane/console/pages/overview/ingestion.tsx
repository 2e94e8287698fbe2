import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { InfrastructureMetrics } from '../../api/agent.ts'
import type { BridgeHealth } from '../../api/bridge.ts'
import { Pill } from '../../components/badges/badges.tsx'
import { StatePill } from '../../components/badges/state-pill.tsx'
import { formatCount } from '../../components/format.ts'
import { Panel } from '../../components/layout/panel.tsx'
import { useIsStale } from '../../components/states/stale.tsx'
import { ErrorPanel, Pending } from '../../components/states/states.tsx'
import { RelativeTime } from '../../components/time/relative-time.tsx'
import { useLink } from '../../url-state/links.ts'
import styles from './overview.module.css'
import { useBridgeHealth, useInfrastructure } from './use-overview.ts'

export interface NewestProps {
  readonly newest: string | undefined
  /** Whether the store has told of the newest record, is being asked, or cannot be. */
  readonly newestState: 'told' | 'asked' | 'unknown'
}

/** Whether records get through: from the bus over the bridge to the search store. What one service does not tell, the others do. */
export function Ingestion({ newest, newestState }: NewestProps) {
  const infrastructure = useInfrastructure()
  const bridge = useBridgeHealth()
  const link = useLink()
  return (
    <Panel title="Ingestion" flush actions={<Link href={link('/status')}>Health</Link>}>
      <dl className={styles.facts}>
        {newestState !== 'asked' && (
          <Fact title="Newest record">
            {newest !== undefined ? <RelativeTime time={newest} /> : newestState === 'told' ? 'none yet' : 'not known'}
          </Fact>
        )}
        {infrastructure.data !== undefined && <BusFacts bus={infrastructure.data.bus} />}
        {bridge.data !== undefined && <BridgeFact bridge={bridge.data} />}
        {infrastructure.data !== undefined && <StoreFacts {...infrastructure.data} />}
      </dl>
      {[infrastructure, bridge].some(({ data, isError }) => data === undefined && !isError) && <Pending />}
      {[infrastructure, bridge].map(
        ({ data, error, isError, refetch }, at) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: always the same two
          data === undefined && isError && <ErrorPanel key={at} small error={error} onRetry={refetch} />,
      )}
    </Panel>
  )
}

function BusFacts({ bus }: Pick<InfrastructureMetrics, 'bus'>) {
  const lag = Object.values(bus.topics).reduce((sum, { consumerLag }) => sum + consumerLag, 0)
  return (
    <>
      <Fact title="Message bus">
        <StatePill state={bus.status} />
      </Fact>
      <Fact title="Waiting on the bus">{formatCount(lag)} messages</Fact>
    </>
  )
}

const CONNECTED = 'connected'

/** Its connections where they lack: with all threads running, nothing else would tell. */
function BridgeFact({ bridge }: { readonly bridge: BridgeHealth }) {
  const threads = Object.values(bridge.threads)
  const running = threads.filter(state => state === 'running').length
  const isStale = useIsStale()
  return (
    <>
      <Fact title="Bridge threads">
        <Pill tone={running < threads.length ? 'bad' : isStale ? 'neutral' : 'good'}>
          {running} of {threads.length} {isStale ? 'ran' : 'running'}
        </Pill>
      </Fact>
      {bridge.bus !== CONNECTED && (
        <Fact title="Bridge to the bus">
          <StatePill state={bridge.bus} />
        </Fact>
      )}
      {bridge.search !== CONNECTED && (
        <Fact title="Bridge to the search store">
          <StatePill state={bridge.search} />
        </Fact>
      )}
    </>
  )
}

function StoreFacts({ search, deadLetters }: Pick<InfrastructureMetrics, 'search' | 'deadLetters'>) {
  return (
    <>
      <Fact title="Search store">
        <StatePill state={search.status} />
      </Fact>
      {deadLetters !== undefined && (
        <Fact title="Dead letters">
          {deadLetters.letters === 0 ? 'none' : <Pill tone="warn">{formatCount(deadLetters.letters)} lie there</Pill>}
        </Fact>
      )}
    </>
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
