/** CustomResourceDefinitions from the zod schemas. */
import type { z } from 'zod'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { LOG_PIPELINE_KIND, LOG_PIPELINE_SPEC } from './log-pipeline.ts'
import { API_GROUP, API_VERSION, CATEGORY, MAX_PIPELINE_NAME } from './names.ts'
import type { CelRule } from './schema.ts'
import { LOG_PIPELINE_STATUS, TICKETING_ROUTE_STATUS } from './status.ts'
import { structuralSchema } from './structural-schema.ts'
import { TICKETING_ROUTE_KIND, TICKETING_ROUTE_SPEC } from './ticketing-route.ts'

interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly jsonPath: string
  /** From 1 on shown with `-o wide` only. */
  readonly priority?: number
}

export interface KindDescription {
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly description: string
  readonly spec: z.ZodType
  readonly status: z.ZodType
  readonly rules: readonly CelRule[]
  readonly selectableFields: readonly string[]
  readonly columns: readonly PrinterColumn[]
  readonly scale?: object
}

const condition = (type: string, field: 'status' | 'reason' | 'message') => `.status.conditions[?(@.type=="${type}")].${field}`
const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

export const KINDS: readonly KindDescription[] = [
  {
    kind: LOG_PIPELINE_KIND,
    plural: 'logpipelines',
    shortNames: ['lp'],
    description: 'A log pipeline: OpenTelemetry logs in, incidents out.',
    spec: LOG_PIPELINE_SPEC,
    status: LOG_PIPELINE_STATUS,
    rules: [
      {
        rule: `self.metadata.name.size() <= ${MAX_PIPELINE_NAME} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
        message: `metadata.name: expected at most ${MAX_PIPELINE_NAME} of a-z, 0-9 and -, beginning with a letter, since Services are named after it`,
      },
    ],
    selectableFields: ['.spec.tenant', '.spec.mode'],
    columns: [
      { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
      { name: 'Tenant', type: 'string', jsonPath: '.spec.tenant' },
      { name: 'Ready', type: 'string', jsonPath: condition('Ready', 'status') },
      { name: 'Reason', type: 'string', jsonPath: condition('Ready', 'reason') },
      { name: 'OTLP', type: 'string', jsonPath: '.status.endpoints.otlpHttp', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: condition('Ready', 'message'), priority: 1 },
      AGE,
    ],
    scale: {
      specReplicasPath: '.spec.bridge.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  {
    kind: TICKETING_ROUTE_KIND,
    plural: 'ticketingroutes',
    shortNames: ['troute'],
    description: 'Where incidents of a LogPipeline are sent.',
    spec: TICKETING_ROUTE_SPEC,
    status: TICKETING_ROUTE_STATUS,
    rules: [],
    selectableFields: ['.spec.platform'],
    columns: [
      { name: 'Platform', type: 'string', jsonPath: '.spec.platform' },
      { name: 'Severities', type: 'string', jsonPath: '.spec.severities' },
      { name: 'Ready', type: 'string', jsonPath: condition('Ready', 'status') },
      { name: 'Reason', type: 'string', jsonPath: condition('Ready', 'reason') },
      { name: 'Dispatching', type: 'string', jsonPath: condition('Dispatching', 'reason') },
      { name: 'Sent', type: 'integer', jsonPath: '.status.dispatched' },
      { name: 'Failed', type: 'integer', jsonPath: '.status.failed' },
      { name: 'Target', type: 'string', jsonPath: '.status.target', priority: 1 },
      { name: 'Pipelines', type: 'string', jsonPath: '.status.pipelines', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: condition('Dispatching', 'message'), priority: 1 },
      AGE,
    ],
  },
]

export function buildCustomResourceDefinition(description: KindDescription): KubernetesObject {
  const { kind, plural, shortNames, columns, selectableFields, scale } = description
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames, categories: [CATEGORY] }
  const version = {
    name: API_VERSION,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: rootSchema(description) },
    subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
    selectableFields: selectableFields.map(jsonPath => ({ jsonPath })),
    additionalPrinterColumns: columns,
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${API_GROUP}` },
    spec: { group: API_GROUP, scope: 'Namespaced', names, conversion: { strategy: 'None' }, versions: [version] },
  }
}

/**
 * The status before the operator has seen a resource, which may be a while where it is not running or many come at once: without a condition
 * it would count as ready (kstatus). The time is none: it stands for "never".
 */
export const UNSEEN_STATUS = {
  conditions: [
    { type: 'Ready', status: 'Unknown', reason: 'Pending', message: 'waits for the operator', lastTransitionTime: '1970-01-01T00:00:00Z' },
  ],
} as const

function rootSchema({ description, spec, status, rules }: KindDescription): object {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec),
      status: { ...structuralSchema(status), default: UNSEEN_STATUS },
    },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  }
}
