/** After which time an incident that nobody looks at is escalated by itself. */
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import { LOOKBACK_RULE } from '../../../../domain/incidents/anomaly-config.ts'
import { type EscalationConfig, parseEscalation } from '../../../../domain/tickets/escalation-config.ts'
import type { TicketingConfig } from '../../../api/ticketing-config.ts'
import { SeverityBadge } from '../../../components/badges.tsx'
import { Panel } from '../../../components/panel.tsx'
import styles from '../section.module.css'
import { useConfigChange } from '../use-config.ts'
import { WithConfig } from '../with-config.tsx'

type Texts = Readonly<Record<Severity, string>>

export default function EscalationSection() {
  return <WithConfig>{config => <Escalation config={config} />}</WithConfig>
}

function Escalation({ config: { escalation } }: { readonly config: TicketingConfig }) {
  const stored = textsOf(escalation)
  const [texts, setTexts] = useState(stored)
  const save = useConfigChange('escalation', 'Escalation is saved')
  const problems = SEVERITIES.filter(severity => texts[severity] !== '' && parseEscalation(texts[severity]) === undefined)
  const isChanged = SEVERITIES.some(severity => texts[severity] !== stored[severity])
  return (
    <Panel title="Automatic escalation" note="to the platforms of the next severity up">
      <form
        className={styles.form}
        onSubmit={event => {
          event.preventDefault()
          if (problems.length === 0) save.mutate(Object.fromEntries(SEVERITIES.map(severity => [severity, texts[severity] || null])))
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
              onChange={event => setTexts({ ...texts, [severity]: event.currentTarget.value.trim() })}
              error={problems.includes(severity) && `Expected ${LOOKBACK_RULE}`}
            />
          ))}
        </div>
        <div className={styles.formButtons}>
          <Button type="submit" loading={save.isPending} disabled={!isChanged || problems.length > 0}>
            Save
          </Button>
          <Button variant="subtle" disabled={!isChanged} onClick={() => setTexts(stored)}>
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
