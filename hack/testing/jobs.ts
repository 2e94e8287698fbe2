/** The jobs of `npm test` and `npm run test:long`: static checks, and test files grouped so that each group has a process of its own. */
import { globSync, readFileSync } from 'node:fs'

export interface StaticCheck {
  readonly kind: 'check'
  readonly name: string
  readonly command: readonly [string, ...(readonly string[])]
  readonly env?: Readonly<Record<string, string>>
}

export interface TestGroup {
  readonly kind: 'tests'
  readonly name: string
  readonly files: readonly string[]
  /** Time after which the process is killed. Default: 4 minutes. */
  readonly limitMs?: number
  /** The group measures: nothing else runs meanwhile. */
  readonly runsAlone?: true
  /** The group waits more than it computes: for whole products and browsers, or for bounds of time. */
  readonly waits?: true
  /** The group writes to the disk that users have, not to memory. */
  readonly isOnDisk?: true
}

export type Job = StaticCheck | TestGroup

const LONG_LIMIT_MS = 8 * 60_000

/** Suites that hold times against bounds. */
const MEASURING: readonly string[] = ['e2e/hostile.long.ts', 'e2e/incident-flood.long.ts', 'e2e/many-tenants.long.ts']

/** End-to-end files that take longest, the longest first: begun last, they would run on alone. */
const FIRST_FILES: readonly string[] = [
  ...['ticketing-api', 'tickets'].map(name => `e2e/${name}.test.ts`),
  ...['console', 'console-oncall', 'console-content', 'console-pages', 'kill-under-load', 'package'].map(name => `e2e/${name}.long.ts`),
]

/** Scripts run with this Node, not with the `node` of the machine. */
const script = (file: string, ...args: string[]) => [process.execPath, file, ...args] as const

/** One checker: each of several works out the types of the libraries anew. What it found is kept, so that the next run checks what has changed since. */
const typesOf = (project: string, name: string) =>
  script(
    'node_modules/typescript/bin/tsc',
    ...['-p', project, '--checkers', '1', '--incremental', '--tsBuildInfoFile', `node_modules/.cache/tsc/${name}.tsbuildinfo`],
  )
/** The garbage collector of tsc, a Go program, takes half of its time as it is usually set, and a seventh at 400: it waits until there are 2 GiB, which are seldom needed. */
const TYPES_ENV = { GOGC: 'off', GOMEMLIMIT: '2GiB' }

export const STATIC_CHECKS: readonly StaticCheck[] = [
  { kind: 'check', name: 'types (tsc)', command: typesOf('.', 'all'), env: TYPES_ENV },
  { kind: 'check', name: 'types of the console (tsc)', command: typesOf('dataplane/console', 'console'), env: TYPES_ENV },
  { kind: 'check', name: 'format and lint (biome)', command: script('hack/check-format.ts') },
  { kind: 'check', name: 'import table', command: script('hack/check-imports.ts') },
]

/** Folders of few files that take longest: begun last, they would run on alone. */
const LONG_FOLDERS: readonly string[] = [
  'dataplane/roles/ticketing',
  'dataplane/roles/*.test.ts',
  'dataplane/search-store/http',
  'dataplane/search-store/*.test.ts',
  'operator/*.test.ts',
  'dataplane/pipeline/root-cause',
  'dataplane/pipeline/steps',
  'dataplane/testing',
  'dataplane/search-store/calls',
]

/** Folders whose tests wait for what takes seconds by itself, such as the end of a query's time. */
const WAITING_FOLDERS: readonly string[] = ['dataplane/search-store/query-process']

/** Folders of so many files are divided into those below, so that no group takes much longer than the others. */
const LARGE_FOLDER = 50

/** Folders of fewer files share processes: to start one and load its modules takes longer than most of their tests. */
const SMALL_FOLDER = 10
const FILES_TOGETHER = 30

/** End-to-end files one by one, the long ones first; unit tests by folder, the long and the large ones first, the small ones together. */
export function findTestGroups(isWanted: (group: TestGroup) => boolean = () => true): readonly TestGroup[] {
  const unit = globSync(['dataplane/**/*.test.ts', 'operator/**/*.test.ts', 'hack/**/*.test.ts']).sort()
  const folders = byFolder(unit, 2).flatMap(group => (group.files.length < LARGE_FOLDER ? [group] : byFolder(group.files, 3)))
  const isWaiting = ({ name }: TestGroup) => WAITING_FOLDERS.includes(name)
  const isLong = ({ name }: TestGroup) => LONG_FOLDERS.includes(name)
  const computing = shareProcesses(
    folders.filter(group => !isWaiting(group) && isWanted(group)),
    group => group.files.length < SMALL_FOLDER && !isLong(group),
  )
  return [
    ...folders.filter(group => isWaiting(group) && isWanted(group)).map(group => ({ ...group, waits: true as const })),
    ...shareStandalone(endToEndSuites('e2e/**/*.test.ts').filter(isWanted)).map((suite): TestGroup => ({ ...suite, waits: true })),
    ...computing.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)) || b.files.length - a.files.length),
  ]
}

/** Suites that need no standalone of their own use one, one after the other, in one process. */
function shareStandalone(suites: readonly TestGroup[]): readonly TestGroup[] {
  const isSharing = ({ files }: TestGroup) => files.every(file => readFileSync(file, 'utf8').includes('/usual-standalone.ts'))
  const sharing = suites.filter(isSharing)
  return [...suites.filter(suite => !isSharing(suite)), ...(sharing.length > 0 ? [together(sharing)] : [])]
}

/** Neighbours share a process: they load the same modules. */
function shareProcesses(folders: readonly TestGroup[], isSmall: (group: TestGroup) => boolean): readonly TestGroup[] {
  const shared: TestGroup[][] = []
  let room = 0
  for (const group of folders.filter(isSmall).sort((a, b) => a.name.localeCompare(b.name))) {
    if (group.files.length > room) {
      shared.push([])
      room = FILES_TOGETHER
    }
    shared.at(-1)!.push(group)
    room -= group.files.length
  }
  return [...folders.filter(group => !isSmall(group)), ...shared.map(together)]
}

const together = (groups: readonly TestGroup[]): TestGroup => ({
  ...groups[0]!,
  name: groups.length === 1 ? groups[0]!.name : `${groups[0]!.name} to ${groups.at(-1)!.name}`,
  files: groups.flatMap(({ files }) => files),
})

/** Files that take long, or have the machine to themselves: too much for every change. A browser and a product fill a core: nothing waits beside them. */
export function findLongSuites(): readonly TestGroup[] {
  const suites = [...endToEndSuites('e2e/**/*.long.ts'), ...byFolder(globSync('dataplane/**/*.long.ts').sort(), 3)]
  return suites.map(suite => ({ ...suite, limitMs: LONG_LIMIT_MS }))
}

function endToEndSuites(pattern: string): readonly TestGroup[] {
  const placeOf = (file: string) => (FIRST_FILES.includes(file) ? FIRST_FILES.indexOf(file) : FIRST_FILES.length)
  const files = globSync(pattern)
    .sort()
    .sort((a, b) => placeOf(a) - placeOf(b))
  return files.map(
    (file): TestGroup => ({
      kind: 'tests',
      name: file,
      files: [file],
      isOnDisk: true,
      ...(MEASURING.includes(file) && { runsAlone: true }),
    }),
  )
}

/** Files that lie beside the folders are a group together: a process for each would cost more than most of its tests. */
function byFolder(files: readonly string[], depth: number): readonly TestGroup[] {
  const folders = Object.groupBy(files, file => {
    const parts = file.split('/')
    return parts.length > depth ? parts.slice(0, depth).join('/') : `${parts.slice(0, -1).join('/')}/*.test.ts`
  })
  return Object.entries(folders).map(([name, files = []]) => ({ kind: 'tests', name, files }))
}
