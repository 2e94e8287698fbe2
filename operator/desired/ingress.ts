/** Ingresses of the gateway and of the dashboard, with what the usual controllers need to pass requests on. */
import type { V1HTTPIngressPath, V1Ingress } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName, type Door, isOffered } from '../api/components.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import { typed } from './typed-object.ts'

/** Sizes are limited behind it; bodies flow through. */
const NGINX_BODIES = {
  'nginx.ingress.kubernetes.io/proxy-body-size': '0',
  'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
}
const nginx = (protocol: 'HTTPS' | 'GRPCS') => ({ 'nginx.ingress.kubernetes.io/backend-protocol': protocol, ...NGINX_BODIES })

/** Annotations of the gateway's Service. Some controllers look there how to speak to a back end; HTTP/2 over TLS serves gRPC and all else. */
export const TLS_BACK_END_ANNOTATIONS = {
  'traefik.ingress.kubernetes.io/service.serversscheme': 'https',
  'projectcontour.io/upstream-protocol.h2': '8443',
}

/** Not `Prefix`: ingress-nginx refuses dots in such a path. */
const GRPC_PATH = { path: '/opentelemetry.proto.collector.logs.v1.LogsService/', pathType: 'ImplementationSpecific' }
const EVERY_PATH = { path: '/', pathType: 'Prefix' }

/** Two, since ingress-nginx knows one protocol for all paths of an Ingress. */
export function buildGatewayIngresses(context: PipelineContext): readonly KubernetesObject[] {
  const name = componentName(context, 'gateway')
  const { tls } = context.spec.gateway ?? {}
  return [
    ...buildIngress(context, { door: 'gateway', name, port: 'https', at: EVERY_PATH, annotations: nginx('HTTPS'), tls }),
    ...buildIngress(context, { door: 'gateway', name: `${name}-grpc`, port: 'https', at: GRPC_PATH, annotations: nginx('GRPCS'), tls }),
  ]
}

export function buildDashboardIngress(context: PipelineContext): readonly KubernetesObject[] {
  const name = componentName(context, 'dashboard')
  return buildIngress(context, { door: 'dashboard', name, port: 'http', at: EVERY_PATH, annotations: NGINX_BODIES })
}

interface IngressDescription {
  readonly door: Door
  readonly name: string
  /** Name of the Service's port. */
  readonly port: string
  readonly at: Omit<V1HTTPIngressPath, 'backend'>
  readonly annotations: Readonly<Record<string, string>>
  /** When the Ingress names none. */
  readonly tls?: { readonly secretName: string } | undefined
}

function buildIngress(
  context: PipelineContext,
  { door, name, port, at, annotations, ...given }: IngressDescription,
): readonly KubernetesObject[] {
  const ingress = context.spec[door]?.ingress
  if (ingress === undefined || !isOffered(context.spec, door)) return []
  const { host, className, tls = given.tls } = ingress
  const metadata = { ...metadataOf(context, name, door), annotations: { ...annotations, ...ingress.annotations } }
  const service = { name: componentName(context, door), port: { name: port } }
  return [
    typed<V1Ingress>(metadata, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      spec: {
        ...(className === undefined ? {} : { ingressClassName: className }),
        ...(tls === undefined ? {} : { tls: [{ hosts: [host], secretName: tls.secretName }] }),
        rules: [{ host, http: { paths: [{ ...at, backend: { service } }] } }],
      },
    }),
  ]
}
