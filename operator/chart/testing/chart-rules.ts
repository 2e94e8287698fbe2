/** The rights that the operator needs, from what it watches, writes and grants. */
import type { V1PolicyRule } from '@kubernetes/client-node'
import { KINDS } from '../../api/crd.ts'
import { API_GROUP } from '../../api/names.ts'
import { USED_KINDS } from '../../api/used-kinds.ts'
import { AGENT_RULES } from '../../desired/service-account.ts'

interface Right {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
}

const WATCH = ['list', 'watch']
/** Server-side apply is a patch, and a creation where nothing is there yet. */
const KEEP = [...WATCH, 'create', 'patch']
const VERBS = { read: WATCH, kept: KEEP, written: [...KEEP, 'delete'] } as const

/** In the namespaces of the pipelines. The least that does: one verb fewer and something fails. */
export function operatorRules(): readonly V1PolicyRule[] {
  return mergeRights([...ownRights(), ...usedRights(), ...grantedRights()])
}

function ownRights(): readonly Right[] {
  const own = KINDS.flatMap(({ plural }) => [
    { group: API_GROUP, resource: plural, verbs: WATCH },
    { group: API_GROUP, resource: `${plural}/status`, verbs: ['patch'] },
  ])
  // Owner references that block a deletion: some clusters (OpenShift) ask for the right to the owner's finalizers.
  const owner = { group: API_GROUP, resource: 'logpipelines/finalizers', verbs: ['update'] }
  return [...own, owner, { group: 'events.k8s.io', resource: 'events', verbs: ['create'] }]
}

function usedRights(): readonly Right[] {
  return USED_KINDS.map(kind => {
    const { group, plural, use } = kind
    const verbs: readonly string[] = VERBS[use]
    return { group, resource: plural, verbs: 'isAskedFor' in kind ? [...verbs, 'get'] : verbs }
  })
}

/** Nobody may grant what they may not do. */
function grantedRights(): readonly Right[] {
  return AGENT_RULES.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap(group => resources.map(resource => ({ group, resource, verbs }))),
  )
}

/** One rule for the resources of a group that have the same verbs. */
function mergeRights(rights: readonly Right[]): readonly V1PolicyRule[] {
  const byResource = Object.groupBy(rights, ({ group, resource }) => `${group}/${resource}`)
  const merged = Object.values(byResource).map((same = []) => ({ ...same[0]!, verbs: sorted(same.flatMap(({ verbs }) => verbs)) }))
  const byVerbs = Object.groupBy(merged, ({ group, verbs }) => `${group} ${verbs.join()}`)
  return Object.values(byVerbs).map((same = []) => {
    const { group, verbs } = same[0]!
    return { apiGroups: [group], resources: sorted(same.map(({ resource }) => resource)), verbs }
  })
}

const sorted = (texts: readonly string[]) => [...new Set(texts)].sort()
