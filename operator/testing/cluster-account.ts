/** An operator's service account with the rights that the chart gives. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { ClusterObject } from '../../dataplane/testing/cluster/kubectl.ts'
import type { ClusterSuite } from './cluster-suite.ts'

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface ServiceAccount {
  /** With its token, and its namespace as the current one. */
  readonly kubeconfig: string
  readonly user: string
  /** In all namespaces, instead of what it was before. */
  grant(rules: readonly Rule[]): Promise<void>
  /** In one namespace. */
  grantIn(namespace: string, rules: readonly Rule[]): Promise<void>
  close(): Promise<void>
}

const CHART = new URL('../../charts/logpipeline/', import.meta.url)
const RBAC = 'rbac.authorization.k8s.io'

/** The operator's rules in each namespace that it looks after. */
export const chartRules = (): readonly Rule[] => parse(readFileSync(new URL('files/operator-rules.yaml', CHART), 'utf8'))

/** The rules without one verb on one resource. */
export function withoutVerb(rules: readonly Rule[], resource: string, verb: string): readonly Rule[] {
  return rules.flatMap(rule => {
    if (!rule.resources.includes(resource)) return [rule]
    const rest = { ...rule, resources: rule.resources.filter(name => name !== resource) }
    const cut = { ...rule, resources: [resource], verbs: rule.verbs.filter(name => name !== verb) }
    return [rest, cut].filter(({ resources, verbs }) => resources.length > 0 && verbs.length > 0)
  })
}

/** May lead, as the chart lets it, and nothing else yet. */
export async function createServiceAccount({ kubectl, namespace, objects }: ClusterSuite, name: string): Promise<ServiceAccount> {
  await objects.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const clusterName = `${namespace}-${name}`
  const bind = async (where: string | undefined, roleName: string, rules: readonly Rule[]) => {
    const [kind, metadata] = where === undefined ? ['ClusterRole', { name: roleName }] : ['Role', { name: roleName, namespace: where }]
    const roleRef = { apiGroup: RBAC, kind, name: roleName }
    const role = { apiVersion: `${RBAC}/v1`, kind, metadata, rules }
    const binding = { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects }
    await kubectl.apply(role, binding)
  }
  await bind(namespace, `${name}-leader`, leaderRules())
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-account-'))
  const kubeconfig = join(directory, 'kubeconfig')
  const token = (await kubectl.run(['create', 'token', name, '--namespace', namespace])).trim()
  const admin: ClusterObject = parse(readFileSync(kubectl.kubeconfig, 'utf8'))
  const contexts = [{ name: 'it', context: { cluster: admin.clusters[0].name, user: name, namespace } }]
  writeFileSync(kubeconfig, stringify({ ...admin, users: [{ name, user: { token } }], contexts, 'current-context': 'it' }), { mode: 0o600 })
  return {
    kubeconfig,
    user: `system:serviceaccount:${namespace}:${name}`,
    grant: rules => bind(undefined, clusterName, rules),
    grantIn: (where, rules) => bind(where, clusterName, rules),
    async close() {
      rmSync(directory, { recursive: true })
      for (const kind of ['ClusterRoleBinding', 'ClusterRole']) await objects.remove(kind, clusterName)
    },
  }
}

function leaderRules(): readonly Rule[] {
  const template = readFileSync(new URL('templates/leader-election-role.yaml', CHART), 'utf8')
  const text = template.slice(template.indexOf('rules:'), template.indexOf('\n---'))
  return parse(text.replace('{{ include "logpipeline.fullname" . | quote }}', 'logpipeline-operator')).rules
}
