/** The declared layer of the ticketing configuration: one file, and the secrets beside it. */
import type { ConfigMap } from 'kubernetes-types/core/v1.js'
import type { DeclaredTicketing } from '../../dataplane/contract/declared-ticketing.ts'
import {
  DECLARED_TICKETING_DIR,
  DECLARED_TICKETING_FILE,
  LLM_SECRET_FILE,
  platformSecretFile,
} from '../../dataplane/contract/declared-ticketing-files.ts'
import { PLATFORMS } from '../../dataplane/contract/platforms.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { SecretValue } from '../observed/resolve-reference.ts'
import type { SelectedRoute } from '../observed/routes.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import type { FileMount } from './projected-files.ts'
import type { FileSource } from './role-settings.ts'
import { typed } from './typed-object.ts'

const configMapName = ({ name }: PipelineContext) => `${name}-ticketing`

/** Routes that are neither contradicted nor without their credentials. */
function usedRoutes({ routes }: PipelineContext): readonly SelectedRoute[] {
  return routes.filter(({ conflict, credentials }) => conflict === undefined && credentials.values !== undefined)
}

export function buildTicketingConfigMap(context: PipelineContext): KubernetesObject {
  return typed<ConfigMap>(metadataOf(context, configMapName(context), 'ticketing'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { [DECLARED_TICKETING_FILE]: configText(declaredTicketing(context)) },
  })
}

/** What the bridge, which makes the incidents, reads of it: apart, so that a route that comes or goes does not roll the bridge. */
export function anomalyConfig(context: PipelineContext): {
  readonly objects: readonly KubernetesObject[]
  readonly files: readonly FileMount[]
} {
  const anomaly = context.spec.ticketing?.anomaly
  if (anomaly === undefined) return { objects: [], files: [] }
  const name = `${context.name}-anomaly`
  const content = configText({ anomaly, platforms: {}, routes: [] })
  const config: FileSource = { kind: 'configMap', name, key: DECLARED_TICKETING_FILE, content }
  return {
    objects: [
      typed<ConfigMap>(metadataOf(context, name, 'bridge'), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data: { [DECLARED_TICKETING_FILE]: content },
      }),
    ],
    files: [{ volume: 'ticketing', directory: DECLARED_TICKETING_DIR, files: { [DECLARED_TICKETING_FILE]: config } }],
  }
}

export function ticketingFiles(context: PipelineContext): FileMount {
  const config: FileSource = {
    kind: 'configMap',
    name: configMapName(context),
    key: DECLARED_TICKETING_FILE,
    content: configText(declaredTicketing(context)),
  }
  const apiKey = context.secrets['apiKey']
  return {
    volume: 'ticketing',
    directory: DECLARED_TICKETING_DIR,
    files: {
      [DECLARED_TICKETING_FILE]: config,
      ...(apiKey === undefined ? {} : { [LLM_SECRET_FILE]: secretFile(apiKey) }),
      ...Object.fromEntries(usedRoutes(context).flatMap(platformSecrets)),
    },
  }
}

function platformSecrets({ route, credentials }: SelectedRoute): readonly (readonly [string, FileSource])[] {
  return (credentials.values ?? []).map(value => [platformSecretFile(route.spec.platform, value.setting), secretFile(value)])
}

const secretFile = ({ secret, key, base64 }: SecretValue): FileSource => ({ kind: 'secret', name: secret, key, content: base64 })

function configText(declared: DeclaredTicketing): string {
  return `${JSON.stringify(declared, undefined, 2)}\n`
}

export function declaredTicketing(context: PipelineContext): DeclaredTicketing {
  const { anomaly, llm } = context.spec.ticketing ?? {}
  const routes = usedRoutes(context)
  return {
    ...(anomaly === undefined ? {} : { anomaly }),
    ...(llm === undefined ? {} : { llm: withoutCredentials(llm) }),
    // The oldest route of a platform comes first, and it is the one that later ones have to agree with.
    platforms: Object.fromEntries(routes.toReversed().map(({ route }) => [route.spec.platform, platformOf(route)])),
    routes: routes.map(({ route }) => routeOf(route)),
  }
}

function withoutCredentials({ credentials: _, ...llm }: NonNullable<NonNullable<PipelineContext['spec']['ticketing']>['llm']>) {
  return llm
}

type Route = SelectedRoute['route']

const ownerName = ({ metadata: { namespace = 'default', name } }: Route) => `${namespace}/${name}`

function platformOf(route: Route): DeclaredTicketing['platforms'][string] {
  const { platform, settings = {} } = route.spec
  const secret: readonly string[] = PLATFORMS[platform].secret
  return { owner: ownerName(route), settings: Object.fromEntries(Object.entries(settings).filter(([field]) => !secret.includes(field))) }
}

function routeOf(route: Route): DeclaredTicketing['routes'][number] {
  const { platform, severities, services, escalation } = route.spec
  return { owner: ownerName(route), platform, severities, ...(services === undefined ? {} : { services }), escalation }
}
