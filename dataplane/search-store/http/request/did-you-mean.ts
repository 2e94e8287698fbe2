/** Names that are near to one that is not known. */
import { fuzzyPattern } from '../../analysis/edit-distance.ts'
import { illegalArgument } from '../../api-error.ts'

const NEAR = { edits: 2, prefixLength: 0, transpositions: true }

/** ` did you mean [docs]?`; empty where nothing is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = known.filter(each => fuzzyPattern(name, NEAR).test(each))
  return near.length === 0 ? '' : ` did you mean ${near.length > 1 ? 'any of ' : ''}[${near.join(', ')}]?`
}

/** The sections of an answer that the path names; all of them for `_all`. Throws 400 for one that there is not. */
export function readMetrics(given: string | undefined, known: readonly string[], path: string): ReadonlySet<string> {
  const names = given === undefined ? ['_all'] : given.split(',')
  const unknown = names.filter(name => name !== '_all' && !known.includes(name))
  if (unknown.length > 0) {
    const shown = unknown.map(name => {
      const near = didYouMean(name, known)
      return near === '' ? `[${name}]` : `[${name}] ->${near}`
    })
    throw illegalArgument(`request [${path}] contains unrecognized metric${unknown.length > 1 ? 's' : ''}: ${shown.join(', ')}`)
  }
  return new Set(names.includes('_all') ? known : names)
}
