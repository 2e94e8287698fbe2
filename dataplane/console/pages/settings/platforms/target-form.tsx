/** The form of one target. Secrets are written and never shown; a test with what is typed comes before it is saved. */
import { Button, NumberInput, PasswordInput, Switch, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { PlatformName } from '../../../../contract/platforms.ts'
import { type ShownTarget, type TestAnswer, testConnection } from '../../../api/ticketing-config.ts'
import { focusFirstProblem } from '../../../components/keyboard/focus-first-problem.ts'
import {
  editedFields,
  type FormField,
  type TargetForm as FormState,
  forgetSecret,
  formChange,
  formFields,
  formProblems,
  isChanged,
  nameProblem,
  openForm,
  setValue,
  targetIdOf,
  titleOfTarget,
} from '../rules/platform-form.ts'
import styles from '../section.module.css'
import { TestResult } from '../test-result.tsx'
import { useConfigChange } from '../use-config.ts'

export interface TargetFormProps {
  readonly platform: PlatformName
  /** Undefined: a new one. */
  readonly id?: string
  readonly stored?: ShownTarget | undefined
  /** The resource that declared it: not to be changed here. */
  readonly owner?: string | undefined
  readonly taken?: readonly string[]
  readonly onClose: () => void
}

export function TargetForm({ platform, id, stored, owner, taken = [], onClose }: TargetFormProps) {
  const [found] = useState(stored)
  const [form, setForm] = useState(() => openForm(platform, stored))
  const [name, setName] = useState('')
  const [showsProblems, setShowsProblems] = useState(false)
  const itself = useRef<HTMLFormElement>(null)
  const target = id ?? targetIdOf(platform, name)
  const nameIssue = id === undefined ? nameProblem(platform, name, taken) : undefined
  const problems = formProblems(platform, form)
  const isSound = nameIssue === undefined && Object.keys(problems).length === 0
  const isReadOnly = owner !== undefined
  const change = formChange(platform, form, found)

  const save = useConfigChange('platforms', `${titleOfTarget(target)} is saved`)
  const test = useMutation({ mutationFn: () => (isReadOnly ? testConnection(target) : testConnection(target, change)) })
  const whenSound = (run: () => void) => {
    if (isSound || isReadOnly) return run()
    setShowsProblems(true)
    focusFirstProblem(itself.current)
  }
  const edit = (next: FormState) => {
    setForm(next)
    test.reset()
  }

  return (
    <form
      ref={itself}
      className={styles.form}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        whenSound(() => save.mutate({ [target]: editedFields(platform, change, found) }, { onSuccess: onClose }))
      }}
    >
      {id === undefined && (
        <TextInput
          label="Name"
          description={`Needed for a second one of this platform. Its id: ${target}`}
          placeholder="payments"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={(showsProblems || name !== '') && nameIssue}
        />
      )}
      <div className={styles.fields}>
        {formFields(platform).map(field => (
          <FieldInput
            key={field.name}
            field={field}
            form={form}
            isReadOnly={isReadOnly}
            problem={showsProblems || (form.values[field.name] ?? '') !== '' ? problems[field.name] : undefined}
            onChange={edit}
          />
        ))}
      </div>
      {!isReadOnly && (
        <Switch
          label="Switched on"
          description="Off: nothing is sent, and tickets that wait are given up"
          checked={form.enabled}
          onChange={event => edit({ ...form, enabled: event.currentTarget.checked })}
        />
      )}
      <TestResult answer={test.data} error={test.error} />
      <div className={styles.formButtons}>
        <Button variant="default" loading={test.isPending} onClick={() => whenSound(() => test.mutate())}>
          Test the connection
        </Button>
        {!isReadOnly && (
          <Button type="submit" loading={save.isPending} disabled={id !== undefined && !isChanged(platform, form, found)}>
            {saveLabel(test.data)}
          </Button>
        )}
        <Button variant="subtle" onClick={onClose}>
          {isReadOnly ? 'Close' : 'Cancel'}
        </Button>
        {id !== undefined && !isReadOnly && <RemoveButton id={id} onRemoved={onClose} />}
      </div>
    </form>
  )
}

function saveLabel(answer: TestAnswer | undefined): string {
  return answer?.status === 'error' ? 'Save all the same' : 'Save'
}

interface FieldInputProps {
  readonly field: FormField
  readonly form: FormState
  readonly isReadOnly: boolean
  readonly problem: string | undefined
  readonly onChange: (form: FormState) => void
}

function FieldInput({ field: { name, kind, label, hint, placeholder, isRequired }, form, isReadOnly, problem, onChange }: FieldInputProps) {
  const value = form.values[name] ?? ''
  const isKept = form.kept.includes(name)
  const common = {
    label,
    required: isRequired,
    readOnly: isReadOnly,
    value,
    ...(hint !== undefined && { description: hint }),
    ...(placeholder !== undefined && { placeholder }),
    ...(problem !== undefined && { error: problem }),
  }
  const set = (text: string) => onChange(setValue(form, name, text))
  if (kind === 'flag')
    return (
      <Switch
        label={label}
        description={hint}
        disabled={isReadOnly}
        checked={value === 'true'}
        onChange={event => set(event.currentTarget.checked ? 'true' : 'false')}
      />
    )
  if (kind === 'port') return <NumberInput {...common} min={1} max={65_535} hideControls onChange={next => set(String(next))} />
  if (kind !== 'secret') return <TextInput {...common} onChange={event => set(event.currentTarget.value)} />
  return (
    <div className={styles.secret}>
      <PasswordInput
        {...common}
        required={isRequired && !isKept}
        placeholder={isKept ? '•••• stored; type to replace' : 'not stored'}
        autoComplete="off"
        // Mantine says so of every other field.
        aria-invalid={problem === undefined ? undefined : true}
        onChange={event => set(event.currentTarget.value)}
      />
      {isKept && !isReadOnly && !isRequired && (
        <Button size="compact-xs" variant="subtle" color="red" onClick={() => onChange(forgetSecret(form, name))}>
          Remove the stored one
        </Button>
      )}
    </div>
  )
}

/** Asks once more in its own place. */
function RemoveButton({ id, onRemoved }: { readonly id: string; readonly onRemoved: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const remove = useConfigChange('platforms', `${titleOfTarget(id)} is removed`)
  return (
    <Button
      className={styles.remove}
      variant={isAsking ? 'filled' : 'subtle'}
      color="red"
      loading={remove.isPending}
      onBlur={() => setAsking(false)}
      onClick={() => (isAsking ? remove.mutate({ [id]: null }, { onSuccess: onRemoved }) : setAsking(true))}
    >
      {isAsking ? 'Remove it for good' : 'Remove'}
    </Button>
  )
}
