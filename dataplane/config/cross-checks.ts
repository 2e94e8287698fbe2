/** Finds problems of several settings together: two clash, one lacks another, a file is missing. */
import { accessSync, constants } from 'node:fs'
import type { Setting } from '../contract/setting.ts'
import { quotedStart } from './quoted-start.ts'

type Named = readonly [name: string, setting: Setting]

/** One line for each problem, from settings whose values are sound by themselves. */
export function findCrossProblems(table: readonly Named[], values: Readonly<Record<string, unknown>>): readonly string[] {
  const given = table.filter(([name]) => values[name] !== undefined)
  return [...given.flatMap(entry => [...missingCompanion(entry, values), ...unreadableFile(entry, values)]), ...clashes(given, values)]
}

function missingCompanion([name, { needs }]: Named, values: Readonly<Record<string, unknown>>): readonly string[] {
  return needs === undefined || values[needs] !== undefined ? [] : [`${name}: expected together with ${needs}, seen alone`]
}

function unreadableFile([name, { isFile }]: Named, values: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isFile) return []
  const path = String(values[name])
  try {
    accessSync(path, constants.R_OK)
    return []
  } catch (error) {
    return [`${name}: expected a readable file, seen ${quotedStart(path)} (${(error as NodeJS.ErrnoException).code})`]
  }
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
