/** Records that a step gave up, and the way to have them tried again. */

import { Button, Group, Modal, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconMailOff } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type DeadLetter, listDeadLetters, type ReplayAnswer, replayDeadLetters } from '../../api/agent.ts'
import { problemOf } from '../../api/problem.ts'
import { formatBytes, formatCount } from '../../components/format.ts'
import { type Column, DataTable } from '../../components/layout/data-table.tsx'
import { Panel } from '../../components/layout/panel.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../components/states/states.tsx'
import { VisibleText } from '../../components/text/foreign-text.tsx'
import { RelativeTime } from '../../components/time/relative-time.tsx'
import styles from './health.module.css'

const SHOWN = 50

export interface DeadLettersProps {
  /** Undefined: not known, or not for a single tenant. */
  readonly lying: { readonly letters: number; readonly oldest: string | null } | undefined
}

export function DeadLetters({ lying }: DeadLettersProps) {
  const [asks, setAsks] = useState(false)
  const client = useQueryClient()
  const isEmpty = lying === undefined || lying.letters === 0
  const letters = useQuery({
    queryKey: ['health', 'dead letters', lying?.letters],
    queryFn: ({ signal }) => listDeadLetters(SHOWN, signal),
    enabled: !isEmpty,
  })
  const replay = useMutation({
    mutationFn: () => replayDeadLetters(),
    onSuccess(answer) {
      setAsks(false)
      notifications.show({ title: 'Replayed', message: sayReplay(answer), color: 'green' })
      return client.invalidateQueries({ queryKey: ['health'] })
    },
    onError: error => notifications.show({ title: 'Not replayed', message: problemOf(error).message, color: 'red' }),
  })
  if (lying === undefined) return null
  return (
    <Panel
      title="Dead letters"
      note={isEmpty ? undefined : `${formatCount(lying.letters)} lie there, the oldest ${SHOWN} are shown`}
      flush
      className={styles.wide}
      actions={!isEmpty && <Button onClick={() => setAsks(true)}>Replay all</Button>}
    >
      {isEmpty ? (
        <EmptyState small icon={IconMailOff} title="No dead letters">
          <p>A record that cannot be read or stored is kept here with the reason. It can be tried again.</p>
        </EmptyState>
      ) : letters.data !== undefined ? (
        <DataTable label="Dead letters" columns={COLUMNS} rows={letters.data} rowKey={({ id }) => id} />
      ) : letters.isError ? (
        <ErrorPanel small error={letters.error} onRetry={() => letters.refetch()} />
      ) : (
        <Pending what="Reading dead letters" />
      )}
      <Modal opened={asks} onClose={() => setAsks(false)} title="Replay all dead letters?">
        <Text size="sm" mb="md">
          Each is sent back to the topic that it came from, and the step that gave it up tries it again. What succeeds is stored once,
          however often you replay; what fails again comes back here. The letters stay until their retention ends.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => setAsks(false)}>
            Leave them
          </Button>
          <Button loading={replay.isPending} onClick={() => replay.mutate()}>
            Replay {formatCount(lying.letters)}
          </Button>
        </Group>
      </Modal>
    </Panel>
  )
}

function sayReplay({ sent, repeated, cut }: ReplayAnswer): string {
  const total = Object.values(sent).reduce((sum, count) => sum + count, 0)
  const left = [...(repeated > 0 ? [`${repeated} repeated`] : []), ...(cut > 0 ? [`${cut} too large to be kept whole`] : [])]
  return `${formatCount(total)} sent again${left.length > 0 ? `; left out: ${left.join(', ')}` : ''}`
}

const COLUMNS: readonly Column<DeadLetter>[] = [
  { key: 'time', title: 'Given up', render: ({ time }) => <RelativeTime time={time} /> },
  { key: 'stage', title: 'By', render: ({ stage }) => stage },
  {
    key: 'service',
    title: 'Tenant and service',
    hideWhenNarrow: true,
    render: ({ tenant, service }) => <VisibleText text={`${tenant} ${service}`} />,
  },
  {
    key: 'reason',
    title: 'Reason',
    grow: true,
    render: ({ reason, replayed }) => <VisibleText text={replayed === undefined ? reason : `${reason} (replayed, and came back)`} />,
  },
  { key: 'bytes', title: 'Size', align: 'right', hideWhenNarrow: true, render: ({ bytes }) => formatBytes(bytes) },
]
