/** Finds the cluster that the agent runs in. */
import { ConfigError } from '../../config/environment.ts'
import type { SettingsOf } from '../../contract/env.ts'
import { findClusterAccess, podEnvironment, settingProblem } from '../../kube/find-access.ts'
import { KubeconfigError } from '../../kube/kubeconfig.ts'
import type { RoleContext } from '../role.ts'
import { type ClusterWatch, createClusterWatch } from './cluster-watch.ts'

/** By `KUBECONFIG`, else by the service account of the pod; undefined where there is neither. Throws `ConfigError` for a kubeconfig that cannot be used. */
export function openCluster({ settings, log, clock }: RoleContext<'agent'>): ClusterWatch | undefined {
  const access = findAccess(settings)
  if (access === undefined) {
    log.info({}, 'no cluster: neither KUBECONFIG nor a service account; secrets and Flink jobs are not shown')
    return undefined
  }
  const namespace = settings.SERVICE_NAMESPACE ?? access.namespace
  log.info({ server: access.server, namespace, tenant: settings.SERVICE_TENANT_ID }, 'watching the cluster')
  return createClusterWatch({ access, namespace, tenant: settings.SERVICE_TENANT_ID }, { clock, log, random: Math.random })
}

function findAccess({ KUBECONFIG }: Pick<SettingsOf<'agent'>, 'KUBECONFIG'>) {
  try {
    return findClusterAccess({ ...podEnvironment(), KUBECONFIG })
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error
    throw new ConfigError([settingProblem(error)])
  }
}
