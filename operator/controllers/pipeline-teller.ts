/** Tells the status of one `LogPipeline`: first of all, when its spec cannot be used, and how it stands after its objects were applied. */
import type { ApiAnswer } from '../../dataplane/kube/api-failure.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { readLogPipeline } from '../api/read-object.ts'
import type { LogPipelineStatus } from '../api/status.ts'
import { type PipelinePlan, planPipeline } from '../desired/index.ts'
import type { OperatorSettings } from '../desired/pipeline-context.ts'
import { pipelineStatus } from '../observed/conditions.ts'
import { invalidPipelineStatus } from '../observed/invalid-status.ts'
import type { PipelineView } from '../observed/pipeline-view.ts'
import { isPrefixNew, topicPrefixOf } from '../observed/topic-prefix.ts'
import { startDeadlineMs } from '../observed/workloads/start-deadline.ts'
import type { ObjectProblem } from '../reconcile/reconcile-objects.ts'
import { hasStatus } from '../reconcile/write-status.ts'
import { failedBy, type ReconcileOutcome } from '../runtime/controller.ts'
import type { Referred } from './gather.ts'
import { LOG_PIPELINES } from './kinds.ts'
import { createStatusPace, PIPELINE_SUMMARY } from './status-pace.ts'
import { type StatusDeps, tellStatus, timestamp } from './tell-status.ts'
import { createToldPrefixes } from './told-prefixes.ts'

export interface PipelineTellerDeps extends StatusDeps {
  readonly settings: OperatorSettings
  readonly clock: Clock
}

/** How the pipeline stands once its objects are applied. */
export interface PipelineOutcome {
  readonly after: PipelineView
  readonly desired: PipelinePlan['facts']
  /** Objects that could not be applied. */
  readonly problems: readonly ObjectProblem[]
  /** Why what the pipeline refers to could not be read. */
  readonly failure: Referred['failure']
  /** When the objects want to be looked at again. */
  readonly againMs: number
}

export interface PipelineTeller {
  /** The pipeline with the topic prefix that its status had, where the CRD of an older release dropped it. */
  withTopicPrefix(key: string, seen: LogPipeline): LogPipeline
  /** A status comes before the first objects, and a topic prefix before the first topics: it must not be forgotten once topics have it. */
  tellFirst(key: string, seen: PipelineView): Promise<PipelineView>
  /** Tells why the spec cannot be used. The objects of the pipeline stay as they are. */
  tellInvalid(key: string, pipeline: LogPipeline): Promise<ReconcileOutcome>
  /** Tells how the pipeline stands, once the pace allows it, and when it is looked at again. */
  tellOutcome(key: string, pipeline: LogPipeline, outcome: PipelineOutcome): Promise<ReconcileOutcome>
  forget(key: string): void
}

/** The pause before a wanted name that another owner's object holds is looked at again: the watch does not tell when such an object goes. */
const FOREIGN_MS = 30_000

export function createPipelineTeller(deps: PipelineTellerDeps): PipelineTeller {
  const prefixes = createToldPrefixes()
  const pace = createStatusPace(PIPELINE_SUMMARY)

  const now = () => timestamp(deps.clock.nowMs())

  const write = async (key: string, pipeline: LogPipeline, status: LogPipelineStatus): Promise<ApiAnswer<LogPipeline | undefined>> => {
    const written = await tellStatus(deps, LOG_PIPELINES, pipeline, status)
    if (!written.ok) return written
    if (written.value === undefined) return { ok: true, value: undefined }
    const value = readLogPipeline(written.value)
    pace.noteWritten(key, pipeline.status, status, monotonicMs(deps.clock))
    prefixes.note(key, value, status)
    return { ok: true, value }
  }

  return {
    withTopicPrefix: prefixes.restore,
    async tellFirst(key: string, seen: PipelineView): Promise<PipelineView> {
      const { pipeline } = seen.gathered
      // Without a status it would count as ready (kstatus); the CRD has one by default, that of an older release has none.
      if (pipeline.status?.conditions !== undefined && !isPrefixNew(pipeline)) return seen
      const desired = planPipeline(seen, deps.settings).facts
      const written = await write(key, pipeline, pipelineStatus({ view: seen, desired, now: now() }))
      if (!written.ok || written.value === undefined) return seen
      // The CRD of an older release does not keep the prefix: there it is what it was then. The spec stays the one whose Secrets were read.
      const { status } = written.value
      const told = { ...pipeline, ...(status !== undefined && { status }) }
      return { ...seen, gathered: { ...seen.gathered, pipeline: told }, topicPrefix: topicPrefixOf(told) }
    },
    async tellInvalid(key: string, pipeline: LogPipeline): Promise<ReconcileOutcome> {
      const written = await write(key, pipeline, invalidPipelineStatus(prefixes.restore(key, pipeline), now()))
      return written.ok || written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
    },
    async tellOutcome(
      key: string,
      pipeline: LogPipeline,
      { after, desired, problems, failure, againMs }: PipelineOutcome,
    ): Promise<ReconcileOutcome> {
      const status = pipelineStatus({ view: after, desired, now: now() })
      const isUnderWay = isReconciling(status)
      const isInTrouble = problems.some(isRefusal) || failure !== undefined
      const waitMs = isInTrouble ? 0 : pace.waitMs(key, pipeline.status, status, monotonicMs(deps.clock))
      if (waitMs > 0 && !hasStatus(pipeline, status)) return { kind: 'again', afterMs: waitMs, isUnderWay }
      const written = await write(key, pipeline, status)
      // Deleted meanwhile: the watch tells of it.
      if (!written.ok) return written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
      if (failure !== undefined) return failedBy(failure)
      const { observedGeneration: generation = 0, inputsHash = '' } = status
      const deadlineMs = startDeadlineMs(status, { generation, inputsHash, appliedMs: after.gathered.appliedMs })
      const outcome = notAfter(notAfter(outcomeOf(problems), (deadlineMs ?? 0) - deps.clock.nowMs()), againMs)
      return outcome.kind === 'failed' ? outcome : { ...outcome, isUnderWay }
    },
    forget(key) {
      prefixes.forget(key)
      pace.forget(key)
    },
  }
}

/** The outcome, with another look after that time at the latest, if that is still to come. */
function notAfter(outcome: ReconcileOutcome, ms: number): ReconcileOutcome {
  if (ms <= 0 || outcome.kind === 'failed') return outcome
  return { kind: 'again', afterMs: outcome.kind === 'again' ? Math.min(outcome.afterMs, ms) : ms }
}

function isReconciling({ conditions = [] }: LogPipelineStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Reconciling' && status === 'True')
}

const isRefusal = ({ reason }: ObjectProblem) => reason !== 'ChangedByOthers'

function outcomeOf(problems: readonly ObjectProblem[]): ReconcileOutcome {
  const failed = problems.find(problem => isRefusal(problem) && problem.reason !== 'ForeignObject')
  if (failed !== undefined) return failed.failure === undefined ? { kind: 'failed', message: failed.message } : failedBy(failed.failure)
  return problems.some(({ reason }) => reason === 'ForeignObject') ? { kind: 'again', afterMs: FOREIGN_MS } : { kind: 'settled' }
}
