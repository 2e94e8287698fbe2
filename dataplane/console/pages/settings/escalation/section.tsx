/** After which time an incident that nobody looks at is escalated by itself. */
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import { LOOKBACK_RULE } from '../../../../domain/incidents/anomaly-config.ts'
import { type EscalationConfig, parseEscalation } from '../../../../domain/tickets/escalation-config.ts'
import type { TicketingConfig } from '../../../api/ticketing-config.ts'
import { SeverityBadge } from '../../../components/badges/badges.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import styles from '../section.module.css'
import { useConfigChange } from '../use-config.ts'
import { WithConfig } from '../with-config.tsx'

type Texts = Readonly<Record<Severity, string>>

export default function EscalationSection() {
  return <WithConfig>{config => <Escalation config={config} />}</WithConfig>
}

function Escalation({ config: { escalation } }: { readonly config: TicketingConfig }) {
  const stored = textsOf(escalation)
  // Only these are sent: what somebody else stores meanwhile stays.
  const [edits, setEdits] = useState<Partial<Texts>>({})
  const texts: Texts = { ...stored, ...edits }
  const save = useConfigChange('escalation', 'Escalation is saved')
  const problems = SEVERITIES.filter(severity => texts[severity] !== '' && parseEscalation(texts[severity]) === undefined)
  const changed = SEVERITIES.filter(severity => texts[severity] !== stored[severity])
  const submit = () => {
    if (problems.length > 0) return
    const changes = Object.fromEntries(changed.map(severity => [severity, texts[severity] || null]))
    save.mutate(changes, { onSuccess: () => setEdits({}) })
  }
  return (
    <Panel title="Automatic escalation" note="to the platforms of the next severity up">
      <form
        className={styles.form}
        onSubmit={event => {
          event.preventDefault()
          submit()
        }}
      >
        <p className={styles.hint}>
          An incident is escalated when nobody acknowledges it within this time after its platforms were told. Durations such as 30m or 2h;
          empty: never.
        </p>
        <div className={styles.escalations}>
          {SEVERITIES.map(severity => (
            <TextInput
              key={severity}
              label={<SeverityBadge severity={severity} />}
              placeholder="never"
              value={texts[severity]}
              onChange={event => setEdits({ ...edits, [severity]: event.currentTarget.value.trim() })}
              error={problems.includes(severity) && `Expected ${LOOKBACK_RULE}`}
            />
          ))}
        </div>
        <div className={styles.formButtons}>
          <Button type="submit" loading={save.isPending} disabled={changed.length === 0 || problems.length > 0}>
            Save
          </Button>
          <Button variant="subtle" disabled={changed.length === 0} onClick={() => setEdits({})}>
            Undo
          </Button>
        </div>
      </form>
    </Panel>
  )
}

function textsOf(escalation: EscalationConfig): Texts {
  return Object.fromEntries(SEVERITIES.map(severity => [severity, escalation[severity] ?? ''])) as Record<Severity, string>
}
