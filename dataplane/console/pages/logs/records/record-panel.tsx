/** One record whole: its message, all its fields, and what surrounds it. Stands beside the table, so that one can go on reading. */

import { ActionIcon, Button, Tabs, Tooltip } from '@mantine/core'
import { IconChartDots, IconRoute, IconX } from '@tabler/icons-react'
import { memo, useMemo } from 'react'
import { LevelBadge, ServiceName } from '../../../components/badges/badges.tsx'
import { CopyButton } from '../../../components/copy/copy-button.tsx'
import { useShortcut } from '../../../components/keyboard/use-shortcut.ts'
import { ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { isBlank } from '../../../components/text/no-message.tsx'
import { escapeHidden } from '../../../components/text/visible-text.ts'
import { useShowsUtc } from '../../../components/time/use-shows-utc.ts'
import { useLogsActions } from '../filters.ts'
import type { RecordTab } from '../logs-state.ts'
import { isTraceId } from '../requests/trace.ts'
import { cutText } from './cut-text.ts'
import { FieldRow } from './field-value.tsx'
import { Marked } from './line-text.tsx'
import { exactTime, fieldsOf, type LogRecord, timeHere } from './log-record.ts'
import styles from './record-panel.module.css'
import { Surrounding } from './surrounding.tsx'

export interface RecordPanelProps {
  readonly record: LogRecord | undefined
  readonly isGone: boolean
  readonly error: unknown
  readonly marks: RegExp | undefined
  readonly tab: RecordTab
  readonly onTab: (tab: RecordTab) => void
  /** The address of this record for others. */
  readonly link: () => string
  readonly onClose: () => void
}

/** Characters of a message that are shown; all of it can be copied. */
const MAX_SHOWN_MESSAGE = 50_000

export const RecordPanel = memo(({ record, isGone, error, marks, tab, onTab, link, onClose }: RecordPanelProps) => {
  useShortcut('Escape', 'Close the record', onClose, { group: 'Logs' })
  useShowsUtc()
  return (
    <section className={styles.panel} aria-label="Record">
      <header className={styles.head}>
        {record !== undefined && (
          <>
            <LevelBadge level={record.level} />
            <ServiceName name={record.service} />
          </>
        )}
        <div className={styles.tools}>
          <CopyButton text={link} label="Copy a link to this record" />
          <Tooltip label="Close (Esc)">
            <ActionIcon size="sm" aria-label="Close the record" onClick={onClose}>
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </div>
      </header>
      {record !== undefined ? (
        <RecordContent record={record} marks={marks} tab={tab} onTab={onTab} />
      ) : error !== null && error !== undefined ? (
        <ErrorPanel error={error} small />
      ) : isGone ? (
        <p className={styles.gone}>This record is no longer kept: the retention has deleted its day, or it belongs to another tenant.</p>
      ) : (
        <Pending what="Reading the record" />
      )}
    </section>
  )
})

type RecordContentProps = Pick<RecordPanelProps, 'marks' | 'tab' | 'onTab'> & { readonly record: LogRecord }

function RecordContent({ record, marks, tab, onTab }: RecordContentProps) {
  const { showTrace, showOnly } = useLogsActions()
  const fields = useMemo(() => fieldsOf(record), [record])
  const traceId = String(record.source['trace_id'] ?? '')
  const message = cutText(isBlank(record.message) ? 'The message is empty.' : record.message, MAX_SHOWN_MESSAGE)
  const patternId = String(record.source['pattern_id'] ?? '')
  return (
    <div className={styles.content}>
      <time className={styles.time} dateTime={exactTime(record)}>
        {[exactTime(record), timeHere(record.timestampMs)].filter(each => each !== '').join(' · ')}
      </time>
      <div className={styles.message}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
        <pre tabIndex={0} dir="auto">
          <Marked text={message.shown} marks={marks} />
        </pre>
        <CopyButton text={record.message} label="Copy the message" />
      </div>
      {message.note !== undefined && <p className={styles.cut}>{message.note}</p>}
      <div className={styles.ways}>
        {isTraceId(traceId) && (
          <Button variant="default" size="compact-sm" leftSection={<IconRoute size={14} aria-hidden />} onClick={() => showTrace(traceId)}>
            Trace
          </Button>
        )}
        {patternId !== '' && (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconChartDots size={14} aria-hidden />}
            onClick={() => showOnly('pattern_id', patternId)}
          >
            Messages like this
          </Button>
        )}
      </div>
      <Tabs value={tab} onChange={value => onTab(value as RecordTab)} keepMounted={false} className={styles.tabs}>
        <Tabs.List>
          <Tabs.Tab value="fields">Fields</Tabs.Tab>
          <Tabs.Tab value="surrounding">Surrounding</Tabs.Tab>
          <Tabs.Tab value="json">JSON</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="fields">
          <dl className={styles.fields}>
            {fields.map(field => (
              <FieldRow key={field.field} field={field} />
            ))}
          </dl>
        </Tabs.Panel>
        <Tabs.Panel value="surrounding">
          <Surrounding key={record.id} record={record} />
        </Tabs.Panel>
        <Tabs.Panel value="json">
          <Json record={record} />
        </Tabs.Panel>
      </Tabs>
    </div>
  )
}

function Json({ record }: { readonly record: LogRecord }) {
  const text = JSON.stringify({ _index: record.index, _id: record.id, ...record.source }, null, 2)
  return (
    <div className={styles.message}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <pre className={styles.json} tabIndex={0}>
        {escapeHidden(text)}
      </pre>
      <CopyButton text={text} label="Copy the JSON" />
    </div>
  )
}
