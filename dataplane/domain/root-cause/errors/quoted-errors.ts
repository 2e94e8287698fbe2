/** Errors that hold the text of another service's error: `no charge; caused by: disk full` repeats `disk full` (Decisions 6). */

/** One error of a service. */
export interface SaidError {
  readonly service: number
  readonly text: string
}

/** Shorter texts are part of any other. */
const MIN_CHARACTERS = 12
const MIN_WORDS = 2
/** More errors than this are not held against each other. */
const MAX_ERRORS = 200

/** For each error the service whose error it repeats: of several the shortest, which is nearest to where it began; undefined for most. */
export function findQuoted(errors: readonly SaidError[]): readonly (number | undefined)[] {
  const essentials = errors.slice(0, MAX_ERRORS).map(({ text }) => essence(text))
  return errors.map(({ service }, at) => {
    const own = essentials[at]
    if (own === undefined) return undefined
    let shortest: number | undefined
    for (const [other, text] of essentials.entries()) {
      const isPart = errors[other]!.service !== service && text.length < own.length && isTelling(text) && own.includes(text)
      if (isPart && (shortest === undefined || text.length < essentials[shortest]!.length)) shortest = other
    }
    return shortest === undefined ? undefined : errors[shortest]!.service
  })
}

const isTelling = (text: string) => text.length >= MIN_CHARACTERS && text.split(' ').length >= MIN_WORDS

/** PostgreSQL writes into its log, and not into its answer, where in the statement the error is. */
const PLACE = /(?<= )at character (?:\d{1,10}|<\*>)/gi

/** The words in small letters, without the level before them. */
function essence(text: string): string {
  return text
    .replaceAll(PLACE, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
    .join(' ')
    .replace(/^(?:error|fatal|panic|severe|critical|warn) /, '')
}
