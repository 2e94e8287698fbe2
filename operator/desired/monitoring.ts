/** Objects of the Prometheus operator, where it is installed. */
import { BRIDGE_COUNTERS } from '../../dataplane/contract/counters.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { OptionalKindName } from '../api/used-kinds.ts'
import { servedApiVersion } from '../observed/gathered.ts'
import { metadataOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'

export function buildMonitoring(context: PipelineContext): readonly KubernetesObject[] {
  const { serviceMonitor, rules } = context.spec.monitoring ?? {}
  return [
    ...(serviceMonitor ? build(context, 'ServiceMonitor.monitoring.coreos.com', serviceMonitorSpec(context)) : []),
    ...(rules ? build(context, 'PrometheusRule.monitoring.coreos.com', rulesSpec(context)) : []),
  ]
}

function build(context: PipelineContext, kind: OptionalKindName, spec: object): readonly KubernetesObject[] {
  const apiVersion = servedApiVersion(context.gathered, kind)
  if (apiVersion === undefined) return []
  const metadata = metadataOf(context, context.name)
  const labels = { ...context.spec.monitoring?.labels, ...metadata.labels }
  return [{ apiVersion, kind: kind.slice(0, kind.indexOf('.')), metadata: { ...metadata, labels }, spec }]
}

function serviceMonitorSpec(context: PipelineContext): object {
  return {
    selector: { matchLabels: selectorLabels(context) },
    jobLabel: 'app.kubernetes.io/component',
    targetLabels: ['app.kubernetes.io/instance', 'app.kubernetes.io/component'],
    endpoints: ['http', 'health'].map(port => ({ port, path: '/metrics', interval: '30s' })),
  }
}

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly severity: 'critical' | 'warning'
  readonly summary: string
}

function rulesSpec({ name, namespace }: PipelineContext): object {
  const own = `namespace="${namespace}",service=~"${name}-.+"`
  const alerts: readonly Alert[] = [
    {
      alert: 'LogPipelineTargetDown',
      expr: `up{${own}} == 0`,
      for: '5m',
      severity: 'critical',
      summary: `A component of log pipeline ${name} does not answer.`,
    },
    {
      alert: 'LogPipelineIndexErrors',
      expr: `sum(rate(${BRIDGE_COUNTERS.indexErrors.name}{${own}}[5m])) > 0`,
      for: '10m',
      severity: 'warning',
      summary: `The bridge of log pipeline ${name} cannot index documents.`,
    },
    {
      alert: 'LogPipelineNothingIndexed',
      expr: `sum(rate(${BRIDGE_COUNTERS.etlRecordsReceived.name}{${own}}[10m])) > 0 and sum(rate(${BRIDGE_COUNTERS.indexed.name}{${own}}[10m])) == 0`,
      for: '10m',
      severity: 'critical',
      summary: `Log pipeline ${name} receives records and indexes none.`,
    },
  ]
  const rules = alerts.map(({ severity, summary, ...rule }) => ({ ...rule, labels: { severity }, annotations: { summary } }))
  return { groups: [{ name: `logpipeline-${name}`, rules }] }
}
