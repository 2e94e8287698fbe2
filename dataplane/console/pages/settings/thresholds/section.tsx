/** From when on something is an anomaly and an incident, with what that would have made of the last day. */
import { Button, NumberInput, SegmentedControl, Slider, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { SEVERITIES } from '../../../../contract/platforms.ts'
import { parseLookback } from '../../../../domain/incidents/anomaly-config.ts'
import { changeBridgeConfig, readBridgeConfig } from '../../../api/bridge.ts'
import { changeConfig, type TicketingConfig } from '../../../api/ticketing-config.ts'
import { ServiceName, SeverityBadge } from '../../../components/badges/badges.tsx'
import { formatCount } from '../../../components/format.ts'
import { Panel } from '../../../components/layout/panel.tsx'
import { ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { DeclaredNote } from '../declared-note.tsx'
import { openThresholds, type ThresholdForm, thresholdChanges, thresholdEdits, thresholdProblems } from '../rules/threshold-form.ts'
import { type Caught, compareCaught, countCaught, type PastAnomaly } from '../rules/would-have-caught.ts'
import styles from '../section.module.css'
import { showFailure } from '../use-config.ts'
import { WithConfig } from '../with-config.tsx'
import { MAX_PAST, usePastAnomalies } from './use-past-anomalies.ts'

const BRIDGE_KEY = ['bridge-config']
const MAX_SERVICES = 6

export default function ThresholdsSection() {
  return <WithConfig>{config => <ThresholdsOf config={config} />}</WithConfig>
}

function ThresholdsOf({ config }: { readonly config: TicketingConfig }) {
  const { data: bridge, isPending, error, refetch } = useQuery({ queryKey: BRIDGE_KEY, queryFn: ({ signal }) => readBridgeConfig(signal) })
  if (isPending) return <Pending what="Reading the thresholds" />
  const stored = openThresholds(config.anomaly, bridge)
  const failure = bridge === undefined ? <ErrorPanel error={error} onRetry={refetch} small /> : undefined
  return <Thresholds stored={stored} declared={config.declared?.anomaly ?? {}} bridgeFailure={failure} />
}

interface ThresholdsProps {
  readonly stored: ThresholdForm
  readonly declared: NonNullable<NonNullable<TicketingConfig['declared']>['anomaly']>
  /** In the place of the bridge's thresholds, where it does not tell them. */
  readonly bridgeFailure: ReactNode
}

function Thresholds({ stored, declared, bridgeFailure }: ThresholdsProps) {
  // Stored values may change, and be told late: edits stay.
  const [edits, setEdits] = useState<Partial<ThresholdForm>>({})
  const form: ThresholdForm = { ...stored, ...edits }
  const set = (changes: Partial<ThresholdForm>) => setEdits(before => ({ ...before, ...changes }))
  const problems = thresholdProblems(form)
  const changes = thresholdChanges(form, stored)
  const isChanged = changes.anomaly !== undefined || changes.bridge !== undefined
  const save = useSave(changes)
  const isDeclared = Object.keys(declared).length > 0
  return (
    <div className={styles.sideBySide}>
      <Panel title="Thresholds">
        {isDeclared && <DeclaredNote what="spec.ticketing.anomaly of the LogPipeline" />}
        <form
          className={styles.form}
          onSubmit={event => {
            event.preventDefault()
            if (Object.keys(problems).length > 0) return
            save.mutate(undefined, { onSuccess: () => setEdits(now => thresholdEdits({ ...form, ...now }, form)) })
          }}
        >
          <MinimumScore
            score={form.minimumScore}
            isDeclared={declared.minimumScore !== undefined}
            problem={problems.minimumScore}
            onScore={minimumScore => set({ minimumScore })}
          />
          <TextInput
            label="Look-back"
            description="An incident takes in more of the same for this long after its last anomaly"
            value={form.lookbackWindow}
            readOnly={declared.lookbackWindow !== undefined}
            error={problems.lookbackWindow}
            onChange={event => set({ lookbackWindow: event.currentTarget.value.trim() })}
          />
          <Recurring value={form.recurring} onChange={recurring => set({ recurring })} />
          {bridgeFailure}
          {form.anomalyThreshold !== undefined && form.windowSize !== undefined && (
            <div className={styles.fields}>
              <NumberInput
                label="Z-score threshold"
                description="Holds for all tenants, until the bridge restarts"
                step={0.1}
                min={0}
                decimalScale={3}
                value={form.anomalyThreshold}
                error={problems.anomalyThreshold}
                onChange={value => set({ anomalyThreshold: numberOf(value) })}
              />
              <NumberInput
                label="Window"
                description="Records of a service that the Z-score looks back on"
                step={10}
                min={0}
                value={form.windowSize}
                error={problems.windowSize}
                onChange={value => set({ windowSize: numberOf(value) })}
              />
            </div>
          )}
          <div className={styles.formButtons}>
            <Button type="submit" loading={save.isPending} disabled={!isChanged || Object.keys(problems).length > 0}>
              Save
            </Button>
            <Button variant="subtle" disabled={!isChanged} onClick={() => setEdits({})}>
              Undo
            </Button>
          </div>
        </form>
      </Panel>
      <CaughtPanel form={form} stored={stored} />
    </div>
  )
}

interface MinimumScoreProps {
  readonly score: number
  readonly isDeclared: boolean
  readonly problem: string | undefined
  readonly onScore: (score: number) => void
}

function MinimumScore({ score, isDeclared, problem, onScore }: MinimumScoreProps) {
  return (
    <div>
      <NumberInput
        label="Minimum score"
        description="One anomaly of this score makes an incident by itself; below it, three within five minutes do"
        min={0}
        max={1}
        step={0.05}
        decimalScale={4}
        value={score}
        readOnly={isDeclared}
        error={problem}
        onChange={value => onScore(numberOf(value))}
      />
      <Slider
        className={styles.slider}
        thumbLabel="Minimum score"
        min={0}
        max={1}
        step={0.05}
        label={null}
        value={Number.isFinite(score) ? score : 0}
        disabled={isDeclared}
        onChange={moved => onScore(Math.round(moved * 100) / 100)}
      />
    </div>
  )
}

interface RecurringProps {
  readonly value: ThresholdForm['recurring']
  readonly onChange: (value: ThresholdForm['recurring']) => void
}

function Recurring({ value, onChange }: RecurringProps) {
  return (
    <div>
      <div className={styles.label} id="recurring-label">
        Recurring incidents
      </div>
      <p className={styles.hint}>An incident of lines that its service logs all day, or each hour</p>
      <SegmentedControl
        aria-labelledby="recurring-label"
        data={[
          { value: 'dispatch', label: 'Tell platforms' },
          { value: 'quiet', label: 'List only' },
        ]}
        value={value}
        onChange={chosen => onChange(chosen as ThresholdForm['recurring'])}
      />
    </div>
  )
}

/** Both services, the ticketing agent first; the other is not asked where the first refuses. */
function useSave({ anomaly, bridge }: ReturnType<typeof thresholdChanges>) {
  const client = useQueryClient()
  return useMutation({
    async mutationFn() {
      if (anomaly !== undefined) await changeConfig('anomaly', anomaly)
      if (bridge !== undefined) await changeBridgeConfig(bridge)
    },
    onSuccess: () => notifications.show({ color: 'teal', message: 'The thresholds are saved' }),
    onError: error => showFailure('Not all is saved', error),
    onSettled: () =>
      Promise.all([client.invalidateQueries({ queryKey: ['ticketing-config'] }), client.invalidateQueries({ queryKey: BRIDGE_KEY })]),
  })
}

function numberOf(value: string | number): number {
  return typeof value === 'number' ? value : value.trim() === '' ? Number.NaN : Number(value)
}

function CaughtPanel({ form, stored }: { readonly form: ThresholdForm; readonly stored: ThresholdForm }) {
  const { data, error, refetch } = usePastAnomalies()
  return (
    <Panel title="In the last 24 hours" note="what these thresholds would have caught">
      {data === undefined ? (
        error === null ? (
          <Pending what="Reading the anomalies of the last day" />
        ) : (
          <ErrorPanel error={error} onRetry={refetch} small />
        )
      ) : (
        <CaughtFigures anomalies={data.anomalies} isCut={data.isCut} form={form} stored={stored} />
      )}
    </Panel>
  )
}

interface CaughtFiguresProps {
  readonly anomalies: readonly PastAnomaly[]
  readonly isCut: boolean
  readonly form: ThresholdForm
  readonly stored: ThresholdForm
}

function CaughtFigures({ anomalies, isCut, form, stored }: CaughtFiguresProps) {
  // Ten thousand anomalies take a moment: typing goes first.
  const { minimumScore, lookbackWindow, anomalyThreshold } = useDeferredValue(form)
  const current = useMemo(() => countFor(anomalies, stored, stored), [anomalies, stored])
  const draft = useMemo(
    () => countFor(anomalies, { minimumScore, lookbackWindow, anomalyThreshold }, stored),
    [anomalies, minimumScore, lookbackWindow, anomalyThreshold, stored],
  )
  if (draft === undefined || current === undefined) return <p className={styles.hint}>Mend the fields to see it.</p>
  const isLower = anomalyThreshold !== undefined && stored.anomalyThreshold !== undefined && anomalyThreshold < stored.anomalyThreshold
  return (
    <div className={styles.caught} aria-live="polite">
      <p className={styles.bigFigure}>
        <strong className="numeric">{formatCount(draft.incidents)}</strong> {draft.incidents === 1 ? 'incident' : 'incidents'}
        <span> of {formatCount(draft.anomalies)} anomalies</span>
      </p>
      <p>{compareCaught(draft, current)}</p>
      <dl className={styles.figures}>
        {SEVERITIES.map(severity => (
          <div key={severity}>
            <dt>
              <SeverityBadge severity={severity} />
            </dt>
            <dd className="numeric">{formatCount(draft.bySeverity[severity])}</dd>
          </div>
        ))}
      </dl>
      <Services caught={draft} />
      <p className={styles.hint}>
        Each service for itself: incidents that span several are counted for each.
        {isCut && ` Of the newest ${formatCount(MAX_PAST)} anomalies.`}
        {isLower && ' A lower Z-score threshold finds more than this: what it would have found is not stored.'}
      </p>
    </div>
  )
}

function Services({ caught: { byService } }: { readonly caught: Caught }) {
  if (byService.length === 0) return null
  const most = byService[0]!.incidents
  return (
    <ul className={styles.bars} aria-label="Services with most incidents">
      {byService.slice(0, MAX_SERVICES).map(({ service, incidents }) => (
        <li key={service}>
          <ServiceName name={service} />
          <span className={styles.barTrack} aria-hidden>
            <i style={{ width: `${(incidents / most) * 100}%` }} />
          </span>
          <span className="numeric">{formatCount(incidents)}</span>
        </li>
      ))}
    </ul>
  )
}

type Counted = Pick<ThresholdForm, 'minimumScore' | 'lookbackWindow'> & { readonly anomalyThreshold?: number | undefined }

/** Undefined for thresholds that cannot be. */
function countFor(
  anomalies: readonly PastAnomaly[],
  { minimumScore, lookbackWindow, anomalyThreshold }: Counted,
  stored: ThresholdForm,
): Caught | undefined {
  const lookbackMs = parseLookback(lookbackWindow)
  if (lookbackMs === undefined || !Number.isFinite(minimumScore)) return undefined
  // Anomalies that other settings found in the last day count as found.
  const isRaised = anomalyThreshold !== undefined && stored.anomalyThreshold !== undefined && anomalyThreshold > stored.anomalyThreshold
  return countCaught(anomalies, { minimumScore, lookbackMs, ...(isRaised && { anomalyThreshold }) })
}
