/** Callers that may reach the pods of a component. */
import type { V1NetworkPolicy, V1NetworkPolicyIngressRule, V1NetworkPolicyPeer } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { type Component, componentName } from '../api/components.ts'
import { metadataOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'
import { type Json, typed } from './typed-object.ts'

/** Names of a pod's ports: those open to all, and those for the pipeline's own pods and the namespaces it allows. */
export interface PortAccess {
  readonly open: readonly string[]
  readonly control: readonly string[]
  /** Ports of `control` that further namespaces may reach, each given by its labels. */
  readonly guests?: { readonly ports: readonly string[]; readonly namespaces: readonly Readonly<Record<string, string>>[] }
}

/** Limits who may reach a component. Its own connections are not limited: brokers, search store and platforms may be anywhere. */
export function buildNetworkPolicy(
  context: PipelineContext,
  component: Component,
  { open, control, guests = { ports: [], namespaces: [] } }: PortAccess,
): readonly KubernetesObject[] {
  if (context.spec.networkPolicy?.enabled === false) return []
  const policy = typed<V1NetworkPolicy>(metadataOf(context, componentName(context, component), component), {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    spec: {
      podSelector: { matchLabels: { ...selectorLabels(context, component) } },
      policyTypes: ['Ingress'],
      ingress: [
        ...rule(open),
        ...rule(control, [...allowedPeers(context), ...(OPERATOR_ASKS.has(component) ? operator(context) : [])]),
        // Without any it would let all in.
        ...(guests.namespaces.length === 0 ? [] : rule(guests.ports, guests.namespaces.map(inNamespace))),
      ],
    },
  })
  return [policy]
}

/** The operator asks the pods of these components which connections they lack, and ticketing what it has sent. */
const OPERATOR_ASKS: ReadonlySet<Component> = new Set(['bridge', 'standalone', 'collector', 'stream-etl', 'stream-score', 'ticketing'])

function operator({ settings: { namespace } }: PipelineContext): V1NetworkPolicyPeer[] {
  if (namespace === undefined) return []
  return [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      podSelector: { matchLabels: { 'app.kubernetes.io/component': 'operator' } },
    },
  ]
}

function rule(ports: readonly string[], from?: V1NetworkPolicyPeer[]): Json<V1NetworkPolicyIngressRule>[] {
  if (ports.length === 0) return []
  return [{ ...(from === undefined ? {} : { from }), ports: ports.map(port => ({ protocol: 'TCP', port })) }]
}

function allowedPeers(context: PipelineContext): V1NetworkPolicyPeer[] {
  const namespaces = context.spec.networkPolicy?.allowFrom ?? []
  return [{ podSelector: { matchLabels: { ...selectorLabels(context) } } }, ...namespaces.map(inNamespace)]
}

const inNamespace = (labels: Readonly<Record<string, string>>): V1NetworkPolicyPeer => ({ namespaceSelector: { matchLabels: labels } })
