/** Objects of the Prometheus operator, where it is installed. */
import type { V1Service } from '@kubernetes/client-node'
import { BRIDGE_COUNTERS } from '../../dataplane/contract/counters.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { OptionalKindName } from '../api/used-kinds.ts'
import { servedApiVersion } from '../observed/gathered.ts'
import { metadataOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'

/** Names of the ports of Services behind which metrics are. */
const METRICS_PORTS: readonly string[] = ['http', 'health']

/** `components`: the objects of all components. */
export function buildMonitoring(context: PipelineContext, components: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const { serviceMonitor, rules } = context.spec.monitoring ?? {}
  return [
    ...(serviceMonitor ? build(context, 'ServiceMonitor.monitoring.coreos.com', serviceMonitorSpec(context)) : []),
    ...(rules ? build(context, 'PrometheusRule.monitoring.coreos.com', rulesSpec(context, scrapedServices(components))) : []),
  ]
}

function scrapedServices(objects: readonly KubernetesObject[]): readonly string[] {
  const services = objects.filter(({ kind }) => kind === 'Service') as readonly (KubernetesObject & Pick<V1Service, 'spec'>)[]
  const hasMetrics = ({ spec }: (typeof services)[number]) => spec?.ports?.some(({ name = '' }) => METRICS_PORTS.includes(name))
  return services.filter(hasMetrics).map(({ metadata }) => metadata.name)
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
    endpoints: METRICS_PORTS.map(port => ({ port, path: '/metrics', interval: '30s' })),
  }
}

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly severity: 'critical' | 'warning'
  readonly summary: string
}

/** By the names of its Services, which all begin with its own: another pipeline of the namespace may be called `<name>-eu`. */
function rulesSpec({ name, namespace }: PipelineContext, services: readonly string[]): object {
  const own = `namespace="${namespace}",service=~"${name}-(${services.map(service => service.slice(name.length + 1)).join('|')})"`
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
