/** Tests on the names of new fields, as the dynamic templates of an index have them. */
import { createContext, Script } from 'node:vm'
import { wildcardPattern } from '../analysis/term-pattern.ts'

type NameTest = (name: string) => boolean

/** With `*` for any run of characters. */
export function simplePattern(pattern: string): NameTest {
  return wildcardPattern(pattern.replace(/[\\?]/g, '\\$&')).test
}

/** Longest that a regular expression may take for one name, ms. */
const REGEX_MS = 50

const context = createContext({ regex: /x/, name: '' })
const script = new Script('regex.test(name)')

/** A regular expression may take a time exponential in the name: one that takes too long fits nothing from then on. */
export function regexPattern(pattern: string): NameTest {
  const regex = new RegExp(`^(?:${pattern})$`, 'u')
  let isUsable = true
  return name => {
    if (!isUsable) return false
    Object.assign(context, { regex, name })
    try {
      return script.runInContext(context, { timeout: REGEX_MS }) as boolean
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      isUsable = false
      return false
    }
  }
}
