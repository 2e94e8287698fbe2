/** Finds problems of several settings together, and of the files that they name: two clash, one lacks another, a file holds something else. */
import { statSync } from 'node:fs'
import type { Setting } from '../contract/setting.ts'
import { CHECK_PEM, checkKeyPair } from './pem.ts'
import { quotedStart } from './quoted-start.ts'
import { readValueFile, UnusableFile } from './value-file.ts'

type Named = readonly [name: string, setting: Setting]

/** One line for each problem. A value that is null was given and is wrong by itself: it is there for others, and has no problems here. */
export function findCrossProblems(table: readonly Named[], values: Readonly<Record<string, unknown>>): readonly string[] {
  const given = table.filter(([name]) => (values[name] ?? null) !== null)
  const texts = new Map<string, string>()
  const problems = given.flatMap(entry => [
    ...missingCompanion(entry, values),
    ...wrongFile(entry, values, texts),
    ...wrongDirectory(entry, values),
  ])
  return [...problems, ...strangePairs(given, texts), ...clashes(given, values)]
}

function missingCompanion([name, { needs }]: Named, values: Readonly<Record<string, unknown>>): readonly string[] {
  return needs === undefined || values[needs] !== undefined ? [] : [`${name}: expected together with ${needs}, seen alone`]
}

/** Notes the texts of files that are as they should be. */
function wrongFile([name, { pem }]: Named, values: Readonly<Record<string, unknown>>, texts: Map<string, string>): readonly string[] {
  if (pem === undefined) return []
  const path = String(values[name])
  const problem = (expected: string, seen: string) => [`${name}: expected ${expected}, seen ${quotedStart(path)} (${seen})`]
  try {
    const text = readValueFile(path)
    CHECK_PEM[pem](text)
    texts.set(name, text)
    return []
  } catch (error) {
    return error instanceof UnusableFile
      ? problem(error.expected, error.seen)
      : problem(`a file with a ${pem} in PEM`, (error as Error).message)
  }
}

/** One that is not there, or may not be looked at, is for its reader to judge. */
function wrongDirectory([name, { directory }]: Named, values: Readonly<Record<string, unknown>>): readonly string[] {
  if (directory === undefined) return []
  const path = String(values[name])
  const problem = (seen: string) => [`${name}: expected a directory, seen ${quotedStart(path)} (${seen})`]
  try {
    return statSync(path).isDirectory() ? [] : problem('a file')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? problem('a path through a file') : []
  }
}

function strangePairs(table: readonly Named[], texts: ReadonlyMap<string, string>): readonly string[] {
  return table.flatMap(([name, { pem, needs = '' }]) => {
    const [cert, key] = [texts.get(name), texts.get(needs)]
    if (pem !== 'certificate' || cert === undefined || key === undefined) return []
    try {
      checkKeyPair({ cert, key })
      return []
    } catch (error) {
      return [`${name}: expected the certificate of the key in ${needs}, seen another (${(error as Error).message})`]
    }
  })
}

function clashes(table: readonly Named[], values: Readonly<Record<string, unknown>>): readonly string[] {
  const firstWith = new Map<string, string>()
  return table.flatMap(([name, { distinct }]) => {
    if (distinct === undefined || values[name] === 0) return []
    const key = `${distinct} ${values[name]}`
    const first = firstWith.get(key)
    if (first !== undefined) return [`${name}: expected another ${distinct} than ${first}, seen ${values[name]} for both`]
    firstWith.set(key, name)
    return []
  })
}
