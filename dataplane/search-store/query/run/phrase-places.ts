import { firstAtLeast } from '../../first-at-least.ts'
import { spendWork } from '../budget/work-in-hand.ts'

/**
 * Where a phrase stands among tokens: for each place, the token of each word. `slop` is how far the words may be moved from where the phrase
 * has them, all together; a word that the phrase holds twice takes two tokens.
 */
export function* phrasePlaces(
  tokens: readonly string[],
  words: readonly string[],
  slop: number,
  lastIsPrefix: boolean,
): Generator<readonly number[], void, undefined> {
  const found = placesOfWords(tokens, words, lastIsPrefix)
  if (found.some(places => places.length === 0)) return
  const starts = new Set<number>()
  for (const [at, places] of found.entries()) for (const place of places) starts.add(place - at)
  for (const start of [...starts].sort((a, b) => a - b)) {
    const places = placesFrom(start)
    if (places !== undefined) yield places
  }

  /** The first token of each word that is moved by 0 to `slop` places from where it would be in a phrase at `start`. */
  function placesFrom(start: number): readonly number[] | undefined {
    const taken = new Set<number>()
    for (let at = 0; at < words.length; at++) {
      const own = found[at]!
      let next = firstAtLeast(own, start + at)
      while (taken.has(own[next] ?? -1)) next++
      spendWork(16)
      const place = own[next]
      if (place === undefined || place > start + at + slop) return undefined
      taken.add(place)
    }
    return [...taken]
  }
}

/** For each word the tokens that are it, ascending. */
function placesOfWords(tokens: readonly string[], words: readonly string[], lastIsPrefix: boolean): readonly (readonly number[])[] {
  spendWork(tokens.length)
  const byWord = new Map<string, number[]>(words.map(word => [word, []]))
  for (let place = 0; place < tokens.length; place++) byWord.get(tokens[place]!)?.push(place)
  const last = words.at(-1)!
  return words.map((word, at) =>
    lastIsPrefix && at === words.length - 1 ? [...tokens.keys()].filter(place => tokens[place]!.startsWith(last)) : byWord.get(word)!,
  )
}
