/** The back ends behind the gateway by their prefix, and the requests that tenants may not make there (Spec: Access patterns; Decisions 7). */
import { HttpError } from '../../http/http-error.ts'

export const BACK_ENDS = ['bridge', 'ticketing', 'agent', 'airflow', 'features'] as const
export type BackEnd = (typeof BACK_ENDS)[number]

export const BACK_END_NAMES: Readonly<Record<BackEnd, string>> = {
  bridge: 'the bridge',
  ticketing: 'the ticketing agent',
  agent: 'the infrastructure agent',
  airflow: 'the workflow scheduler',
  features: 'the feature store',
}

interface Ask {
  readonly method: string
  /** As back ends find their routes: in lower case, without the prefix. */
  readonly path: string
}

const READING = ['GET', 'HEAD']

/** Requests that speak for all tenants: Prometheus metrics of a process, configuration of the whole. */
const FOR_ADMINS: Readonly<Record<BackEnd, (ask: Ask) => boolean>> = {
  bridge: ({ method, path }) => path === 'metrics' || !READING.includes(method),
  ticketing: ({ path }) => path === 'metrics',
  // Its `/metrics` in JSON is for every tenant.
  agent: () => false,
  // To pause `feature_compute` would stop it for every tenant.
  airflow: ({ method, path }) => path === 'metrics' || ['PATCH', 'PUT', 'DELETE'].includes(method),
  features: ({ path }) => path === 'metrics',
}

/** Throws `HttpError` 403 for what is for tenants of `ADMIN_TENANTS` alone. */
export function assertAllowed(backEnd: BackEnd, method: string, segments: readonly string[]): void {
  if (FOR_ADMINS[backEnd]({ method, path: segments.join('/').toLowerCase() }))
    throw new HttpError(
      403,
      `${method} /${segments.join('/')} of ${BACK_END_NAMES[backEnd]} speaks for all tenants: only for those in ADMIN_TENANTS`,
    )
}

export function isBackEnd(name: string | undefined): name is BackEnd {
  return (BACK_ENDS as readonly (string | undefined)[]).includes(name)
}
