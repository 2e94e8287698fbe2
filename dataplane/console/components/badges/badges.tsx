/** Levels, severities, states and services, the same on every page. */

import type { ReactNode } from 'react'
import type { IncidentStatus, Severity } from '../../api/ticketing.ts'
import { colorOf } from '../chart/service-color.ts'
import { VisibleText } from '../text/foreign-text.tsx'
import { visibleText } from '../text/visible-text.ts'
import styles from './badges.module.css'

export function LevelBadge({ level }: { readonly level: string }) {
  return (
    <span className={styles.level} data-level={level}>
      {visibleText(level)}
    </span>
  )
}

export type Tone = 'critical' | 'high' | 'medium' | 'low' | 'good' | 'warn' | 'bad' | 'info' | 'neutral'

/** A word beside a dot of its colour; the word says the same, since not everybody sees the colour. */
export function Pill({
  tone,
  title,
  children,
}: {
  readonly tone: Tone
  readonly title?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <span className={styles.pill} data-tone={tone} title={title}>
      {children}
    </span>
  )
}

export function SeverityBadge({ severity }: { readonly severity: Severity }) {
  return <Pill tone={severity}>{severity}</Pill>
}

const STATUS_TONES: Readonly<Record<IncidentStatus, Tone>> = { open: 'bad', escalated: 'critical', acknowledged: 'info', resolved: 'good' }

export function StatusBadge({ status }: { readonly status: IncidentStatus }) {
  return <Pill tone={STATUS_TONES[status]}>{status}</Pill>
}

/** A service and its own colour, the same wherever it stands. */
export function ServiceName({ name }: { readonly name: string }) {
  return (
    <span className={styles.service} title={visibleText(name)}>
      <i className={styles.dot} style={{ background: colorOf(name) }} aria-hidden />
      <span dir="auto">
        <VisibleText text={name} />
      </span>
    </span>
  )
}
