/** Plans and objects from what was gathered, as a reconcile makes them. For tests. */
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import type { Gathered } from '../../observed/gathered.ts'
import { viewPipeline } from '../../observed/pipeline-view.ts'
import { type PipelinePlan, planPipeline } from '../index.ts'
import type { OperatorSettings } from '../pipeline-context.ts'

export interface PipelineInput {
  readonly gathered: Gathered
  readonly settings: OperatorSettings
}

export const planOf = ({ gathered, settings }: PipelineInput): PipelinePlan => planPipeline(viewPipeline(gathered), settings)

export const buildPipeline = (input: PipelineInput): readonly KubernetesObject[] => planOf(input).objects
