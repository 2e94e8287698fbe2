/** Which files import which, and the rules that hold for them: the table of `check-imports.ts`, no test code in the product, no cycle, nothing of `hack` outside of it. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** Folder or file of the product → files, folders and packages that its files may import besides itself; `*` is any Node built-in that is not named. */
export type ImportTable = Readonly<Record<string, readonly string[]>>

export interface Import {
  /** A path from the root of the project, `node:…`, or the name of a package. */
  readonly target: string
  readonly kind: 'file' | 'builtin' | 'package'
  /** Starts a thread or process with the file instead of loading it: no part of a cycle. */
  readonly isEntry: boolean
}

/** File → what it imports, for types too. */
export type ImportGraph = ReadonlyMap<string, readonly Import[]>

const TEST_CODE = /\.(test|long|real|cluster)\.tsx?$|(^|\/)testing\//

/** All other files of `dataplane` and `operator` are the product: they are built (`tsconfig.build.json`) and lie in the table. */
export const isTestCode = (file: string) => TEST_CODE.test(file)

/** Paths from `root`, sorted. */
export function findSources(root: string, folders: readonly string[]): readonly string[] {
  return globSync(
    folders.map(folder => `${folder}/**/*.{ts,tsx}`),
    { cwd: root },
  ).sort()
}

/** The line on which a static import or re-export ends, dynamic imports, entries of threads. Bounded per line: no backtracking across the file. */
const IMPORT =
  /^(?:(?:import|export|\})[^'"\n]*\sfrom|import)\s+['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]\s*\)|\bnew URL\('(\.{1,2}\/[^'\n]+\.ts)', import\.meta\.url\)/gm

export function importsOf(file: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].map(match => {
    const specifier = (match[1] ?? match[2] ?? match[3])!
    const isEntry = match[3] !== undefined
    if (specifier.startsWith('.')) return { target: relative('/', resolve('/', dirname(file), specifier)), kind: 'file', isEntry }
    if (specifier.startsWith('node:')) return { target: specifier, kind: 'builtin', isEntry }
    const parts = specifier.startsWith('@') ? 2 : 1
    return { target: specifier.split('/', parts).join('/'), kind: 'package', isEntry }
  })
}

export function readGraph(root: string, files: readonly string[]): ImportGraph {
  return new Map(files.map(file => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]))
}

/** Imports that the table does not allow, entries without a file, and allowed targets that no file of the entry imports. */
export function checkTable(table: ImportTable, graph: ImportGraph): readonly string[] {
  const entries = Object.keys(table).sort((a, b) => b.length - a.length)
  const lies = (file: string, place: string) => file === place || file.startsWith(`${place}/`)
  const entryOf = (file: string) => entries.find(entry => lies(file, entry))
  const unused = new Map(entries.map(entry => [entry, new Set(table[entry])]))
  const filled = new Set<string>()
  const problems: string[] = []
  /** The folder of an entry says nothing about an entry within it. */
  const covers = (allowed: string, target: string) => lies(target, allowed) && entryOf(allowed) === entryOf(target)
  for (const [file, imports] of graph) {
    const entry = entryOf(file)
    if (entry === undefined) {
      problems.push(`${file}: lies in no folder of the import table; add an entry for its folder`)
      continue
    }
    filled.add(entry)
    for (const { target, kind } of imports) {
      if (kind === 'file' && entryOf(target) === entry) continue
      const matching = table[entry]!.filter(allowed => (kind === 'file' ? covers(allowed, target) : allowed === target))
      if (matching.length === 0 && kind === 'builtin' && table[entry]!.includes('*')) matching.push('*')
      if (matching.length === 0) problems.push(`${file}: may not import ${target}; the entry ${entry} of the import table does not list it`)
      for (const allowed of matching) unused.get(entry)!.delete(allowed)
    }
  }
  for (const entry of Object.keys(table)) {
    if (!filled.has(entry)) problems.push(`${entry}: an entry of the import table that no file lies in; remove the entry`)
    else
      for (const target of unused.get(entry)!)
        problems.push(`${entry}: the import table allows ${target}, which no file there imports; remove it from the entry`)
  }
  return problems
}

/** Files that are product by their name must not need code that is not built. */
export function findTestCodeInProduct(graph: ImportGraph): readonly string[] {
  return [...graph].flatMap(([file, imports]) =>
    imports
      .filter(({ target, kind }) => !isTestCode(file) && kind === 'file' && isTestCode(target))
      .map(
        ({ target }) =>
          `${file}: is built, and may not import ${target}, which is not; move the code out of the test file or the folder testing`,
      ),
  )
}

/** `hack` starts and measures; nothing imports it. */
export function findImportsOfHack(graph: ImportGraph): readonly string[] {
  return [...graph].flatMap(([file, imports]) =>
    imports
      .filter(({ target }) => target.startsWith('hack/'))
      .map(({ target }) => `${file}: may not import ${target}, of hack; move the code into the testing folder of what it tests`),
  )
}

/** For each file the shortest way back to itself, unless a file before it has told that cycle. */
export function findCycles(graph: ImportGraph): readonly string[] {
  const next = (file: string) => (graph.get(file) ?? []).filter(each => each.kind === 'file' && !each.isEntry).map(each => each.target)
  const told = new Set<string>()
  return [...graph.keys()].flatMap(start => {
    if (told.has(start)) return []
    const cameFrom = new Map<string, string>()
    const queue = [start]
    for (const file of queue)
      for (const target of next(file)) {
        if (target === start) {
          const cycle = [file]
          while (cycle[0] !== start) cycle.unshift(cameFrom.get(cycle[0]!)!)
          for (const each of cycle) told.add(each)
          return [`cycle of imports: ${[...cycle, start].join(' → ')}`]
        }
        if (cameFrom.has(target)) continue
        cameFrom.set(target, file)
        queue.push(target)
      }
    return []
  })
}
