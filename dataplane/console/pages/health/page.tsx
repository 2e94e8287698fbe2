/** Whether every part works, from the way in to the store, and what was given up on the way. */
import { useQuery } from '@tanstack/react-query'
import { readInfrastructure } from '../../api/agent.ts'
import { readBridgeHealth } from '../../api/bridge.ts'
import { readDashboardHealth } from '../../api/dashboard.ts'
import { listIndices } from '../../api/search.ts'
import { Page } from '../../components/layout/panel.tsx'
import { BackEnds, Bridge, Bus, SearchStore, Secrets, StreamJobs } from './components.tsx'
import { DeadLetters } from './dead-letters.tsx'
import styles from './health.module.css'
import { Verdict } from './verdict.tsx'

const REFRESH_MS = 10_000
const often = { refetchInterval: REFRESH_MS }

/** An installation may do without it. */
const NO_AGENT = 'None is configured: AGENT_ENDPOINT of the dashboard names one. Without it this part is not known.'

export default function HealthPage() {
  const backends = useQuery({ queryKey: ['health', 'backends'], queryFn: ({ signal }) => readDashboardHealth(signal), ...often })
  const infrastructure = useQuery({ queryKey: ['health', 'infrastructure'], queryFn: ({ signal }) => readInfrastructure(signal), ...often })
  const bridge = useQuery({ queryKey: ['health', 'bridge'], queryFn: ({ signal }) => readBridgeHealth(signal), ...often })
  const indices = useQuery({ queryKey: ['health', 'indices'], queryFn: ({ signal }) => listIndices(signal), ...often })
  const advice = backends.data?.backends['agent'] === 'not configured' ? NO_AGENT : undefined
  return (
    <Page title="Health" description="Read anew every ten seconds">
      <Verdict backends={backends.data} infrastructure={infrastructure.data} bridge={bridge.data} />
      <div className={styles.grid}>
        <Bus query={infrastructure} advice={advice} />
        <Bridge query={bridge} />
        <SearchStore query={infrastructure} advice={advice} indices={indices.data} />
        <BackEnds query={backends} />
        <StreamJobs query={infrastructure} advice={advice} />
        <Secrets query={infrastructure} advice={advice} />
        <DeadLetters lying={infrastructure.data?.deadLetters} />
      </div>
    </Page>
  )
}
