/** The routes that say who the user is and what projects there are; nothing changes their answers. */
import { DEMO } from '../settings.ts'
import type { StubAnswer, StubRequest, StubRoute } from '../stub-platform.ts'
import { errors } from './jira-errors.ts'
import { USUAL_FIELDS } from './jira-fields.ts'
import { ISSUE_TYPES, PRIORITIES, type Project, projectCalled } from './jira-projects.ts'

export const METADATA_ROUTES: readonly StubRoute[] = [
  {
    method: 'GET',
    path: '/rest/api/3/myself',
    handle: () => ({ body: { accountId: 'demo', emailAddress: DEMO.jira.userEmail, displayName: 'Demo User', active: true } }),
  },
  {
    method: 'GET',
    path: '/rest/api/3/mypermissions',
    handle({ query }) {
      const project = query.get('projectKey')
      if (project !== null && projectCalled(project) === undefined) return errors(404, `No project could be found with key '${project}'.`)
      const names = query.get('permissions')?.split(',') ?? []
      if (names.length === 0) return errors(400, 'The permissions query parameter is required.')
      return { body: { permissions: Object.fromEntries(names.map(key => [key, { key, havePermission: true }])) } }
    },
  },
  { method: 'GET', path: '/rest/api/3/priority', handle: () => ({ body: PRIORITIES.map((name, at) => ({ id: String(at + 1), name })) }) },
  {
    method: 'GET',
    path: '/rest/api/3/project/:project',
    handle: onProject(project => ({ body: { key: project.key, name: project.name, issueTypes: ISSUE_TYPES } })),
  },
  {
    method: 'GET',
    path: '/rest/api/3/issue/createmeta/:project/issuetypes',
    handle: onProject(() => ({ body: { startAt: 0, maxResults: 50, total: ISSUE_TYPES.length, issueTypes: ISSUE_TYPES } })),
  },
  { method: 'GET', path: '/rest/api/3/issue/createmeta/:project/issuetypes/:type', handle: onProject(createMeta) },
]

/** Answers for the project that the path names; 404 without one. */
function onProject(handle: (project: Project) => StubAnswer) {
  return ({ params }: StubRequest): StubAnswer => {
    const project = projectCalled(params['project']!)
    return project === undefined ? errors(404, `No project could be found with key '${params['project']}'.`) : handle(project)
  }
}

/** The fields of a new issue, and which it must have. */
function createMeta({ requiredFields }: Project): StubAnswer {
  const usual = USUAL_FIELDS.map(id => ({
    fieldId: id,
    key: id,
    name: id,
    required: ['project', 'issuetype', 'summary'].includes(id),
    hasDefaultValue: false,
  }))
  const more = requiredFields.map(({ id, name }) => ({ fieldId: id, key: id, name, required: true, hasDefaultValue: false }))
  const fields = [...usual, ...more]
  return { body: { startAt: 0, maxResults: 50, total: fields.length, fields } }
}
