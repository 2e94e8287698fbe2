/** The declared layer of the ticketing configuration: one file, and the secrets beside it. Roles read it again while they run. */
import type { V1ConfigMap, V1Secret } from '@kubernetes/client-node'
import type { DeclaredTicketing } from '../../dataplane/contract/declared-ticketing.ts'
import {
  DECLARED_TICKETING_DIR,
  DECLARED_TICKETING_FILE,
  LLM_SECRET_FILE,
  targetSecretFile,
} from '../../dataplane/contract/declared-ticketing-files.ts'
import { PLATFORMS } from '../../dataplane/contract/platforms.ts'
import type { TargetId } from '../../dataplane/contract/target-id.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Component } from '../api/components.ts'
import { givenSettings } from '../observed/references.ts'
import type { SelectedRoute } from '../observed/routes/routes.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import type { FileMount } from './projected-files.ts'
import { typed } from './typed-object.ts'

const configMapName = ({ name }: PipelineContext) => `${name}-ticketing`
const anomalyConfigMapName = ({ name }: PipelineContext) => `${name}-anomaly`
/** A name that users are unlikely to give a Secret of their own. */
const secretName = ({ name }: PipelineContext) => `${name}-declared`

/** Setting of a reference (`pipelineReferences`). */
const MODEL_KEY = 'apiKey'

type UsedRoute = SelectedRoute & { readonly target: TargetId }

/** Routes with a target and with all of their credentials. */
function usedRoutes({ routes }: PipelineContext): readonly UsedRoute[] {
  return routes.filter((route): route is UsedRoute => route.target !== undefined && route.credentials.values !== undefined)
}

/** The Secret goes first: a role that reads of a platform must find the secret fields of it. */
export function buildDeclaredTicketing(context: PipelineContext): readonly KubernetesObject[] {
  const config = configMap(context, configMapName(context), 'ticketing', declaredTicketing(context))
  const data = secretData(context)
  if (Object.keys(data).length === 0 && !lacksUnread(context)) return [config]
  const metadata = metadataOf(context, secretName(context), 'ticketing')
  return [typed<V1Secret>(metadata, { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data }), config]
}

/** Objects that would lack values of a Secret which could not be read. They stay as they are until the Secret is read. */
export function isHeldTicketing(context: PipelineContext, { kind, metadata: { name } }: KubernetesObject): boolean {
  const isDeclared = (kind === 'Secret' && name === secretName(context)) || (kind === 'ConfigMap' && name === configMapName(context))
  return isDeclared && lacksUnread(context)
}

function lacksUnread({ routes, references }: PipelineContext): boolean {
  const ofModel = references.filter(({ reference }) => reference.wanted.some(({ setting }) => setting === MODEL_KEY))
  return [...routes.map(({ credentials }) => credentials), ...ofModel].some(({ isUnread }) => isUnread === true)
}

/**
 * The same mount for every pipeline and every declaration: new routes and rotated credentials restart no pod.
 * So the secret fields are copied into one Secret, every key of which is a file: a pod would have to name each Secret of each route.
 */
export function ticketingFiles(context: PipelineContext): FileMount {
  const config = { kind: 'configMap', name: configMapName(context), key: DECLARED_TICKETING_FILE } as const
  return { ...mount({ [DECLARED_TICKETING_FILE]: config }), allKeysOf: { kind: 'secret', name: secretName(context) } }
}

/** The part that the bridge reads to make incidents: no platforms and no secrets. */
export function buildAnomalyConfigMap(context: PipelineContext): readonly KubernetesObject[] {
  const anomaly = context.spec.ticketing?.anomaly
  if (anomaly === undefined) return []
  return [configMap(context, anomalyConfigMapName(context), 'bridge', { anomaly, platforms: {}, routes: [] })]
}

export function anomalyFiles(context: PipelineContext): FileMount {
  return mount({ [DECLARED_TICKETING_FILE]: { kind: 'configMap', name: anomalyConfigMapName(context), key: DECLARED_TICKETING_FILE } })
}

const mount = (files: FileMount['files']): FileMount => ({
  volume: 'ticketing',
  directory: DECLARED_TICKETING_DIR,
  files,
  isOptional: true,
})

function configMap(context: PipelineContext, name: string, component: Component, declared: DeclaredTicketing): KubernetesObject {
  const data = { [DECLARED_TICKETING_FILE]: `${JSON.stringify(declared, undefined, 2)}\n` }
  return typed<V1ConfigMap>(metadataOf(context, name, component), { apiVersion: 'v1', kind: 'ConfigMap', data })
}

function secretData(context: PipelineContext): Record<string, string> {
  const apiKey = context.secrets[MODEL_KEY]
  const ofRoutes = usedRoutes(context).flatMap(({ target, credentials }) =>
    (credentials.values ?? []).map(value => [targetSecretFile(target, value.setting), value] as const),
  )
  const all = apiKey === undefined ? ofRoutes : [[LLM_SECRET_FILE, apiKey] as const, ...ofRoutes]
  return Object.fromEntries(all.map(([key, { base64 }]) => [key, base64]))
}

function declaredTicketing(context: PipelineContext): DeclaredTicketing {
  const { anomaly, llm } = context.spec.ticketing ?? {}
  const isUsable = llm?.credentials === undefined || context.secrets[MODEL_KEY] !== undefined
  const routes = usedRoutes(context)
  return {
    ...(anomaly === undefined ? {} : { anomaly }),
    ...(llm === undefined || !isUsable ? {} : { llm: withoutCredentials(llm) }),
    // The oldest of the routes that share a target owns it.
    platforms: Object.fromEntries(routes.toReversed().map(({ route, target }) => [target, platformOf(route)])),
    routes: routes.map(routeOf),
  }
}

function withoutCredentials({ credentials: _, ...llm }: NonNullable<NonNullable<PipelineContext['spec']['ticketing']>['llm']>) {
  return llm
}

type Route = SelectedRoute['route']

const ownerName = ({ metadata: { namespace = 'default', name } }: Route) => `${namespace}/${name}`

function platformOf(route: Route): DeclaredTicketing['platforms'][string] {
  const { secret, optionalSecret } = PLATFORMS[route.spec.platform]
  const secrets: readonly string[] = [...secret, ...optionalSecret]
  const settings = Object.entries(givenSettings(route.spec)).filter(([field]) => !secrets.includes(field))
  return { owner: ownerName(route), settings: Object.fromEntries(settings) }
}

function routeOf({ route, target }: UsedRoute): DeclaredTicketing['routes'][number] {
  const { severities, services, escalation } = route.spec
  return { owner: ownerName(route), platform: target, severities, ...(services === undefined ? {} : { services }), escalation }
}
