/** Settings: a tab for each part, each with an address of its own. */
import { Tabs } from '@mantine/core'
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Redirect, useLocation, useRoute } from 'wouter'
import type { TicketingConfig } from '../../api/ticketing-config.ts'
import { Page } from '../../components/panel.tsx'
import { ErrorPanel, Pending } from '../../components/states.tsx'
import { useLink } from '../../url-state/links.ts'
import { EscalationTab } from './escalation-tab.tsx'
import { ModelTab } from './model-tab.tsx'
import { PlatformsTab } from './platforms/platforms-tab.tsx'
import { RoutingTab } from './routing-tab.tsx'
import styles from './settings.module.css'
import { SilencesTab } from './silences-tab.tsx'
import { ThresholdsTab } from './thresholds-tab.tsx'
import { useConfig } from './use-config.ts'

const ApiKeys = lazy(() => import('./api-keys/page.tsx'))

interface SettingsTab {
  readonly title: string
  readonly Content: ComponentType<{ readonly config: TicketingConfig }>
}

const TABS: Readonly<Record<string, SettingsTab>> = {
  platforms: { title: 'Platforms', Content: PlatformsTab },
  routing: { title: 'Routing', Content: RoutingTab },
  thresholds: { title: 'Thresholds', Content: ThresholdsTab },
  model: { title: 'Language model', Content: ModelTab },
  silences: { title: 'Silences', Content: SilencesTab },
  escalation: { title: 'Escalation', Content: EscalationTab },
}
const API_KEYS = 'api-keys'
const PATH = '/settings'

export default function SettingsPage() {
  const link = useLink()
  const [, navigate] = useLocation()
  const [, parameters] = useRoute(`${PATH}/:tab`)
  const tab = parameters?.tab ?? ''
  if (tab !== API_KEYS && !Object.hasOwn(TABS, tab)) return <Redirect to={link(`${PATH}/platforms`)} replace />
  return (
    <Page title="Settings">
      <Tabs value={tab} onChange={next => next !== null && navigate(link(`${PATH}/${next}`))} keepMounted={false} className={styles.tabs}>
        <Tabs.List aria-label="Parts of the settings">
          {Object.entries(TABS).map(([name, { title }]) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
          <Tabs.Tab value={API_KEYS}>API keys</Tabs.Tab>
        </Tabs.List>
        {Object.entries(TABS).map(([name, { Content }]) => (
          <Tabs.Panel key={name} value={name} className={styles.tabPanel}>
            <WithConfig>{config => <Content config={config} />}</WithConfig>
          </Tabs.Panel>
        ))}
        <Tabs.Panel value={API_KEYS} className={styles.tabPanel}>
          <Suspense fallback={<Pending />}>
            <ApiKeys />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function WithConfig({ children }: { readonly children: (config: TicketingConfig) => ReactNode }) {
  const { data, error, refetch } = useConfig()
  if (data === undefined)
    return error === null ? <Pending what="Reading the configuration" /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const problems = [...(data.problems ?? []), ...(data.declared?.problems ?? [])]
  return (
    <>
      {problems.length > 0 && (
        <ul className={styles.problems} aria-label="Problems of the configuration">
          {problems.map(problem => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {children(data)}
    </>
  )
}
