/** The projects of the stub Jira: an ordinary one, one with a strict workflow, one that wants more than logpipeline knows of. */

export type StatusCategory = 'new' | 'indeterminate' | 'done'

export interface Status {
  readonly id: string
  readonly name: string
  readonly category: StatusCategory
}

export interface Transition {
  readonly id: string
  readonly name: string
  /** Names of statuses; any when absent. */
  readonly from?: readonly string[]
  readonly to: Status
}

export interface Project {
  readonly key: string
  readonly name: string
  /** The first is that of a new issue. */
  readonly statuses: readonly Status[]
  readonly transitions: readonly Transition[]
  /** Fields that a new issue must have besides the usual ones. */
  readonly requiredFields: readonly { readonly id: string; readonly name: string }[]
}

const TO_DO: Status = { id: '10000', name: 'To Do', category: 'new' }
const IN_PROGRESS: Status = { id: '3', name: 'In Progress', category: 'indeterminate' }
const DONE: Status = { id: '10001', name: 'Done', category: 'done' }
const statuses = [TO_DO, IN_PROGRESS, DONE]

const ANY_TO_ANY: readonly Transition[] = [
  { id: '11', name: 'To Do', to: TO_DO },
  { id: '21', name: 'In Progress', to: IN_PROGRESS },
  { id: '31', name: 'Done', to: DONE },
]

export const PROJECTS: readonly Project[] = [
  { key: 'OPS', name: 'Operations', statuses, transitions: ANY_TO_ANY, requiredFields: [] },
  {
    key: 'STRICT',
    name: 'Strict workflow: nothing is done that was not in progress, and nothing comes back',
    statuses,
    transitions: [
      { id: '101', name: 'Start', from: ['To Do'], to: IN_PROGRESS },
      { id: '102', name: 'Finish', from: ['In Progress'], to: DONE },
    ],
    requiredFields: [],
  },
  {
    key: 'FORM',
    name: 'Wants a field of its own',
    statuses,
    transitions: ANY_TO_ANY,
    requiredFields: [{ id: 'customfield_10050', name: 'Cost centre' }],
  },
]

export const projectCalled = (key: string): Project | undefined => PROJECTS.find(each => each.key === key)

export const ISSUE_TYPES = [
  { id: '10001', name: 'Task', subtask: false },
  { id: '10002', name: 'Bug', subtask: false },
  { id: '10003', name: 'Incident', subtask: false },
] as const

export const PRIORITIES = ['Highest', 'High', 'Medium', 'Low', 'Lowest'] as const
