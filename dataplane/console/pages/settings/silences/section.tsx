/** Silences: times in which incidents of some services are listed and nobody is told. */

import { Button, Chip, Group, Select, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBell } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import { clockOffset, serverNow } from '../../../api/server-clock.ts'
import { addSilence, listSilences, removeSilence } from '../../../api/ticketing-config.ts'
import { Pill, type Tone } from '../../../components/badges/badges.tsx'
import { focusFirstProblem } from '../../../components/keyboard/focus-first-problem.ts'
import { type Column, DataTable } from '../../../components/layout/data-table.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { zoneName } from '../../../components/time/clock.ts'
import { RelativeTime } from '../../../components/time/relative-time.tsx'
import { useNow } from '../../../components/time/use-now.ts'
import { useSearch } from '../../../url-state/use-search.ts'
import { buildSilence, inOrder, LENGTHS, NEW_SILENCE, type SilenceForm, type SilenceState, silenceProblems } from '../rules/silence-form.ts'
import styles from '../section.module.css'
import { showFailure } from '../use-config.ts'

const KEY = ['silences']

export default function SilencesSection() {
  return (
    <div className={styles.stack}>
      {/* The time in its form is by the clock that it was written by. */}
      <NewSilence key={zoneName()} />
      <SilenceList />
    </div>
  )
}

function NewSilence() {
  const { form, set, problems, isAdding, submit } = useNewSilence()
  return (
    <Panel title="New silence" note="Incidents that match are listed, and nobody is told">
      <form
        className={styles.form}
        noValidate
        onSubmit={event => {
          event.preventDefault()
          if (!submit()) focusFirstProblem(event.currentTarget)
        }}
      >
        <div className={styles.fields}>
          <TextInput
            label="Services"
            description="With commas between; * stands for any characters, ? for one"
            placeholder="payments-*, checkout"
            required
            value={form.services}
            error={problems.services}
            onChange={event => set({ services: event.currentTarget.value })}
          />
          <TextInput
            label="Begins"
            description={`In ${zoneName()}; empty: now`}
            type="datetime-local"
            value={form.begins}
            error={problems.begins}
            onChange={event => set({ begins: event.currentTarget.value })}
          />
          <Select
            label="For"
            description="From then on"
            data={Array.from(LENGTHS, ([value, { label }]) => ({ value, label }))}
            value={form.length}
            onChange={value => set({ length: value ?? NEW_SILENCE.length })}
          />
        </div>
        <SeverityChips chosen={form.severities} onChange={severities => set({ severities })} />
        <Textarea
          label="Reason"
          placeholder="Database upgrade"
          required
          autosize
          minRows={1}
          maxRows={4}
          value={form.reason}
          error={problems.reason}
          onChange={event => set({ reason: event.currentTarget.value })}
        />
        <div className={styles.formButtons}>
          <Button type="submit" loading={isAdding}>
            Silence
          </Button>
        </div>
      </form>
    </Panel>
  )
}

const NO_PROBLEMS: ReturnType<typeof silenceProblems> = {}

function useNewSilence() {
  // An incident leads here with what a silence of it would say.
  const asked = new URLSearchParams(useSearch())
  const client = useQueryClient()
  const [form, setForm] = useState<SilenceForm>({
    ...NEW_SILENCE,
    services: asked.get('services') ?? '',
    reason: asked.get('reason') ?? '',
  })
  const [showsProblems, setShowsProblems] = useState(false)
  const problems = silenceProblems(form, serverNow())
  const add = useMutation({
    mutationFn: () => addSilence(buildSilence(form, serverNow())),
    onSuccess() {
      const message = form.begins === '' ? 'The silence holds from now on' : 'The silence is planned'
      notifications.show({ color: 'teal', message })
      setForm(NEW_SILENCE)
      setShowsProblems(false)
    },
    onError: error => showFailure('Not silenced', error),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  })
  return {
    form,
    set: (changes: Partial<SilenceForm>) => setForm(before => ({ ...before, ...changes })),
    /** Those that are shown. */
    problems: showsProblems ? problems : NO_PROBLEMS,
    isAdding: add.isPending,
    /** False where the form has problems, which show from now on. */
    submit() {
      const isSound = Object.keys(problems).length === 0
      if (isSound) add.mutate()
      else setShowsProblems(true)
      return isSound
    },
  }
}

interface SeverityChipsProps {
  readonly chosen: readonly Severity[]
  readonly onChange: (severities: readonly Severity[]) => void
}

function SeverityChips({ chosen, onChange }: SeverityChipsProps) {
  return (
    <div>
      <div className={styles.label} id="silence-severities">
        Severities
      </div>
      <p className={styles.hint}>None chosen: all</p>
      <Chip.Group multiple value={[...chosen]} onChange={value => onChange(value as Severity[])}>
        <Group gap="xs" role="group" aria-labelledby="silence-severities">
          {SEVERITIES.map(severity => (
            <Chip key={severity} value={severity} size="xs">
              {severity}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </div>
  )
}

type Row = ReturnType<typeof inOrder>[number]

const END_WORDS: Readonly<Record<SilenceState, { readonly label: string; readonly done: string }>> = {
  active: { label: 'End now', done: 'The silence is over: incidents that it held back are told now' },
  coming: { label: 'Cancel', done: 'The silence is cancelled' },
  over: { label: 'Forget', done: 'The silence is forgotten' },
}

const TONES: Readonly<Record<SilenceState, Tone>> = { active: 'warn', coming: 'info', over: 'neutral' }

const COLUMNS: readonly Column<Row>[] = [
  { key: 'state', title: 'State', render: ({ state }) => <Pill tone={TONES[state]}>{state}</Pill> },
  {
    key: 'services',
    title: 'Services and reason',
    grow: true,
    render: ({ services, reason, from, to, state }) => (
      <>
        <code>
          <VisibleText text={services.join(', ')} />
        </code>
        <span className={styles.underneath} dir="auto">
          <VisibleText text={reason} />
        </span>
        <span className={styles.underneath} data-narrow="only">
          {state === 'coming' ? 'begins ' : state === 'over' ? 'ended ' : 'ends '}
          <RelativeTime time={state === 'coming' ? from : to} />
        </span>
      </>
    ),
  },
  { key: 'severities', title: 'Severities', hideWhenNarrow: true, render: ({ severities }) => severities?.join(', ') ?? 'all' },
  {
    key: 'from',
    title: 'Begins',
    hideWhenNarrow: true,
    render: ({ from }) => (
      <span className={styles.nowrap}>
        <RelativeTime time={from} />
      </span>
    ),
  },
  {
    key: 'to',
    title: 'Ends',
    hideWhenNarrow: true,
    render: ({ to }) => (
      <span className={styles.nowrap}>
        <RelativeTime time={to} />
      </span>
    ),
  },
  {
    key: 'end',
    title: <span className="visually-hidden">Actions</span>,
    align: 'right',
    render: silence => <EndButton silence={silence} />,
  },
]

function SilenceList() {
  const nowMs = useNow()
  const { data, error, refetch, dataUpdatedAt } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => listSilences(signal),
    refetchInterval: 30_000,
  })
  return (
    <Panel title="Silences" note="with those that ended in the last week" flush>
      {data === undefined ? (
        error === null ? (
          <Pending />
        ) : (
          <ErrorPanel error={error} onRetry={refetch} small />
        )
      ) : data.length === 0 ? (
        <EmptyState title="Nothing is silenced" icon={IconBell} small>
          <p>Before planned work, silence its services above: incidents are listed, and nobody is called.</p>
        </EmptyState>
      ) : (
        <DataTable
          label="Silences"
          columns={COLUMNS}
          rows={inOrder(data, Math.max(nowMs, dataUpdatedAt + clockOffset()))}
          rowKey={({ id }) => id}
        />
      )}
    </Panel>
  )
}

function EndButton({ silence: { id, state, services } }: { readonly silence: Row }) {
  const client = useQueryClient()
  const end = useMutation({
    mutationFn: () => removeSilence(id),
    onSuccess: () => notifications.show({ color: 'teal', message: END_WORDS[state].done }),
    onError: error => showFailure('Not ended', error),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  })
  const { label } = END_WORDS[state]
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={end.isPending}
      onClick={() => end.mutate()}
      aria-label={visibleText(`${label}: ${services.join(', ')}`)}
    >
      {label}
    </Button>
  )
}
