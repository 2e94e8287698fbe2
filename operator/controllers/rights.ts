/** The RBAC rules that the operator needs, from the kinds that it uses: what the chart grants, and nothing beyond. */
import { API_GROUP } from '../api/names.ts'
import { USED_KINDS } from '../api/used-kinds.ts'
import { AGENT_RULES } from '../desired/service-account.ts'
import { LOG_PIPELINES, TICKETING_ROUTES } from './kinds.ts'

export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

const WATCH = ['list', 'watch']
/** Server-side apply of what is not there yet needs `create`, too. */
const WRITE = [...WATCH, 'create', 'patch', 'delete']

/** In every namespace that it looks after. */
export const OPERATOR_RULES: readonly PolicyRule[] = [
  rule(API_GROUP, [LOG_PIPELINES.plural, TICKETING_ROUTES.plural], WATCH),
  rule(API_GROUP, [`${LOG_PIPELINES.plural}/status`, `${TICKETING_ROUTES.plural}/status`], ['patch']),
  // For `blockOwnerDeletion`, where OwnerReferencesPermissionEnforcement is on.
  rule(API_GROUP, [`${LOG_PIPELINES.plural}/finalizers`], ['update']),
  ...USED_KINDS.map(({ group, plural, use }) => rule(group, [plural], use === 'written' ? WRITE : WATCH)),
  rule('events.k8s.io', ['events'], ['create']),
  // Nobody can grant a right that he lacks, and the agent of each pipeline gets these.
  ...AGENT_RULES.map(({ apiGroups = [], resources = [], verbs }) => ({ apiGroups, resources, verbs })),
]

/** In the namespace of the operator itself. */
export const LEADER_ELECTION_RULES: readonly PolicyRule[] = [rule('coordination.k8s.io', ['leases'], ['get', 'create', 'update'])]

function rule(group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources, verbs }
}
