/** The language model that words root causes: whether it answers, and its settings. */
import { Button, PasswordInput, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { LLM_PROVIDERS } from '../../../../contract/llm-providers.ts'
import { readModelStatus, type TicketingConfig, testModel } from '../../../api/ticketing-config.ts'
import { Pill } from '../../../components/badges/badges.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { DeclaredNote } from '../declared-note.tsx'
import {
  chooseProvider,
  isModelChanged,
  modelChange,
  modelProblems,
  openModelForm,
  PROVIDER_WORDS,
  type Provider,
} from '../rules/model-form.ts'
import styles from '../section.module.css'
import { TestResult } from '../test-result.tsx'
import { useConfigChange } from '../use-config.ts'
import { WithConfig } from '../with-config.tsx'

const STATUS_KEY = ['llm-status']

export default function ModelSection() {
  return <WithConfig>{config => <Model config={config} />}</WithConfig>
}

function Model({ config }: { readonly config: TicketingConfig }) {
  return (
    <div className={styles.stack}>
      <StatusPanel />
      <ModelPanel config={config} />
    </div>
  )
}

function StatusPanel() {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: STATUS_KEY,
    queryFn: ({ signal }) => readModelStatus(signal),
    refetchInterval: 30_000,
  })
  const isNone = data?.provider === 'none'
  return (
    <Panel
      title="Status"
      actions={
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          Ask again
        </Button>
      }
    >
      {data === undefined ? (
        error === null ? (
          <Pending what="Asking the model" />
        ) : (
          <ErrorPanel error={error} small />
        )
      ) : (
        <div className={styles.status}>
          <Pill tone={data.available ? 'good' : isNone ? 'neutral' : 'bad'}>
            {data.available ? 'available' : isNone ? 'not configured' : 'degraded'}
          </Pill>
          <span>
            {isNone
              ? 'Root causes are found by rules alone.'
              : data.available
                ? `${data.provider} answers as ${data.model}.`
                : `${data.provider}, ${data.model}: ${data.error ?? 'no reason is known'}. Incidents are made all the same, with causes by rules, and marked Fallback.`}
          </span>
        </div>
      )}
    </Panel>
  )
}

function ModelPanel({ config: { llm, declared } }: { readonly config: TicketingConfig }) {
  const isReadOnly = declared?.llm !== undefined
  const [form, setForm] = useState(() => openModelForm(llm))
  const save = useConfigChange('llm', 'The language model is saved')
  const test = useMutation({ mutationFn: () => testModel(isReadOnly ? {} : modelChange(form)) })
  const problems = modelProblems(form)
  const isSound = Object.keys(problems).length === 0
  const isNone = form.provider === 'none'
  const words = PROVIDER_WORDS[form.provider]
  const edit = (next: typeof form) => {
    setForm(next)
    test.reset()
  }
  return (
    <Panel title="Language model" note="It words what the rules found. Secrets and personal data are masked before anything is sent">
      {isReadOnly && <DeclaredNote what="spec.ticketing.llm of the LogPipeline" />}
      <form
        className={styles.form}
        onSubmit={event => {
          event.preventDefault()
          if (isSound)
            save.mutate(modelChange(form), {
              onSuccess: () => setForm({ ...form, apiKey: '', keepsKey: form.keepsKey || form.apiKey !== '' }),
            })
        }}
      >
        <div className={styles.fields}>
          <Select
            label="Provider"
            description={words.hint}
            data={LLM_PROVIDERS.map(value => ({ value, label: PROVIDER_WORDS[value].title }))}
            value={form.provider}
            readOnly={isReadOnly}
            onChange={value => edit(chooseProvider(form, value as Provider, llm))}
          />
          {!isNone && (
            <>
              <TextInput
                label="Model"
                description="As the provider names it"
                required
                placeholder={words.model}
                value={form.model}
                readOnly={isReadOnly}
                onChange={event => edit({ ...form, model: event.currentTarget.value })}
              />
              <TextInput
                label="Base URL"
                description={words.baseUrl === 'needed' ? 'Of the server' : 'Empty: the provider’s own'}
                required={words.baseUrl === 'needed'}
                placeholder="https://models.example.com"
                value={form.baseUrl}
                readOnly={isReadOnly}
                error={form.baseUrl !== '' && problems.baseUrl}
                onChange={event => edit({ ...form, baseUrl: event.currentTarget.value })}
              />
              <PasswordInput
                label="API key"
                description="Written, never shown"
                placeholder={form.keepsKey ? '•••• stored; type to replace' : 'not stored'}
                value={form.apiKey}
                readOnly={isReadOnly}
                autoComplete="off"
                onChange={event => edit({ ...form, apiKey: event.currentTarget.value })}
              />
            </>
          )}
        </div>
        <TestResult answer={test.data} error={test.error} />
        <div className={styles.formButtons}>
          {!isNone && (
            <Button variant="default" loading={test.isPending} disabled={!isSound} onClick={() => test.mutate()}>
              Test the model
            </Button>
          )}
          {!isReadOnly && (
            <Button type="submit" loading={save.isPending} disabled={!isSound || !isModelChanged(form, llm)}>
              {test.data?.status === 'error' ? 'Save all the same' : 'Save'}
            </Button>
          )}
        </div>
      </form>
    </Panel>
  )
}
