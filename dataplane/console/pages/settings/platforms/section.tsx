/** Where tickets go: the targets of each platform, as many as are needed. */
import { Button, Menu } from '@mantine/core'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { PLATFORM_NAMES, type PlatformName } from '../../../../contract/platforms.ts'
import { parseTargetId } from '../../../../contract/target-id.ts'
import { listWords } from '../../../../text/listed.ts'
import type { TicketingConfig } from '../../../api/ticketing-config.ts'
import { Pill } from '../../../components/badges/badges.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { EmptyState } from '../../../components/states/states.tsx'
import { useLink } from '../../../url-state/links.ts'
import { DeclaredNote } from '../declared-note.tsx'
import { PLATFORM_TITLES, titleOfTarget } from '../rules/platform-form.ts'
import styles from '../section.module.css'
import { WithConfig } from '../with-config.tsx'
import { TargetForm } from './target-form.tsx'

export default function PlatformsSection() {
  return <WithConfig>{config => <Platforms config={config} />}</WithConfig>
}

function Platforms({ config }: { readonly config: TicketingConfig }) {
  const [opened, setOpened] = useState<string>()
  const [added, setAdded] = useState<PlatformName>()
  const ids = Object.keys(config.platforms).sort()
  return (
    <div className={styles.stack}>
      <div className={styles.tabHead}>
        <p>Incidents become tickets here. A platform may be configured several times, such as one Slack channel for each team.</p>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button leftSection={<IconPlus size={14} />}>Add a platform</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {PLATFORM_NAMES.map(platform => (
              <Menu.Item key={platform} onClick={() => setAdded(platform)}>
                {PLATFORM_TITLES[platform]}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
      {added !== undefined && (
        <Panel title={`New: ${PLATFORM_TITLES[added]}`}>
          <TargetForm key={added} platform={added} taken={ids} onClose={() => setAdded(undefined)} />
        </Panel>
      )}
      {ids.length === 0 && added === undefined && (
        <Panel title="Platforms">
          <EmptyState title="Nobody is told of incidents yet" icon={IconPlugConnected} small>
            <p>
              Add a platform, test it, then choose in Routing which severities go there. <code>logpipeline demo platforms</code> starts
              stand-ins on this machine.
            </p>
          </EmptyState>
        </Panel>
      )}
      {ids.map(id => (
        <TargetPanel key={id} id={id} config={config} isOpen={opened === id} onToggle={() => setOpened(opened === id ? undefined : id)} />
      ))}
    </div>
  )
}

interface TargetPanelProps {
  readonly id: string
  readonly config: TicketingConfig
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function TargetPanel({ id, config, isOpen, onToggle }: TargetPanelProps) {
  const target = config.platforms[id]!
  const owner = config.declared?.platforms?.[id]
  const { platform } = parseTargetId(id) ?? {}
  const link = useLink()
  const severities = Object.entries(config.routing).flatMap(([severity, ids]) => (ids?.includes(id) ? severity : []))
  return (
    <Panel
      className={styles.closed}
      title={titleOfTarget(id)}
      note={
        severities.length === 0 ? (
          <>
            told of no incidents, until <Link href={link('/settings/routing')}>Routing</Link> sends some here
          </>
        ) : (
          `told of ${listWords(severities)} incidents`
        )
      }
      actions={
        <>
          <Pill tone={target.enabled === false ? 'neutral' : 'good'}>{target.enabled === false ? 'off' : 'on'}</Pill>
          <Button
            variant="default"
            onClick={onToggle}
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Close' : owner === undefined ? 'Edit' : 'View'} ${titleOfTarget(id)}`}
          >
            {isOpen ? 'Close' : owner === undefined ? 'Edit' : 'View'}
          </Button>
        </>
      }
    >
      {owner !== undefined && <DeclaredNote owner={owner} />}
      {isOpen && platform !== undefined && <TargetForm platform={platform} id={id} stored={target} owner={owner} onClose={onToggle} />}
    </Panel>
  )
}
