/** Finds names in the environment that were meant to be settings of a role. */
import { SETTINGS, settingsOfRole } from '../contract/env.ts'
import type { RoleName } from '../contract/roles.ts'
import type { Environment } from './environment.ts'

/** One line for each name that is no setting, but nearly that of one which is not set: a letter more, less or other, two changed places. */
export function findMisspelt(role: RoleName, environment: Environment): readonly string[] {
  const unset = settingsOfRole(role)
    .flatMap(([name]) => [name, `${name}_FILE`])
    .filter(name => !environment[name])
  return strangers(environment).flatMap(seen => {
    const meant = unset.find(name => isNearly(seen.toUpperCase(), name))
    return meant === undefined ? [] : [`${seen}: expected the name of a setting, perhaps ${meant}; seen a name that has no effect`]
  })
}

/** Settings that are set and have no effect on the role. */
export function settingsOfOtherRoles(role: RoleName, environment: Environment): readonly string[] {
  const own = new Set<string>(settingsOfRole(role).map(([name]) => name))
  return Object.keys(SETTINGS).filter(name => !own.has(name) && (environment[name] || environment[`${name}_FILE`]))
}

function strangers(environment: Environment): readonly string[] {
  return Object.keys(environment).filter(
    name => environment[name] && !Object.hasOwn(SETTINGS, name.replace(/_FILE$/, '')) && name.length < 64,
  )
}

/** Short names have too many neighbours among those of other programs, such as `HOST`. */
const LETTERS_PER_SLIP = 8

function isNearly(seen: string, name: string): boolean {
  const slips = Math.floor(name.length / LETTERS_PER_SLIP)
  return Math.abs(seen.length - name.length) <= slips && distance(seen, name) <= slips
}

/** Letters that are missing, too many or others, and neighbours that changed places (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, rows[i - 2]![j - 2]! + 1)
      row.push(least)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
